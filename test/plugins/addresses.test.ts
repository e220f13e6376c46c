import { sql } from 'kysely'
import t from 'tap'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, seededDatabase, startService, type TestService } from '../support/service.ts'

const databaseUrl = await seededDatabase(t)
const options = { databaseUrl, replacements: { renderer: quickRenderer } }
/** One that clients reach directly, one behind proxies. */
const [direct, behind] = [
  await startService(t, options),
  await startService(t, { ...options, config: { trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] } })
]
const company = await direct.company('listed')
const other = await direct.company('open')

const lists = (companyId: number, ...addresses: string[]) =>
  sql`update companies set addresses = ${addresses} where company_id = ${companyId}`.execute(direct.app.get('database').owner)
const from = (forwarded: string): { headers: Record<string, string> } => ({ headers: { 'x-forwarded-for': forwarded } })
const ask = (service: TestService, forwarded?: string, login: Login | null = company.member): Promise<Answer> =>
  service.send('GET', '/api/v1/credits', forwarded === undefined ? {} : from(forwarded), login)

await t.test('the client is the last address that no trusted proxy has', async (t) => {
  await lists(company.companyId, '192.0.2.0/24', '2001:db8::/32')
  const cases: [string, number][] = [
    ['192.0.2.1', 200],
    ['2001:db8::1', 200],
    ['::ffff:192.0.2.1', 200],
    ['198.51.100.1', 403],
    ['192.0.2.1, 198.51.100.1', 403],
    ['198.51.100.1, 192.0.2.1', 200],
    ['198.51.100.1, 192.0.2.1, 10.1.2.3', 200],
    ['198.51.100.1, 192.0.2.1, 10.1.2.3, fd00::7', 200],
    ['192.0.2.1, 198.51.100.1, 10.1.2.3', 403],
    ['192.0.2.1, unknown', 403],
    ['192.0.2.1:443', 403],
    ['"192.0.2.1"', 403],
    ['192.0.2.1, 10.0.0.300', 403],
    ['', 403],
    ['10.0.0.1', 403]
  ]
  for (const [forwarded, status] of cases) t.equal((await ask(behind, forwarded)).status, status, forwarded)
})

await t.test('who comes without a proxy cannot say where they come from', async (t) => {
  await lists(company.companyId, '192.0.2.0/24')
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'client-ip', 'true-client-ip', 'cf-connecting-ip', 'x-client-ip',
    'x-forwarded'])
  {
    const { status } = await direct.send('GET', '/api/v1/credits', {
      headers: { [name]: name === 'forwarded' ? 'for=192.0.2.1' : '192.0.2.1' }
    }, company.member)
    t.equal(status, 403, name)
  }
  await lists(company.companyId, '127.0.0.0/8')
  t.equal((await ask(direct, '198.51.100.1')).status, 200)
})

await t.test('a change holds for the next request in every process, also with a token and a key', async (t) => {
  await lists(company.companyId)
  const { body: { data: { token } } } = await direct.send('POST', '/auth', {
    body: { username: company.member.email, password: company.member.password }
  }, null)
  const { body: { key } } = await direct.send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live' } }, company.member)
  const basic = Buffer.from(`${String(key)}:`).toString('base64')
  const ways = [`Bearer ${String(token)}`, `Bearer ${String(key)}`, `Basic ${basic}`]
  for (let turn = 0; turn < 5; turn++) {
    for (const [list, status] of [[['203.0.113.0/24'], 403], [[], 200]] as const) {
      await lists(company.companyId, ...list)
      for (const authorization of ways) {
        for (const service of [direct, behind]) {
          t.equal((await service.send('GET', '/healthz', { headers: { authorization } }, null)).status, status)
        }
      }
      t.equal((await ask(behind)).status, status)
    }
  }
})

await t.test('the refusal says nothing about the list', async (t) => {
  await lists(company.companyId, '203.0.113.0/24')
  const { body } = await ask(direct)
  has(t, body, { error: 'forbidden', message: 'The company does not permit requests from this address.' })
  lacks(t, JSON.stringify(body), '203.0.113')
  const login = { username: company.member.email, password: company.member.password }
  has(t, (await direct.send('POST', '/auth', { body: login }, null)).body, { error: 'forbidden', message: 'Invalid credentials.' })
  t.equal((await behind.send('POST', '/auth', { body: login, ...from('203.0.113.1') }, null)).status, 200)
})

await t.test('documents with a signed link and events of vendors are outside the lists, and so are other companies', async (t) => {
  await lists(company.companyId)
  const { body } = await direct.send('POST', '/api/invoicing', { body: invoiceRequest() }, company.member)
  await lists(company.companyId, '203.0.113.0/24')
  t.equal((await direct.send('GET', new URL(body.generatedDocument.url).pathname, {}, null)).status, 200)
  t.equal((await direct.send('GET', `/api/v1/documents/${String(body.generatedDocument.id)}`, {}, company.member)).status, 403)
  t.equal((await direct.send('POST', '/api/webhooks/postal/providers/simulator/endpoint.json', { body: {} }, null)).status, 200)
  t.equal((await ask(direct, undefined, other.member)).status, 200)
})

await t.test('operators are bound by the list of the platform, and by that of a company only where they act as one of it', async (t) => {
  const platform: Login = { email: 'operator@example.com', password: 'operator-password' }
  await lists(company.companyId, '203.0.113.0/24')
  const user = await sql<{ user_id: number }>`select user_id from users where email = ${company.member.email}`.execute(
    direct.app.get('database').owner
  )
  const { status, body } = await direct.send('POST', '/auth/impersonate', { body: { userId: user.rows[0]?.user_id } }, platform)
  t.equal(status, 200)
  const authorization = `Bearer ${String(body.data.token)}`
  t.equal((await direct.send('GET', '/healthz', { headers: { authorization } }, null)).status, 403)
  await lists(1, '198.51.100.0/24')
  t.equal((await behind.send('GET', '/healthz', { headers: { authorization, 'x-forwarded-for': '203.0.113.1' } }, null)).status, 403)
  t.equal((await direct.send('GET', '/healthz', {}, platform)).status, 403)
  await lists(1)
  t.equal((await behind.send('GET', '/healthz', { headers: { authorization, 'x-forwarded-for': '203.0.113.1' } }, null)).status, 200)
})
