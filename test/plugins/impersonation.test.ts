import { sql } from 'kysely'
import t from 'tap'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { owner } = service.app.get('database')
const company = await service.company('acme')
const other = await service.company('rival')
const userIdOf = async ({ email }: Login): Promise<number> =>
  (await sql<{ user_id: number }>`select user_id from users where email = ${email}`.execute(owner)).rows[0]?.user_id ?? 0
const [memberId, adminId] = [await userIdOf(company.member), await userIdOf(company.admin)]

const impersonate = (userId: unknown, login: Login | null): Promise<Answer> =>
  service.send('POST', '/auth/impersonate', { body: { userId } }, login)
const as = (token: unknown, method: string, path: string, body?: unknown): Promise<Answer> =>
  service.send(method, path, { headers: { authorization: `Bearer ${String(token)}` }, ...body === undefined ? {} : { body } }, null)

await t.test('what is done under another identity names both', async (t) => {
  const answer = await impersonate(memberId, company.admin)
  has(t, answer, { status: 200, body: { data: { userId: memberId, companyId: company.companyId } } })
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const { token } = answer.body.data
  const { body: { dispatchId } } = await as(token, 'POST', '/api/invoicing', invoiceRequest())
  has(t, (await as(token, 'GET', `/api/v1/dispatches/${String(dispatchId)}/events`)).body.data[0], {
    kind: 'planned',
    actor: { kind: 'user', userId: memberId, impersonatorId: adminId }
  })
  has(t, (await as(token, 'GET', '/api/v1/my/config')).body.user, { id: memberId, email: company.member.email })
})

await t.test('it stands in the audit log of the company whose user it is', async (t) => {
  await impersonate(memberId, operator)
  const { rows } = await sql<
    Record<string, unknown>
  >`select company_id, user_id, object_id, address from audit where action = 'user.impersonated' order by audit_id`.execute(owner)
  t.same(rows, [adminId, await userIdOf(operator)].map((userId) => ({
    company_id: company.companyId,
    user_id: userId,
    object_id: String(memberId),
    address: '127.0.0.1'
  })))
})

await t.test('who may not is told no more than they know', async (t) => {
  const otherId = await userIdOf(other.member)
  has(t, await impersonate(otherId, company.admin), { status: 404, body: { error: 'not_found' } })
  has(t, await impersonate(2_147_483_647, company.admin), { status: 404, body: { error: 'not_found' } })
  has(t, await impersonate(adminId, company.member), { status: 403 })
  has(t, await impersonate(memberId, null), { status: 401 })
  for (const body of ['x', 0, -1, 1.5, null, [1]]) has(t, await impersonate(body, company.admin), { status: 400 }, JSON.stringify(body))
  t.equal((await sql`select from audit where action = 'user.impersonated'`.execute(owner)).rows.length, 2)
})

await t.test('one impersonation does not lead to the next, also after a refresh', async (t) => {
  const { body: { data } } = await impersonate(adminId, operator)
  const { body: { data: refreshed } } = await as(data.token, 'GET', '/auth/refresh')
  for (const token of [data.token, refreshed.token]) {
    has(t, await as(token, 'POST', '/auth/impersonate', { userId: memberId }), {
      status: 403,
      body: { message: /already acts as another/ }
    })
  }
})

await t.test('the end of the one who acts is the end of it', async (t) => {
  const { body: { data: { token } } } = await impersonate(memberId, company.admin)
  await sql`update users set password_version = password_version + 1 where user_id = ${adminId}`.execute(owner)
  has(t, await as(token, 'GET', '/api/v1/credits'), { status: 401 })
})
