import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { makeKey } from '../../core/packages/accounts/access/api-key.ts'
import { makeSecret } from '../../core/packages/accounts/access/secret.ts'
import { stylesheet } from '../../plugins/console/browser/stylesheet.ts'
import { admissionLimits } from '../../plugins/hooks/admission-control.ts'
import { openConsole } from '../plugins/support/console.ts'
import { createGate } from '../support/gate.ts'
import { has } from '../support/matching.ts'
import { admin, type Answer, startService } from '../support/service.ts'
import { hasNoFault, isError } from './support.ts'

const login = { username: admin.email, password: admin.password }

await t.test('a stranger sends a few KiB to a public route, an event of a vendor has its own limit', async (t) => {
  const service = await startService(t)
  const { send } = service
  for (const size of [17_000, 5_000_000]) {
    const answer = await send('POST', '/auth', { body: { ...login, padding: 'x'.repeat(size) } }, null)
    isError(t, answer, 'payload_too_large', `${size} bytes`)
    t.equal(answer.body.message, 'The body is larger than the limit of 16 KiB.')
  }
  const longest = JSON.stringify({ username: '\u{1F600}'.repeat(127), password: '\u{1F600}'.repeat(512) }).replace(/[\ud800-\udfff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
  t.equal((await send('POST', '/auth', { body: longest }, null)).status, 403, 'the longest login is read, however it is escaped')
  has(t, await send('POST', '/api/invoicing', { body: 'x'.repeat(6_000_000) }), { status: 413, body: { message: /of 5 MiB/ } })
  t.equal((await send('POST', '/api/webhooks/esign/providers/universign/endpoint.json', { body: 'x'.repeat(900_000) }, null)).status, 200)
  t.same(service.log.filter((line) => line.includes('webhook not read')), [])
  hasNoFault(t, service)
})

await t.test('strangers take turns, a few in all; neither companies nor probes wait for them', async (t) => {
  const gate = createGate()
  let begun = 0
  const service = await startService(t, {
    config: { trustedProxies: ['127.0.0.1'] },
    replacements: {
      admissionLimits: {
        ...admissionLimits,
        holdTime: 3_600_000,
        concurrentAnonymous: 3,
        concurrentAnonymousPerAddress: 2,
        queueLength: 2,
        tarpit: { ...admissionLimits.tarpit, burst: 1000 }
      },
      documentLinks: { sign: () => '', verify: () => undefined },
      authentication: {
        authenticate: () => Promise.resolve({ userId: 2, companyId: 2, email: admin.email, role: 'admin', services: ['*'] }),
        checkPassword: () => Promise.reject(new Error('not asked')),
        login: async () => {
          begun++
          await gate.pass()
          return { token: 'x', userId: 2, companyId: 2 }
        },
        refresh: () => Promise.reject(new Error('not asked')),
        impersonate: () => Promise.reject(new Error('not asked'))
      }
    }
  })
  const from = (address: string): Promise<Answer> =>
    service.send('POST', '/auth', { body: login, headers: { 'x-forwarded-for': address } }, null)
  const first = [from('192.0.2.1'), from('192.0.2.1'), from('192.0.2.1'), from('192.0.2.1')]
  while (begun < 2) await pause(5)
  const second = [from('192.0.2.2'), from('192.0.2.2')]
  while (begun < 3) await pause(5)
  await pause(50)
  t.equal(begun, 3, 'of one address two, of all three')
  const refused = await from('192.0.2.1')
  has(t, { status: refused.status, body: refused.body }, { status: 429, body: { error: 'rate_limited', message: /of this address/ } })
  t.equal((await service.send('GET', '/healthz')).status, 200, 'a company')
  for (const path of ['/livez', '/readyz']) t.equal((await service.send('GET', path, {}, null)).status, 204, path)
  t.equal((await service.send('POST', '/api/webhooks/esign/providers/universign/endpoint.json', { body: '{}' }, null)).status, 200,
    'a vendor')
  gate.open()
  t.same((await Promise.all([...first, ...second])).map(({ status }) => status), Array(6).fill(200))
})

await t.test('whoever is signed in does not wait among strangers, nor do the files of a page', async (t) => {
  const gate = createGate()
  let begun = 0
  const { app, ...service } = await startService(t, {
    replacements: {
      admissionLimits: { ...admissionLimits, holdTime: 3_600_000, concurrentAnonymous: 1, concurrentAnonymousPerAddress: 1 },
      authentication: {
        authenticate: () => Promise.reject(new Error('not asked')),
        checkPassword: async (email) => {
          const [account] = await app.get('accounts').byEmail(email)
          if (account === undefined) throw new Error('There is no such account.')
          return account
        },
        login: async () => {
          begun++
          await gate.pass()
          return { token: 'x', userId: 2, companyId: 2 }
        },
        refresh: () => Promise.reject(new Error('not asked')),
        impersonate: () => Promise.reject(new Error('not asked'))
      }
    }
  })
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn()
  const stranger = service.send('POST', '/auth', { body: login }, null)
  while (begun < 1) await pause(5)
  const signInPage = open('/sign-in', '')
  t.equal((await open('/developers', cookie)).status, 200)
  t.equal((await post('/act/end', {}, cookie)).status, 303)
  t.equal((await fetch(service.url + stylesheet.path)).status, 200)
  t.equal(await Promise.race([signInPage.then(() => 'shown'), stranger.then(() => 'answered'), pause(50, 'both wait')]), 'both wait')
  gate.open()
  t.same([(await stranger).status, (await signInPage).status], [200, 200])
})

await t.test('made-up sessions, keys and e-mail addresses take turns before the database; whoever is known does not wait', async (t) => {
  const { app, url, send } = await startService(t, {
    config: { trustedProxies: ['127.0.0.1'], limits: { auth: 5, dispatch: 0, validation: 0, requests: 0 } }
  })
  const { open, signIn } = openConsole({ url })
  const cookie = await signIn()
  const made = await send('POST', '/api/v1/keys', { body: { name: 'Web shop', mode: 'live', scopes: ['read_all'] } })
  const { key } = made.body as { key: string }
  const read = async (headers: Record<string, string>, path = '/api/v1/dispatches'): Promise<number> => {
    const { status } = await fetch(url + path, { redirect: 'manual', headers })
    return status
  }
  t.equal(await read({ authorization: `Bearer ${key}` }), 200)

  const gate = createGate()
  let begun = 0
  const held = ['192.0.2.1', '192.0.2.2'].map((address) =>
    app.get('unknownSecrets').inTurn(address, async () => {
      begun++
      await gate.pass()
    })
  )
  while (begun < 2) await pause(5)
  const from = { 'x-forwarded-for': '192.0.2.9' }
  const madeUp = [
    read({ ...from, cookie: `__Host-console=${makeSecret()}` }, '/console'),
    read({ ...from, authorization: `Bearer ${makeKey('live').secret}` }),
    read({ ...from, authorization: `Basic ${Buffer.from('nobody@example.com:wrong').toString('base64')}` })
  ]
  t.equal((await open('/developers', cookie)).status, 200, 'a session')
  t.equal(await read({ authorization: `Bearer ${key}` }), 200, 'a key')
  t.equal((await send('GET', '/api/v1/credits')).status, 200, 'a password that was right from here')
  t.equal(await Promise.race([...madeUp, pause(100, 'all wait')]), 'all wait')
  const stranger = send('POST', '/auth', { body: { username: 'nobody@example.com', password: 'x' }, headers: from }, null)
  t.equal(await Promise.race([stranger, pause(100, 'waits')]), 'waits')
  const counted = async (): Promise<number | null> =>
    (await app.get('database').pool.query(`select from limits where key = 'auth:192.0.2.9'`)).rowCount
  t.equal(await counted(), 0, 'a login is not even counted before its turn')
  gate.open()
  t.same(await Promise.all(madeUp), [303, 401, 401])
  t.equal((await stranger).status, 403)
  t.equal(await counted(), 1)
  await Promise.all(held)
})

await t.test('requests that are sent together and answered at once hold up nobody else', async (t) => {
  const { url, send } = await startService(t)
  const port = Number(new URL(url).port)
  const many = 6000
  const socket = connect(port, '127.0.0.1')
  let answered = 0
  let rest = ''
  socket.on('data', (bytes: Buffer) => {
    const text = rest + bytes.toString('latin1')
    answered += text.split('HTTP/1.1 204').length - 1
    rest = text.slice(-11)
  })
  await once(socket, 'connect')
  await send('GET', '/livez', {}, null)
  let beside = 0
  const flood = { over: false }
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(many))
  const other = (async () => {
    while (!flood.over) {
      await send('GET', '/livez', {}, null)
      beside++
    }
  })()
  while (answered < many) await pause(5)
  flood.over = true
  await other
  socket.destroy()
  // A piece of 64 KiB holds 1,900 of them: were each piece answered as it comes, others would come in between a few times.
  t.ok(beside > 50, `${beside} others were answered meanwhile`)
})

await t.test('who was let in before is answered before nearly all strangers of 200 addresses that came at the same time', async (t) => {
  const service = await startService(t)
  const company = { authorization: `Bearer ${String((await service.send('POST', '/auth', { body: login }, null)).body.data.token)}` }
  const ask = async (headers: OutgoingHttpHeaders, localAddress?: string): Promise<number | undefined> => {
    const sent = request(`${service.url}/api/v1/credits`, { agent: false, headers, ...localAddress && { localAddress } }).end()
    const [answer] = await once(sent, 'response') as [IncomingMessage]
    await once(answer.resume(), 'close')
    return answer.statusCode
  }
  t.equal(await ask(company), 200)
  let answered = 0
  const strangers = Array.from({ length: 200 }, async (_, index) => {
    const status = await ask({ authorization: 'Bearer made.up.token' }, `127.0.1.${String(index + 1)}`)
    answered++
    return status
  })
  t.equal(await ask(company), 200)
  // Beside each eight connections that are accepted, four requests begin at most.
  t.ok(answered < 150, String(answered))
  t.same(new Set(await Promise.all(strangers)), new Set([401]))
})
