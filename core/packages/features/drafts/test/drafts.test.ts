import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, matches } from '../../../../../test/support/matching.ts'
import { invoiceRequest, startService } from '../../../../../test/support/service.ts'
import { createDrafts } from '../service/drafts.ts'
import { listDrafts, maxKept } from '../store/drafts.ts'

const service = await startService(t, { config: { dataKeys: { folder: join(t.testdir(), 'keys') } } })
const { send } = service
const { admin, member, companyId } = await service.company('writing')
const other = await service.company('elsewhere', { credits: 10 })
const clock = { time: Date.now() }
const own = createDrafts({ database: service.app.get('database'), now: () => new Date(clock.time) })
const request = { template: { id: 20, data: { message: 'Hello' } }, sms: { phoneNumber: '+3361' } }

await t.test('a draft is kept as it is written, finished or not, and says the key to send it with', async (t) => {
  const made = await send('POST', '/api/v1/drafts', { body: { service: 'sms', request } }, member)
  has(t, made, { status: 201, body: { service: 'sms', request, sandbox: false, shared: false, dispatchId: null } })
  const { id, idempotencyKey } = made.body
  t.equal(idempotencyKey, id)
  const changed = { ...request, sms: { phoneNumber: '+33612345678' } }
  const written = await send('PUT', `/api/v1/drafts/${id}`, { body: { service: 'sms/email', request: changed, sandbox: true } }, member)
  has(t, written, { status: 200, body: { id, service: 'sms/email', request: changed, sandbox: true, createdAt: made.body.createdAt } })
  const listed = await send('GET', '/api/v1/drafts', {}, member)
  t.same(listed.body.data.map(({ id }: { id: string }) => id), [id])
  t.notOk('request' in listed.body.data[0])
  for (const body of [{ service: 'SMS!', request }, { service: 'sms' }, { service: 'sms', request, key: 'x' }]) {
    t.equal((await send('POST', '/api/v1/drafts', { body }, member)).status, 400)
  }
  t.equal((await send('DELETE', `/api/v1/drafts/${id}`, {}, member)).status, 204)
  t.equal((await send('GET', `/api/v1/drafts/${id}`, {}, member)).status, 404)
})

await t.test('a list tells drafts apart by what they say, half written or not', async (t) => {
  const { admin: author } = await service.company('telling')
  const mail = { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your order' }
  const drafts: [string, object, object][] = [
    ['sms', request, { recipient: '+3361', subject: null, template: { id: 20 } }],
    ['email', { template: { id: 999_999 }, email: mail }, { recipient: 'ada@example.com', subject: 'Your order', template: null }],
    ['invoicing/email', { template: { id: 1, data: { number: 'F-7', customer: { name: 'Ada' } } } }, { recipient: 'Ada', subject: 'F-7' }],
    ['postal', { postal: {} }, { recipient: null, subject: null, template: null }],
    ['esign', { signers: 'nobody', template: 7 }, { recipient: null, template: null }],
    ['fax', {}, { recipient: null }],
    ['sms', { sms: { phoneNumber: '+33612345678', message: 'x'.repeat(200_000) } }, { recipient: null, template: null }],
    ['sms', { sms: { phoneNumber: '+33612345678', message: 'x'.repeat(60_000) } }, { recipient: '+33612345678' }]
  ]
  for (const [path, body] of drafts) await send('POST', '/api/v1/drafts', { body: { service: path, request: body } }, author)
  const { status, body: { data } } = await send('GET', '/api/v1/drafts', {}, author)
  t.equal(status, 200)
  has(t, data.toReversed(), drafts.map(([path, , told]) => ({ service: path, ...told })))
  const { open, signIn } = openConsole(service)
  const { body: page } = await open('/drafts', await signIn(author))
  for (const text of ['ada@example.com', 'Your order', 'Invoice', author.email]) contains(t, page, text)
})

await t.test('drafts whose data key is away, or that were cut, can be listed and removed beside the others', async (t) => {
  const { admin: author, companyId } = await service.company('keyless')
  const write = async (body: object, login = author): Promise<string> =>
    (await send('POST', '/api/v1/drafts', { body: { service: 'sms', request: body } }, login)).body.id as string
  const listed = async () => (await send('GET', '/api/v1/drafts', {}, author)).body.data
  const empty = await write({})
  const [cut, closed] = [await write(request), await write(request)]
  has(t, await listed(), [{ id: closed, recipient: '+3361' }, { id: cut, recipient: '+3361' }, { id: empty }])
  const nothing = { recipient: null, subject: null, template: null }
  await sql`update drafts set request = '{"sealed:1": ""}' where draft_id = ${cut}`.execute(service.app.get('database').owner)
  has(t, await listed(), [{ id: closed, recipient: '+3361' }, { id: cut, ...nothing }, { id: empty }])
  await service.app.get('dataKeys')?.shred(companyId)
  has(t, await listed(), [{ id: closed, ...nothing }, { id: cut, ...nothing }, { id: empty, ...nothing }])
  const { open, post, confirm, signIn } = openConsole(service)
  const cookie = await signIn(author)
  const page = await open('/drafts', cookie)
  t.equal(page.status, 200)
  contains(t, page.body, closed)
  contains(t, (await post(`/drafts/${cut}/delete`, {}, cookie)).body, 'Delete the draft of')
  t.equal((await confirm(`/drafts/${cut}/delete`, {}, cookie)).status, 303)
  t.equal((await send('DELETE', `/api/v1/drafts/${closed}`, {}, author)).status, 204)
  has(t, await listed(), [{ id: empty }])
})

await t.test('where nothing is sealed, a draft that is small as it is stored and large as it is read tells nothing, too', async (t) => {
  const { admin: author, companyId } = await service.company('compressed')
  const { body: { id, userId } } = await send('POST', '/api/v1/drafts', { body: { service: 'sms', request } }, author)
  const large = JSON.stringify({ sms: { phoneNumber: '+33612345678', message: 'x'.repeat(200_000) } })
  await sql`update drafts set request = ${large} where draft_id = ${id}`.execute(service.app.get('database').owner)
  const [row] = await listDrafts(service.app.get('database'), { companyId, userId }, {})
  has(t, row, { draft_id: id, request: null })
})

await t.test('nobody but its author reads a draft unless it is shared, and nobody else changes it', async (t) => {
  const id = randomUUID()
  const write = (body: object, login = admin) => send('PUT', `/api/v1/drafts/${id}`, { body: { service: 'sms', request, ...body } }, login)
  t.equal((await write({})).status, 200)
  const read = async () => (await send('GET', `/api/v1/drafts/${id}`, {}, member)).status
  t.equal(await read(), 404)
  t.equal((await write({ shared: true })).status, 200)
  t.equal(await read(), 200)
  t.equal((await write({})).body.shared, true, 'what is absent stays as it is')
  t.equal((await write({ request: {} }, member)).status, 404)
  t.equal((await send('DELETE', `/api/v1/drafts/${id}`, {}, member)).status, 404)
  t.equal((await send('GET', `/api/v1/drafts/${id}`, {}, other.admin)).status, 404)
  t.same((await send('GET', `/api/v1/drafts/${id}`, {}, admin)).body.request, request)
})

await t.test('a draft that was sent says as what; it goes a day later, and one that nobody writes to after 90', async (t) => {
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'D-1' }) }, other.admin)
  matches(t, dispatchId, /^[\w-]{36}$/)
  const [sent, left] = [randomUUID(), randomUUID()]
  const write = (id: string, more: object = {}) =>
    send('PUT', `/api/v1/drafts/${id}`, { body: { service: 'sms', request, ...more } }, other.admin)
  t.equal((await write(sent, { dispatchId: randomUUID() })).body.dispatchId, null, 'no dispatch of the company')
  t.equal((await write(sent, { dispatchId })).body.dispatchId, dispatchId)
  t.equal((await write(sent)).body.dispatchId, dispatchId)
  await write(left)
  const kept = async (): Promise<string[]> =>
    (await send('GET', '/api/v1/drafts', {}, other.admin)).body.data.map(({ id }: { id: string }) => id)
  await own.sweep()
  t.same(await kept(), [left, sent])
  clock.time = Date.now() + 86_400_000
  await own.sweep()
  t.same(await kept(), [left])
  clock.time += 90 * 86_400_000
  await own.sweep()
  t.same(await kept(), [])
})

await t.test('a person keeps 200 drafts: the one that was written to least lately goes', async (t) => {
  const { userId } = (await send('POST', '/api/v1/drafts', { body: { service: 'sms', request } }, member)).body
  const ids = Array.from({ length: maxKept }, () => randomUUID())
  const write = (id: string) => own.write({ companyId, userId }, id, { service: 'sms', request: {} })
  clock.time = Date.now()
  for (const id of [...ids, ids[0]!, randomUUID()]) {
    clock.time += 1000
    await write(id)
  }
  const statusOf = async (id = '') => (await send('GET', `/api/v1/drafts/${id}`, {}, member)).status
  t.same(await Promise.all([ids[0], ids[1], ids[2]].map(statusOf)), [200, 404, 200])
})
