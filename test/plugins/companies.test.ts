import { sql } from 'kysely'
import t from 'tap'
import { isError } from '../hostile/support.ts'
import { has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const { owner } = service.app.get('database')

let numbers = 0
const fresh = (): Login => ({ email: `admin-${++numbers}@companies.example.com`, password: 'a good password' })
const create = (body: unknown, by: Login = operator): Promise<Answer> => send('POST', '/api/v1/companies', { body }, by)
const credit = (companyId: number, body: unknown): Promise<Answer> =>
  send('POST', `/api/v1/companies/${companyId}/credits`, { body }, operator)

async function founded (credits = 10): Promise<{ companyId: number, admin: Login }> {
  const admin = fresh()
  const { body } = await create({ name: 'Acme', credits, admin })
  return { companyId: body.id as number, admin }
}

const dispatch = (login: Login, more: Record<string, unknown> = {}): Promise<Answer> =>
  send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'simulator', ...more }) }, login)
const configure = (login: Login): Promise<Answer> => send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, login)

await t.test('a company is made with its credits and an admin who runs it at once', async (t) => {
  const admin = fresh()
  const { status, body } = await create({ name: 'Acme', credits: 3, admin: { ...admin, email: admin.email.toUpperCase() } })
  t.equal(status, 201)
  has(t, body, { id: Number, name: 'Acme', disabled: false, balance: 3, held: 0, createdAt: /Z$/ })
  lacks(t, JSON.stringify(body), /password|argon/)
  t.equal((await configure(admin)).status, 200)
  t.equal((await dispatch(admin)).status, 200)
  has(t, (await send('GET', `/api/v1/companies/${body.id}`, {}, operator)).body, { ...body, balance: 2 })
  has(t, (await send('GET', '/api/v1/credits', {}, admin)).body.ledger, [
    { kind: 'debit' },
    { kind: 'grant', amount: 3, reason: 'Opening credits' }
  ])
})

await t.test('a company that cannot be made whole is not made', async (t) => {
  const count = async (): Promise<number> => (await owner.selectFrom('companies').select('company_id').execute()).length
  const before = await count()
  isError(t, await create({ name: 'Acme', credits: 1, admin: { email: 'same-text@example.com', password: 'same-text@example.com' } }),
    'validation_failed')
  const broken = [
    {},
    { name: '', credits: 1 },
    { name: 'a\nb', credits: 1 },
    { name: 'Acme', credits: -1 },
    { name: 'Acme', credits: 1.5 },
    { name: 'Acme', credits: 1e12 },
    { name: 'Acme', credits: 1, role: 'operator' }
  ]
  for (const more of broken) isError(t, await create({ admin: fresh(), ...more }), 'validation_error', JSON.stringify(more))
  isError(t, await create({ name: 'Acme', credits: 1, admin: { ...fresh(), role: 'operator' } }), 'validation_error')
  t.equal(await count(), before)
})

await t.test('all companies are listed page by page', async (t) => {
  const ids: number[] = []
  for (let cursor: string | null = '0'; cursor !== null;) {
    const { body } = await send('GET', `/api/v1/companies?limit=2&cursor=${cursor}`, {}, operator)
    t.ok(body.data.length <= 2)
    ids.push(...(body.data as { id: number }[]).map(({ id }) => id))
    cursor = body.nextCursor
  }
  const rows = await owner.selectFrom('companies').select('company_id').orderBy('company_id').execute()
  t.strictSame(ids, rows.map((row) => row.company_id))
})

await t.test('the users of a disabled company are refused at once, by every way in, until it is enabled', async (t) => {
  const { companyId, admin } = await founded()
  const login = { body: { username: admin.email, password: admin.password } }
  const { body: { data: { token } } } = await send('POST', '/auth', login, null)
  const headers = { authorization: `Bearer ${token}` }
  const statuses = async (): Promise<number[]> => [
    (await send('GET', '/healthz', {}, admin)).status,
    (await send('GET', '/healthz', { headers }, null)).status,
    (await send('GET', '/auth/refresh', { headers }, null)).status,
    (await send('POST', '/auth', login, null)).status
  ]
  t.strictSame(await statuses(), [200, 200, 200, 200])
  has(t, (await send('PUT', `/api/v1/companies/${companyId}`, { body: { disabled: true } }, operator)).body, {
    disabled: true,
    name: 'Acme'
  })
  t.strictSame(await statuses(), [403, 403, 403, 403])
  has(t, (await send('PUT', `/api/v1/companies/${companyId}`, { body: { disabled: false, name: 'Acme again' } }, operator)).body, {
    disabled: false,
    name: 'Acme again'
  })
  t.strictSame(await statuses(), [200, 200, 200, 200])
})

await t.test('a company that has shut itself out is let in again', async (t) => {
  const { companyId, admin } = await founded()
  const change = (addresses: string[]): Promise<Answer> => send('PUT', `/api/v1/companies/${companyId}`, { body: { addresses } }, operator)
  await send('PUT', '/api/v1/company', { body: { addresses: ['192.0.2.1'], force: true } }, admin)
  t.equal((await send('GET', '/healthz', {}, admin)).status, 403)
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'Billing', mode: 'live', scopes: ['platform'] } }, operator)
  const byKey = (body: object): Promise<Answer> =>
    send('PUT', `/api/v1/companies/${companyId}`, { body, headers: { authorization: `Bearer ${String(key)}` } }, null)
  isError(t, await byKey({ addresses: [] }), 'forbidden', 'a program opens no doors')
  t.equal((await byKey({ name: 'Acme' })).status, 200)
  has(t, await change(['127.0.0.0/99']), { status: 400, body: { details: [{ path: '/addresses/0', code: 'network' }] } })
  has(t, await change(['127.0.0.1/8', '127.0.0.0/8']), { status: 200, body: { name: 'Acme', addresses: ['127.0.0.0/8'] } })
  t.equal((await send('GET', '/healthz', {}, admin)).status, 200)
})

await t.test('the platform cannot disable itself, nor shut itself out', async (t) => {
  has(t, await send('PUT', '/api/v1/companies/1', { body: { addresses: ['192.0.2.1'] } }, operator), {
    status: 422,
    body: { details: [{ path: '/addresses', code: 'locks_out' }] }
  })
  isError(t, await send('PUT', '/api/v1/companies/1', { body: { disabled: true } }, operator), 'conflict')
  t.equal((await send('GET', '/healthz', {}, operator)).status, 200)
})

await t.test('credits are given and taken back, each with its reason in the ledger, and the new balance is answered', async (t) => {
  const { companyId, admin } = await founded(10)
  t.strictSame((await credit(companyId, { amount: 500, reason: 'Order 4711' })).body, { balance: 510, held: 0 })
  t.strictSame((await credit(companyId, { amount: -110, reason: 'Typed wrong' })).body, { balance: 400, held: 0 })
  has(t, (await send('GET', '/api/v1/credits', {}, admin)).body, {
    balance: 400,
    ledger: [
      { kind: 'correction', amount: -110, balance: 400, reason: 'Typed wrong' },
      { kind: 'grant', amount: 500, balance: 510, reason: 'Order 4711' },
      { kind: 'grant', amount: 10, balance: 10 }
    ]
  })
  for (const body of [
    { amount: 0, reason: 'x' },
    { amount: 1.5, reason: 'x' },
    { amount: '5', reason: 'x' },
    { amount: 5 },
    { amount: 5, reason: ' ' },
    { amount: 1e15, reason: 'x' }
  ]) isError(t, await credit(companyId, body), 'validation_error', JSON.stringify(body))
})

await t.test('credits that are given again under the same key are given once, also at once', async (t) => {
  const { companyId, admin } = await founded(0)
  const give = (headers: Record<string, string>, body: object = { amount: 5, reason: 'Order 4711' }): Promise<Answer> =>
    send('POST', `/api/v1/companies/${companyId}/credits`, { body, headers }, operator)
  const answers = await Promise.all(Array.from({ length: 6 }, () => give({ 'idempotency-key': 'order-4711' })))
  has(t, answers, answers.map(() => ({ status: 200, body: { balance: 5, held: 0 } })))
  t.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 5)
  has(t, await give({ 'x-idempotency-key': 'order-4711' }), { status: 200, body: { balance: 5 } }, 'by either name')
  for (const other of [{ amount: 6, reason: 'Order 4711' }, { amount: 5, reason: 'Order 4712' }]) {
    isError(t, await give({ 'idempotency-key': 'order-4711' }, other), 'idempotency_key_reused')
  }
  isError(t, await give({ 'idempotency-key': 'x'.repeat(256) }), 'validation_error')
  has(t, (await give({ 'idempotency-key': 'order-4712' })).body, { balance: 10 })
  has(t, (await give({})).body, { balance: 15 }, 'without a key each is another')
  t.equal((await send('GET', '/api/v1/audit?action=credits.granted', {}, admin)).body.data.length, 3)
  const other = await founded(0)
  has(t, await send('POST', `/api/v1/companies/${other.companyId}/credits`, {
    body: { amount: 1, reason: 'x' },
    headers: { 'idempotency-key': 'order-4711' }
  }, operator), { body: { balance: 1 } }, 'a key is one company\'s')
})

await t.test('what dispatches under way hold is not taken', async (t) => {
  const { companyId, admin } = await founded(3)
  await configure(admin)
  t.equal((await dispatch(admin, { invoicing: { reference: 'uncertain' } })).status, 504)
  isError(t, await credit(companyId, { amount: -3, reason: 'All of it' }), 'conflict')
  t.strictSame((await credit(companyId, { amount: -2, reason: 'What is free' })).body, { balance: 1, held: 1 })
  isError(t, await credit(companyId, { amount: -1, reason: 'What is held' }), 'conflict')
  t.strictSame((await credit(companyId, { amount: 1, reason: 'One more' })).body, { balance: 2, held: 1 })
})

await t.test('corrections at once never take more than is free', async (t) => {
  const { companyId } = await founded(5)
  const answers = await Promise.all(Array.from({ length: 8 }, () => credit(companyId, { amount: -1, reason: 'One' })))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 409, 409, 409])
  const { rows } =
    await sql`select balance::int, (select sum(amount)::int from ledger where company_id = ${companyId}) as booked from credits
    where company_id = ${companyId}`.execute(owner)
  t.strictSame(rows, [{ balance: 0, booked: 0 }])
})

await t.test('a company below 0 is lifted by any grant', async (t) => {
  const { companyId } = await founded(1)
  // A step that was found accepted after its hold had ended.
  await owner.updateTable('credits').set({ balance: -4 }).where('company_id', '=', companyId).execute()
  t.strictSame((await credit(companyId, { amount: 2, reason: 'A start' })).body, { balance: -2, held: 0 })
})

await t.test('what is no company is not there', async (t) => {
  for (const id of ['0', '2147483647', '99999999999', 'x', '1e1']) {
    isError(t, await send('GET', `/api/v1/companies/${id}`, {}, operator), 'not_found', id)
    isError(t, await send('PUT', `/api/v1/companies/${id}`, { body: { name: 'x' } }, operator), 'not_found', id)
    isError(t, await send('POST', `/api/v1/companies/${id}/credits`, { body: { amount: 1, reason: 'x' } }, operator), 'not_found', id)
  }
})
