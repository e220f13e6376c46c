import { createCredentials, createUnknownSecrets, passwordMatches } from '@dispatch/accounts'
import t from 'tap'
import { makeKey } from '../../core/packages/accounts/access/api-key.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { admin, type Answer, invoiceRequest, startService } from '../support/service.ts'
import { routesOf } from './support.ts'

const service = await startService(t)
const { app, send } = service
const routes = await routesOf(app)

await t.test('no route answers another origin, or says what it is made of', async (t) => {
  t.ok(routes.length > 25)
  for (const { method, url, public: isPublic } of routes) {
    // A stream lasts for as long as it may.
    const path = url.replace(/:\w+|\*/, '1').replace(/^\/api\/v1\/dispatches\/changes$/, '$&?seconds=1')
    for (const [origin, login] of [['https://elsewhere.example', admin], ['null', null]] as const) {
      const headers = { origin, 'access-control-request-method': method }
      for (const answer of [await send(method, path, { headers }, login), await send('OPTIONS', path, { headers }, login)]) {
        const names = [...answer.headers.keys()]
        t.same(names.filter((name) => /^access-control-|^server$|^x-powered-by$/.test(name)), [], `${method} ${url}`)
        t.equal(answer.headers.get('x-content-type-options'), 'nosniff', `${method} ${url}`)
        t.ok(isPublic || answer.headers.get('cache-control') === 'no-store', `${method} ${url} is kept by nobody`)
      }
    }
  }
})

await t.test('a document is a download that runs nothing and is kept by nobody else', async (t) => {
  const { body } = await send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'a"; b\r\n/../c.html' }) })
  const { id, url } = body.generatedDocument
  const link = new URL(url)
  t.equal(link.origin, 'https://dispatch.example.com')
  for (const answer of [await send('GET', `/api/v1/documents/${String(id)}`), await send('GET', link.pathname, {}, null)]) {
    t.equal(answer.status, 200)
    has(t, headersOf(answer), {
      'content-type': 'application/pdf',
      'content-disposition': 'attachment; filename="Invoice-a-b-..-c.html.pdf"; filename*=UTF-8\'\'Invoice-a-b-..-c.html.pdf',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'content-security-policy': 'default-src \'none\'; sandbox'
    })
  }
})

await t.test('the pages load nothing from elsewhere and may not be framed', async (t) => {
  for (const path of ['/docs/try', '/docs/try/static/index.html']) {
    const policy = (await send('GET', path, {}, null)).headers.get('content-security-policy') ?? ''
    contains(t, policy, /default-src 'none'.*script-src 'self';.*frame-ancestors 'none'/, path)
    lacks(t, policy, /script-src[^;]*unsafe/, path)
  }
  const { body } = await send('GET', '/docs/try/static/swagger-initializer.js', {}, null)
  contains(t, body, '"layout":"BaseLayout"', 'and offer no other document')
})

await t.test('whatever is wrong with a login, one password is checked', async (t) => {
  const { member } = await service.company('counted')
  await app.get('database').owner.updateTable('users').set({ disabled_at: new Date() }).where('email', '=', member.email).execute()
  let checks = 0
  const matches: typeof passwordMatches = (...given) => {
    checks++
    return passwordMatches(...given)
  }
  const credentials = createCredentials({
    accounts: app.get('accounts'),
    unknownSecrets: createUnknownSecrets(),
    now: app.get('now'),
    matches
  })
  const wrong: [string, string][] = [
    [admin.email, 'wrong'],
    ['nobody@example.com', 'wrong'],
    ['', ''],
    ['a\0b', 'wrong'],
    [`${'x'.repeat(300)}@example.com`, 'wrong'],
    [member.email, 'wrong'],
    ['\' or 1=1 --', 'wrong'],
    [admin.email, 'x'.repeat(1000)]
  ]
  for (const [index, [email, password]] of wrong.entries()) {
    t.equal(await credentials.verify(email, password, '192.0.2.1'), undefined, email.slice(0, 20))
    t.equal(checks, index + 1)
  }
})

/** Milliseconds of the processor that each takes, in turns: what else the machine does is not counted. */
async function timed (ways: readonly (() => Promise<unknown>)[], turns: number): Promise<number[]> {
  const times = ways.map((): number[] => [])
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, way] of ways.entries()) {
      const begun = process.cpuUsage()
      await way()
      const { user, system } = process.cpuUsage(begun)
      times[index]?.push((user + system) / 1000)
    }
  }
  return times.map((each) => each.sort((one, other) => one - other)[Math.floor(turns / 2)] ?? 0)
}

// The structure is tested above; this finds only what is off by a factor, such as a verification that is left out.
await t.test('an unknown user, a wrong password and a disabled user take the same time, and so do keys', async (t) => {
  const { member } = await service.company('timed')
  await app.get('database').owner.updateTable('users').set({ disabled_at: new Date() }).where('email', '=', member.email).execute()
  let guess = 0
  const login = (username: string): Promise<Answer> =>
    send('POST', '/auth', { body: { username, password: `wrong ${String(++guess)}` } }, null)
  const [known = 0, ...others] = await timed([() => login(admin.email), () => login('nobody@example.com'), () => login(member.email)], 25)
  for (const other of others) t.ok(other < 3 * known && known < 3 * other, `${String(other)} ms beside ${String(known)} ms`)

  const { body: { key, id } } = await send('POST', '/api/v1/keys', { body: { name: 'timed', mode: 'live' } })
  await send('DELETE', `/api/v1/keys/${String(id)}`)
  const ask = (bearer: string): Promise<Answer> => send('GET', '/healthz', { headers: { authorization: `Bearer ${bearer}` } }, null)
  const [revoked = 0, unknown = 0] = await timed([() => ask(String(key)), () => ask(makeKey('live').secret)], 25)
  t.ok(unknown < 4 * revoked && revoked < 4 * unknown, `${String(revoked)} ms beside ${String(unknown)} ms`)
})

function headersOf ({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(headers)
}
