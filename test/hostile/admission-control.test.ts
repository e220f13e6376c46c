import { createRecentOthers } from '@dispatch/common'
import type { Renderer } from '@dispatch/documents'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Replacements } from '../../plugins/container.ts'
import { type AdmissionLimits, admissionLimits } from '../../plugins/hooks/admission-control.ts'
import { createGate } from '../support/gate.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'

const hour = 3_600_000

/** A service where nobody gives up a turn before the answer, unless told; documents are begun, and made once the gate is open. */
async function open (t: Test, changes: Partial<AdmissionLimits>, more: Replacements = {}) {
  const gate = createGate()
  let begun = 0
  const renderer: Renderer = {
    ...quickRenderer,
    render (job) {
      begun++
      return gate.pass().then(() => quickRenderer.render(job))
    }
  }
  const service = await startService(t, {
    replacements: { renderer, admissionLimits: { ...admissionLimits, holdTime: hour, ...changes }, ...more }
  })
  const dispatch = (login?: Login): Promise<Answer> => service.send('POST', '/api/invoicing', { body: invoiceRequest() }, login)
  const read = (login?: Login): Promise<Answer> => service.send('GET', '/api/v1/credits', {}, login)
  return { ...service, gate, dispatch, read, begun: () => begun }
}

const statuses = async (answers: readonly Promise<Answer>[]): Promise<number[]> => (await Promise.all(answers)).map(({ status }) => status)

/** Waits until something is so. */
async function until (isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(5)
}

function basic ({ email, password }: Login): string {
  return `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
}

await t.test('requests of a company wait for each other, a bounded number of them, and nobody else waits for them', async (t) => {
  const { gate, dispatch, read, company, begun } = await open(t, { concurrentRequests: 2, queueLength: 2 })
  const { admin: other } = await company('other')
  const first = [dispatch(), dispatch()]
  await until(() => begun() === 2)
  // Two may wait, whichever come first.
  const three = [read(), read(), read()]
  const { status, headers, body } = await Promise.race(three)
  has(t, { status, body, after: headers.get('retry-after') }, {
    status: 429,
    body: { error: 'rate_limited', message: /of the company/ },
    after: '1'
  })
  t.equal((await read(other)).status, 200, 'another company')
  gate.open()
  t.same(await statuses(first), [200, 200])
  t.same((await statuses(three)).sort(), [200, 200, 429])
  t.equal((await read()).status, 200, 'later there is room again')
})

await t.test('while another company works, fewer requests of one run at once', async (t) => {
  const { gate, dispatch, read, company, begun } = await open(t, {
    concurrentRequests: 3,
    concurrentRequestsBesideOthers: 1
  }, { othersLately: createRecentOthers(hour) })
  const first = [dispatch(), dispatch()]
  await until(() => begun() === 2)
  const { admin: other } = await company('other')
  t.equal((await read(other)).status, 200)
  const late = [dispatch(), read()]
  await read(other)
  t.equal(await Promise.race([...late, pause(100, 'waits')]), 'waits')
  gate.open()
  t.same(await statuses([...first, ...late]), [200, 200, 200, 200])
})

await t.test('what is long under way waits for something else, and gives up its turn', async (t) => {
  const { gate, dispatch, begun } = await open(t, { concurrentRequests: 1, holdTime: 20 })
  const both = [dispatch(), dispatch()]
  await until(() => begun() === 2)
  gate.open()
  t.same(await statuses(both), [200, 200])
})

await t.test('who has gone when it is their turn is not worked for', async (t) => {
  const { url, gate, dispatch, begun } = await open(t, { concurrentRequests: 1 })
  const first = dispatch()
  await until(() => begun() === 1)
  const impatient = new AbortController()
  const gone = fetch(`${url}/api/invoicing`, {
    method: 'POST',
    signal: impatient.signal,
    headers: { authorization: basic(admin), 'content-type': 'application/json' },
    body: JSON.stringify(invoiceRequest())
  })
  const last = dispatch()
  await pause(50)
  impatient.abort()
  await t.rejects(gone)
  // Its end arrives before what is sent after it.
  await fetch(`${url}/livez`)
  gate.open()
  t.same(await statuses([first, last]), [200, 200])
  t.equal(begun(), 2)
})

await t.test('large bodies of a company are read one after the other, beside small ones and those of others', async (t) => {
  const { url, send, company } = await open(t, {
    concurrentRequests: 10,
    largeBodyBytes: 10_000,
    concurrentLargeBodies: 1,
    largeBodyDrainRate: 1e9
  })
  const { admin: other } = await company('other')
  const body = JSON.stringify({ padding: 'x'.repeat(20_000) })
  const validate = (text: string, login?: Login): Promise<Answer> => send('POST', '/api/sms/validate', { body: text }, login)

  for (const framing of [`Content-Length: ${String(body.length)}`, 'Transfer-Encoding: chunked']) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(
      `POST /api/sms/validate HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(admin)}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`
    )
    await pause(50)
    await validate('{}')
    const next = validate(body)
    t.equal((await validate('{}')).status, 400, 'a small one')
    t.equal((await validate(body, other)).status, 400, 'of another company')
    t.equal(await Promise.race([next.then(() => 'read'), pause(50, 'waits')]), 'waits')
    socket.end(framing.startsWith('Content') ? body : '0\r\n\r\n')
    await once(socket.resume(), 'close')
    t.equal((await next).status, 400)
  }
})

await t.test('a large body keeps its place for as long as its bytes are worth, an upload has none, and at the end of ' +
  'the service nobody waits', async (t) => {
  const waiting: Promise<Answer>[] = []
  await t.test('while it serves', async (t) => {
    const { send, url } = await open(t, {
      concurrentRequests: 10,
      largeBodyBytes: 1000,
      concurrentLargeBodies: 1,
      largeBodyDrainRate: 1e-3
    })
    const large = { body: { padding: 'x'.repeat(2000) } }
    t.equal((await send('POST', '/api/sms/validate', large)).status, 400)
    waiting.push(send('POST', '/api/sms/validate', large))
    t.equal(await Promise.race([...waiting, pause(100, 'waits')]), 'waits')
    const form = new FormData()
    form.set('file', new Blob(['x'.repeat(2000)]), 'a.txt')
    t.equal((await fetch(`${url}/api/upload`, { method: 'POST', body: form, headers: { authorization: basic(admin) } })).status, 200)
  })
  t.same(await statuses(waiting), [400])
})

await t.test('who is refused again and again is cut off, and nobody else at the same address', async (t) => {
  const { send, read, company } = await open(t, { tarpit: { burst: 2, every: hour, longest: 0 } })
  const { member, admin: colleague } = await company('refused')
  const unknown = (): Promise<Answer> => send('GET', '/healthz', {}, null)
  t.same(await statuses([unknown(), unknown()]), [401, 401])
  await t.rejects(unknown(), 'the address')
  const forbidden = (): Promise<Answer> => send('GET', '/api/v1/audit', {}, member)
  t.same(await statuses([forbidden(), forbidden()]), [403, 403])
  await t.rejects(forbidden(), 'the user')
  t.same(await statuses([read(member), read(colleague), read()]), [200, 200, 200])
})

await t.test('a refusal that waits is answered when the service stops', async (t) => {
  const waiting: Promise<Response>[] = []
  await t.test('while it serves', async (t) => {
    const { url, send } = await open(t, { tarpit: { burst: 1, every: hour / 2, longest: hour } })
    t.equal((await send('GET', '/healthz', {}, null)).status, 401)
    waiting.push(fetch(`${url}/healthz`))
    t.equal(await Promise.race([...waiting, pause(100, 'waits')]), 'waits')
  })
  t.equal((await waiting[0])?.status, 401)
})

await t.test('a body that goes on after its refusal is cut off', async (t) => {
  const { url } = await open(t, {})
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  // It ends or is reset: what it sends may arrive after the cut.
  const cut = new Promise((resolve) => socket.once('close', resolve))
  socket.write('POST /api/sms HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n')
  const [answer] = await once(socket, 'data') as [Buffer]
  contains(t, answer.toString('latin1'), /^HTTP\/1\.1 401 /)
  socket.on('error', () => undefined).resume()
  const trickle = setInterval(() => socket.write(' '), 20)
  t.teardown(() => {
    clearInterval(trickle)
  })
  await cut
})
