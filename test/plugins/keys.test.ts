import { sql } from 'kysely'
import t from 'tap'
import { digestOf, makeKey } from '../../core/packages/accounts/access/api-key.ts'
import { clockAt } from '../support/clock.ts'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, seededDatabase, startService } from '../support/service.ts'

const databaseUrl = await seededDatabase(t)
const clock = clockAt('2026-03-14T09:30:00.000Z')
const options = { databaseUrl, replacements: { renderer: quickRenderer, now: clock.now } }
const [here, there] = [await startService(t, options), await startService(t, options)]
const { owner } = here.app.get('database')
const company = await here.company('shop')
const other = await here.company('rival')

const make = (body: object, login: Login = company.member): Promise<Answer> =>
  here.send('POST', '/api/v1/keys', { body: { name: 'Web shop', mode: 'live', ...body } }, login)
const as = (key: unknown, method = 'GET', path = '/api/v1/credits', body?: unknown): Promise<Answer> =>
  there.send(method, path, { headers: { authorization: `Bearer ${String(key)}` }, ...body === undefined ? {} : { body } }, null)
const list = async (login: Login, query = ''): Promise<any[]> => (await here.send('GET', `/api/v1/keys${query}`, {}, login)).body.data
const userIdOf = async ({ email }: Login): Promise<number> =>
  (await sql<{ user_id: number }>`select user_id from users where email = ${email}`.execute(owner)).rows[0]?.user_id ?? 0

await t.test('a key is shown once, and kept as what it cannot be read from', async (t) => {
  const { status, headers, body } = await make({ services: ['email'], expiresAt: '2026-04-14T00:00:00Z' })
  t.equal(status, 201)
  t.equal(headers.get('cache-control'), 'no-store')
  const { key, ...view } = body
  has(t, view, {
    name: 'Web shop',
    mode: 'live',
    scopes: ['send', 'read_own'],
    services: ['email'],
    prefix: String(key).slice(0, 12),
    last4: String(key).slice(-4),
    createdAt: '2026-03-14T09:30:00.000Z',
    expiresAt: '2026-04-14T00:00:00.000Z',
    lastUsedAt: null
  })
  t.same(await list(company.member), [view])
  const { rows } = await sql`select to_jsonb(api_keys)::text as row from api_keys`.execute(owner)
  const random = String(key).split('_')[2] ?? ''
  for (const form of [random, Buffer.from(random).toString('hex')]) lacks(t, `${JSON.stringify(rows)}${here.log.join('')}`, form)
  t.equal(random.length, 27)
})

await t.test('a key works in every process, and ends in every process when it is revoked', async (t) => {
  const { body: { id, key } } = await make({})
  for (let time = 0; time < 3; time++) t.equal((await as(key)).status, 200)
  t.equal((await here.send('DELETE', `/api/v1/keys/${String(id)}`, {}, company.member)).status, 204)
  has(t, await as(key), { status: 401, body: { message: 'The API key is unknown, expired or revoked.' } })
  t.equal((await here.send('DELETE', `/api/v1/keys/${String(id)}`, {}, company.member)).status, 404)
  t.notOk((await list(company.admin)).some((one) => one.id === id))
})

await t.test('the last use is noted once a minute, however often and wherever it is used', async (t) => {
  const { body: { id, key } } = await make({})
  const used = async (): Promise<unknown> => (await list(company.member)).find((one) => one.id === id)?.lastUsedAt
  // Nobody waits for it.
  const noted = async (before: unknown): Promise<unknown> => {
    for (let time = 0; time < 500; time++) if (await used() !== before) break
    return used()
  }
  await as(key)
  t.equal(await noted(null), '2026-03-14T09:30:00.000Z')
  clock.advance(59.999)
  await as(key)
  await here.send('GET', '/healthz', { headers: { authorization: `Bearer ${String(key)}` } }, null)
  t.equal(await used(), '2026-03-14T09:30:00.000Z')
  clock.advance(0.001)
  await as(key)
  t.equal(await noted('2026-03-14T09:30:00.000Z'), '2026-03-14T09:31:00.000Z')
})

await t.test('members make, see and revoke their own; admins those of the company', async (t) => {
  const [memberId, adminId, operatorId, strangerId] = await Promise.all(
    [company.member, company.admin, company.operator, other.member].map(userIdOf)
  )
  const { body: own } = await make({ name: 'own' })
  const { status, body: given } = await make({ name: 'given', userId: memberId }, company.admin)
  t.equal(status, 201)
  t.equal(given.userId, memberId)
  const { body: admins } = await make({ name: 'the admin\'s' }, company.admin)
  t.equal(admins.userId, adminId)

  has(t, await make({ userId: adminId }), { status: 403 })
  has(t, await make({ userId: strangerId }, company.admin), { status: 404 })
  has(t, await make({ userId: operatorId }, company.admin), { status: 403, body: { message: /above their own/ } })
  has(t, await make({ userId: 2_147_483_647 }, company.admin), { status: 404 })

  const names = async (login: Login, query?: string): Promise<string[]> => (await list(login, query)).map((one) => one.name)
  t.notOk((await names(company.member)).includes('the admin\'s'))
  t.notOk((await names(company.member, `?userId=${String(adminId)}`)).includes('the admin\'s'), 'whoever is asked for')
  t.ok((await names(company.admin)).includes('own'))
  t.same(await names(company.admin, `?userId=${String(adminId)}`), ['the admin\'s'])
  t.same(await names(other.admin), [])
  const { body: operators } = await make({ name: 'the operator\'s' }, company.operator)
  t.notOk((await names(company.admin)).includes('the operator\'s'), 'who is above an admin is not there')
  t.ok((await names(company.operator)).includes('the admin\'s'))
  const { body: auditing } = await make({ name: 'auditing', scopes: ['audit'] }, company.admin)
  const seen = (await as(auditing.key, 'GET', '/api/v1/keys')).body.data.map((one: any) => one.name)
  t.ok(seen.includes('auditing') && seen.includes('own'), 'a key that may read who has access sees what its user sees')

  const revoke = (id: unknown, login: Login): Promise<Answer> => here.send('DELETE', `/api/v1/keys/${String(id)}`, {}, login)
  for (const [id, login] of [
    [admins.id, company.member],
    [operators.id, company.admin],
    [own.id, other.admin],
    [
      'none',
      company.admin
    ]
  ] as const) t.equal((await revoke(id, login)).status, 404)
  t.equal((await as(admins.key)).status, 200)
  t.equal((await revoke(own.id, company.admin)).status, 204)
  t.equal((await revoke(given.id, company.member)).status, 204)
})

await t.test('a list goes on where its page ends', async (t) => {
  const { member } = await here.company('pages')
  for (const name of ['1', '2', '3']) await make({ name }, member)
  const first = await here.send('GET', '/api/v1/keys?limit=2', {}, member)
  t.same(first.body.data.map((one: any) => one.name), ['3', '2'])
  const second = await here.send('GET', `/api/v1/keys?limit=2&cursor=${String(first.body.nextCursor)}`, {}, member)
  t.same([second.body.data.map((one: any) => one.name), second.body.nextCursor], [['1'], null])
})

await t.test('what a key cannot be is said, with what would be right', async (t) => {
  const few = await here.company('few', { services: ['email'] })
  has(t, await make({ services: ['email', 'sms'], expiresAt: '2020-01-01T00:00:00Z' }, few.member), {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/services/1', code: 'not_permitted' }, { path: '/expiresAt', code: 'past' }] }
  })
  for (const body of [
    { name: '' },
    { mode: 'prod' },
    { services: [] },
    { services: ['*'] },
    { services: ['email', 'email'] },
    { expiresAt: 'tomorrow' },
    { userId: 0 },
    { role: 'admin' }
  ]) has(t, await make(body), { status: 400 }, JSON.stringify(body))
  await sql`insert into api_keys (key_id, company_id, user_id, name, mode, digest, beginning, ending, created_at)
    select gen_random_uuid(), ${few.companyId}, ${await userIdOf(few.member)}, 'many', 'test', gen_random_uuid()::text::bytea, '', '', now()
      from generate_series(1, 99)`.execute(owner)
  const answers = await Promise.all([make({}, few.member), make({}, few.member), make({}, few.member)])
  t.same(answers.map(({ status }) => status).sort(), [201, 409, 409])
})

await t.test('a key has the scopes that were asked for, and none that are not its user\'s', async (t) => {
  const { admin, member } = await here.company('scoped')
  const { body } = await make({}, admin)
  t.same(body.scopes, ['send', 'read_own'], 'unless more are asked for')
  t.same((await make({ scopes: ['audit', 'send'] }, admin)).body.scopes, ['send', 'audit'])
  const refused = async (scopes: string[], mode: string, login: Login): Promise<unknown> => {
    const { status, body } = await make({ scopes, mode }, login)
    return [status, ...(body.details ?? []).map(({ path, code }: any) => `${String(path)} ${String(code)}`)]
  }
  const notPermitted = [422, '/scopes/1 not_permitted']
  for (const scope of ['templates', 'callbacks', 'audit', 'platform']) {
    t.same(await refused(['send', scope], 'live', member), notPermitted, scope)
    t.same(await refused(['send', scope], 'test', admin), notPermitted, `${scope}, a test key is as a member's`)
  }
  t.same(await refused(['send', 'platform'], 'live', admin), notPermitted)
  for (const scopes of [[], ['everything'], ['send', 'send']]) has(t, await make({ scopes }, admin), { status: 400 })
})

await t.test('what a key lacks is named', async (t) => {
  const { admin } = await here.company('lacking')
  const { body: { key } } = await make({}, admin)
  has(t, await as(key, 'GET', '/api/v1/audit'), { status: 403, body: { error: 'forbidden', message: /has not the scope audit/ } })
  const { body: { key: auditing } } = await make({ scopes: ['audit'] }, admin)
  t.equal((await as(auditing, 'GET', '/api/v1/audit')).status, 200)
  t.equal((await as(key, 'GET', '/api/v1/unknown')).status, 404, 'where there is nothing, nothing is lacking')
  has(t, await as(auditing, 'GET', '/api/v1/dispatches'), { status: 403, body: { message: /read_own or read_all/ } })
})

await t.test('a key of a release before scopes goes on with all of them; such a release knows no key with scopes', async (t) => {
  const { companyId, admin } = await here.company('older')
  const [old, made] = [makeKey('live'), await make({}, admin)]
  await sql`insert into api_keys (key_id, company_id, user_id, name, mode, digest, beginning, ending, created_at)
    values (gen_random_uuid(), ${companyId}, ${await userIdOf(admin)}, 'old', 'live', ${
    digestOf(old.secret)
  }, 'dk_live_0000', '0000', now())`
    .execute(owner)
  for (const path of ['/api/v1/audit', '/api/v1/dispatches', '/api/v1/company/callback-endpoints', '/api/v1/my/config']) {
    t.equal((await as(old.secret, 'GET', path)).status, 200, path)
  }
  const { rows } = await sql`select from api_keys where digest = ${digestOf(made.body.key)}`.execute(owner)
  t.equal(rows.length, 0, 'the look-up of an older release finds nothing')
})

await t.test('a key reads what its user has sent, with whichever key or the password; with read_all what everybody has sent', async (t) => {
  const shop = await here.company('reading')
  const sent = async (login: Login): Promise<any> => (await here.send('POST', '/api/invoicing', { body: invoiceRequest() }, login)).body
  const [{ dispatchId: own }, { dispatchId: others, generatedDocument }] = [await sent(shop.member), await sent(shop.admin)]
  const [narrow, wide] = [(await make({}, shop.member)).body.key, (await make({ scopes: ['read_all'] }, shop.member)).body.key]
  const listed = async (key: unknown, query = ''): Promise<string[]> =>
    (await as(key, 'GET', `/api/v1/dispatches${query}`)).body.data.map(({ dispatchId }: any) => dispatchId as string)
  t.same(await listed(narrow), [own])
  t.same(await listed(narrow, `?userId=${String(await userIdOf(shop.admin))}`), [], 'whoever is asked for')
  t.same(await listed(wide), [others, own])
  // The files are here.
  const statusOf = async (key: unknown, path: string): Promise<number> =>
    (await here.send('GET', path, { headers: { authorization: `Bearer ${String(key)}` } }, null)).status
  const path = `/api/v1/dispatches/${String(others)}`
  for (const one of [path, `${path}/request`, `${path}/events`, `/api/v1/documents/${String(generatedDocument.id)}`]) {
    t.same([await statusOf(narrow, one), await statusOf(wide, one)], [404, 200], one)
  }
  t.equal(await statusOf(narrow, '/api/v1/dispatches/statistics'), 403)
  t.notOk((await as(narrow, 'GET', '/api/v1/credits')).body.ledger.some((entry: any) => entry.dispatchId !== undefined))
})

await t.test('a key keeps to its services', async (t) => {
  const { body: { key } } = await make({ services: ['email'] })
  has(t, await as(key, 'POST', '/api/sms/validate', { sms: { phoneNumber: '+33612345678', message: 'Hello' } }), { status: 403 })
  has(t, await as(key, 'POST', '/api/file/email/validate', {}), { status: 403 }, 'before the body is looked at')
  has(t, await as(key, 'POST', '/api/file/email/validate', {
    template: { id: 2, data: {} },
    email: { from: 'a@example.com', to: 'b@example.com', subject: 'x', body: 'y' }
  }), { status: 403 }, 'also in a chain')
})

await t.test('a key opens no other door: no keys, no identities; the log and the audit say which one it was', async (t) => {
  const { body: { key, id } } = await make({ scopes: ['send', 'configuration'] }, company.admin)
  const memberId = await userIdOf(company.member)
  const doors: [method: string, path: string, body?: object][] = [
    ['POST', '/api/v1/keys', { name: 'another', mode: 'live' }],
    ['DELETE', `/api/v1/keys/${String(id)}`],
    ['POST', '/auth/impersonate', { userId: memberId }],
    ['POST', '/api/v1/users', { email: 'another@shop.example.com', password: 'a good password', role: 'member', services: [] }],
    ['PUT', `/api/v1/users/${String(memberId)}`, { password: 'a good password' }],
    ['PUT', '/api/v1/my/password', { current: company.admin.password, password: 'a good password' }],
    ['PUT', '/api/v1/company', { addresses: [] }]
  ]
  const { body: { key: operators } } = await make({ scopes: ['platform'] }, operator)
  const more: typeof doors = [
    [
      'POST',
      '/api/v1/companies',
      { name: 'Another', credits: 1, admin: { email: 'ada@another.example.com', password: 'a good password' } }
    ],
    ['PUT', `/api/v1/companies/${company.companyId}`, { addresses: [] }]
  ]
  for (const [bearer, [method, path, body]] of [
    ...doors.map((door) => [key, door] as const),
    ...more.map((door) => [operators, door] as const)
  ]) {
    has(t, await as(bearer, method, path, body), { status: 403, body: { error: 'forbidden', message: /password of a user/ } },
      `${method} ${path}`)
  }
  has(t, await as(key, 'GET', '/auth/refresh'), { status: 401 })
  t.equal((await as(key, 'PUT', '/api/v1/company/defaults/invoicing', { providerName: 'simulator' })).status, 200,
    'what its user may do otherwise, it may')
  t.ok(there.log.some((line) => line.includes(`"keyId":"${String(id)}"`)))
})

await t.test('who acts as somebody else makes no key that would outlast it', async (t) => {
  const { body: { data: { token } } } = await here.send('POST', '/auth/impersonate', { body: { userId: await userIdOf(company.member) } },
    company.admin)
  has(t, await as(token, 'POST', '/api/v1/keys', { name: 'x', mode: 'live' }), { status: 403, body: { message: /stay valid after that/ } })
})

await t.test('every change of a key stands in the audit log, with who made it', async (t) => {
  const { body: { id } } = await make({ userId: await userIdOf(company.member) }, company.admin)
  await here.send('DELETE', `/api/v1/keys/${String(id)}`, {}, company.member)
  const { rows } = await sql<Record<string, unknown>>`select action, user_id, object_kind, facts from audit where object_id = ${String(id)}
    order by audit_id`.execute(owner)
  const [memberId, adminId] = [await userIdOf(company.member), await userIdOf(company.admin)]
  has(t, rows, [
    { action: 'key.created', user_id: adminId, object_kind: 'key', facts: { userId: memberId, name: 'Web shop', mode: 'live' } },
    { action: 'key.revoked', user_id: memberId }
  ])
})
