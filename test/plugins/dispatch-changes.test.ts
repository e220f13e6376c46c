import { createChanges } from '@dispatch/core'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { until } from '../core/work/support.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, invoiceRequest, type Login, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send, url, app } = service
const acme = await service.company('acme', { credits: 100 })
const other = await service.company('other')

type Event = { event: string, data: any }

/** Opens a stream, and collects its events. `over` resolves when the service has ended it. */
async function follow (t: Test, path: string, { email, password }: Login = acme.admin, at = url) {
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const response = await fetch(`${at}/api/v1/dispatches/${path}`, { headers: { authorization }, signal: gone.signal })
  const events: Event[] = []
  const read = async (): Promise<boolean> => {
    let waiting = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (waiting + chunk).split('\n\n')
      waiting = parts.pop() ?? ''
      for (const part of parts) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/m.exec(part.trim()) ?? []
        if (event !== undefined) events.push({ event, data: JSON.parse(data ?? '') })
      }
    }
    return true
  }
  const over = response.ok ? read().catch(() => false) : Promise.resolve(false)
  return { response, events, over, close: () => gone.abort() }
}

const dispatched = async (reference = 'plain'): Promise<string> =>
  (await send('POST', '/api/invoicing', { body: invoiceRequest({}, { invoicing: { reference } }) }, acme.admin)).body.dispatchId as string
const resolve = (id: string) =>
  send('POST', `/api/v1/dispatches/${id}/resolve`, { body: { outcome: 'accepted', reason: 'Seen.' } }, acme.admin)

await t.test('a stream tells of a dispatch as it is, of each change, and ends with it', async (t) => {
  const id = await dispatched('uncertain')
  const { response, events, over } = await follow(t, `${id}/changes`)
  has(t, Object.fromEntries(response.headers), {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no'
  })
  await until('the first event', () => events.length === 1)
  t.same(events, [{ event: 'dispatch', data: (await send('GET', `/api/v1/dispatches/${id}`, {}, acme.admin)).body }])
  await pause(1500)
  t.equal(events.length, 1, 'what does not change is not told again')
  await resolve(id)
  t.equal(await over, true)
  t.same(events.map(({ event, data }) => [event, data.status]), [['dispatch', 'uncertain'], ['dispatch', 'succeeded'], ['end', undefined]])
})

await t.test('a dispatch that has ended is told once; a stream lasts for as long as was asked', async (t) => {
  const ended = await follow(t, `${await dispatched()}/changes`)
  const timed = await follow(t, `${await dispatched('uncertain')}/changes?seconds=1`)
  const begun = Date.now()
  await Promise.all([ended.over, timed.over])
  t.same([ended, timed].map(({ events }) => events.map(({ event }) => event)), [['dispatch', 'end'], ['dispatch', 'end']])
  t.ok(Date.now() - begun < 60_000)
  t.equal((await follow(t, 'changes?seconds=121')).response.status, 400)
})

await t.test('the stream of a company tells of its newest dispatches alone, and a test key of tests', async (t) => {
  const theirs = await follow(t, 'changes', other.admin)
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'test', mode: 'test' } }, acme.admin)
  const tests = await follow(t, 'changes', { email: key, password: '' })
  const own = await follow(t, 'changes')
  await until('one event', () => own.events.length === 1)
  const id = await dispatched()
  await until('another event', () => own.events.length > 1)
  t.same(own.events.at(-1), { event: 'dispatches', data: { data: [{ dispatchId: id, status: 'succeeded' }] } })
  t.same([theirs, tests].map(({ events }) => events), [[], []])
  t.equal((await follow(t, `${id}/changes`, other.admin)).response.status, 404)
})

await t.test('a user has six streams at most; they hold no connection of the database', async (t) => {
  const id = await dispatched('uncertain')
  const all = await Promise.all(Array.from({ length: 6 }, () => follow(t, `${id}/changes`, acme.member)))
  await until('six first events', () => all.every(({ events }) => events.length === 1))
  const { companies, owner } = app.get('database').connectionCounts()
  t.same([companies.open - companies.idle, companies.waiting, owner.waiting], [0, 0, 0])
  const refused = await follow(t, `${id}/changes`, acme.member)
  t.equal(refused.response.status, 429)
  contains(t, await refused.response.text(), 'A user may have 6 streams open')
  t.equal((await send('GET', `/api/v1/dispatches/${id}`, {}, acme.member)).status, 200, 'other requests go on')
  all[0]?.close()
  await until('a free place', async () => {
    const { response, close } = await follow(t, `${id}/changes`, acme.member)
    close()
    return response.status === 200
  })
})

await t.test('a database that does not answer is asked again', async (t) => {
  const id = await dispatched('uncertain')
  const [database, lines] = [app.get('database'), [] as string[]]
  let failures = 2
  const flaky = {
    ...database,
    get owner () {
      if (failures-- > 0) throw new Error('away')
      return database.owner
    }
  }
  const changes = createChanges({
    database: flaky,
    dispatchRows: [],
    log: createLogger('warn', { write: (line) => lines.push(line) }),
    pause: 1
  })
  let reported = 0
  const leave = changes.ofDispatch(id, () => reported++)
  await until('the first look that works', () => reported === 1)
  leave()
  t.equal(lines.filter((line) => line.includes('changes cannot be read')).length, 2)
})

let stopped: Promise<boolean> | undefined
await t.test('a service that stops', async (inner) => {
  const stopping = await startService(inner, { replacements: { renderer: quickRenderer } })
  const { events, over } = await follow(t, 'changes', admin, stopping.url)
  stopped = over
  await stopping.send('POST', '/api/invoicing', { body: invoiceRequest() })
  await until('an event', () => events.length > 0)
})
t.equal(await stopped, true, 'ends its streams')

await t.test('a stream ends with the session through which it is read, and with its user', async (t) => {
  const { post, signIn } = openConsole(service)
  const users = (await send('GET', '/api/v1/users', {}, acme.operator)).body.data as { id: number, email: string }[]
  const memberId = String(users.find(({ email }) => email === acme.member.email)?.id)
  const [leaving, acting] = [await signIn(acme.admin), await signIn(acme.admin)]
  await post(`/act/${memberId}`, {}, acting)
  const [mine, theirs] = await Promise.all([leaving, acting].map((cookie) => followAs(t, cookie)))
  const disabled = await follow(t, 'changes', acme.member)
  await post('/sign-out', {}, leaving)
  contains(t, await mine?.all, 'event: end', 'signed out')
  await post('/act/end', { ':as': memberId }, acting)
  contains(t, await theirs?.all, 'event: end', 'no longer acting')
  await send('PUT', `/api/v1/users/${memberId}`, { body: { disabled: true } }, acme.admin)
  t.equal(await disabled.over, true, 'the user is disabled')
})

/** All that a stream of the console has told, once it has ended. */
async function followAs (t: Test, cookie: string): Promise<{ all: Promise<string> }> {
  const gone = new AbortController()
  t.teardown(() => gone.abort())
  const response = await fetch(`${url}/console/dispatches/changes`, { headers: { cookie }, signal: gone.signal })
  t.equal(response.status, 200)
  return { all: response.text() }
}
