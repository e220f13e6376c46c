import { type DocumentHandle, outcomeUnknown } from '@dispatch/core/provider'
import { sql } from 'kysely'
import { hash } from 'node:crypto'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { accepts, testProviders, type Verb } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { runQueued } from '../../../../../test/support/run-queued.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import type { Pipeline } from '../../../../pipeline/pipeline.ts'
import { reportRuleIds } from '../../../einvoice/index.ts'
import { french } from '../pages/rule-sentences.ts'
import { createEReports } from '../service/e-reports.ts'
import { keepOutcomes } from '../store/e-reports.ts'

/** What the platform has been sent, and what it makes of the next report. */
const platform: { files: { sha256: string, reference: string, contentType: string }[], next: Error[] } = { files: [], next: [] }
const providers = await testProviders(t)
const takes: Verb = ({ document: { sha256, contentType } }: { document: DocumentHandle }, { reference }) => {
  const failure = platform.next.shift()
  platform.files.push({ sha256, reference, contentType })
  return failure === undefined ? Promise.resolve({ id: `flow-${reference}`, status: 'Pending' }) : Promise.reject(failure)
}
await providers.add('platform', {
  of: 'upload',
  service:
    'idempotency: { kind: \'lookup\', visibleAfter: 0 }, statuses: { Pending: \'processing\', Ok: \'available\', Error: \'failed\' }',
  more: 'sandbox: { kind: \'configuration\' },'
}, takes, {
  status: () => Promise.resolve({ status: 'Ok' }),
  lookup: ({ reference }: { reference: string }) =>
    Promise.resolve(platform.files.some((file) => file.reference === reference)
      ? { found: 'accepted', response: { id: `flow-${reference}`, status: 'Pending' } }
      : { found: 'absent' })
})
await providers.add('biller', {
  service: `documentTypes: ['INVOICE', 'E_INVOICE', 'CREDIT'], idempotency: { kind: 'lookup', visibleAfter: 0 },
    statuses: { going: 'received', no: 'rejected' }`,
  more: 'sandbox: { kind: \'flag\' },'
}, accepts, {
  status: () => Promise.resolve({ status: 'going' }),
  lookup: () => Promise.resolve({ found: 'absent' }),
  say: (_said, { reference }) => Promise.resolve({ id: `said-${reference}`, status: 'Pending' })
})
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer }
})
const { app, send } = service
const database = app.get('database')
const path = '/api/v1/e-reports'
const newest = { 'x-api-version': '1.1.0' }
const settings = {
  siren: '732829320',
  name: 'Acme Tea',
  platform: { id: '0042', name: 'The platform' },
  regime: 'NORMAL_MONTHLY',
  providerName: 'platform'
}

const seller = { name: 'Acme Tea', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR', vatId: 'FR39732829320' }
const spaniard = { name: 'Ada Ltd', address: 'Calle 2', city: 'Madrid', postalCode: '28001', country: 'ES', vatId: 'ESX1234567X' }
const consumer = { name: 'Ada', address: '2 rue B', city: 'Lyon', postalCode: '69001', country: 'FR' }
const invoice = (number: string, more: object = {}): object => ({
  number,
  date: '2026-03-14',
  dueDate: '2026-04-13',
  currency: 'EUR',
  operationNature: 'GOODS',
  seller,
  customer: consumer,
  lines: [{ description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 }],
  ...more
})
let companies = 0
/** A company that reports, with both providers. */
async function newCompany (): Promise<{ admin: Login, member: Login, companyId: number }> {
  const company = await service.company(`reporting${String(++companies)}`)
  for (const code of ['biller', 'platform']) {
    await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } }, company.admin)
  }
  t.equal((await send('PUT', `${path}/settings`, { body: settings }, company.admin)).status, 200)
  return company
}
async function dispatch (login: Login, data: object, query = ''): Promise<string> {
  const body = { providerName: 'biller', documentType: 'E_INVOICE', template: { id: 4, data } }
  const answer = await send('POST', `/api/invoicing${query}`, { body, headers: newest }, login)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.dispatchId as string
}
const make = (login: Login, kind = 'transactions', day = '2026-03-14'): Promise<Answer> =>
  send('POST', path, { body: { kind, day } }, login)
const read = async (id: string, login: Login): Promise<any> => (await send('GET', `${path}/${id}`, {}, login)).body
const hand = (id: string, login: Login): Promise<Answer> => send('POST', `${path}/${id}/send`, {}, login)
const run = (companyId: number, dispatchId: string): Promise<void> => runQueued(app.get('pipeline'), { companyId, dispatchId })
const poll = (dispatchId: string, delivery: string): Promise<unknown> =>
  sql`update steps set delivery_status = ${delivery} where dispatch_id = ${dispatchId}`.execute(database.owner)

await t.test('a report is made of what was sent, looked at, and sent once', async (t) => {
  const { admin, companyId } = await newCompany()
  await dispatch(admin, invoice('F-1'))
  await dispatch(admin, invoice('F-2', { customer: spaniard, operationNature: 'SERVICES' }))
  const unknown = await dispatch(admin, invoice('F-3', { operationNature: undefined }))
  await dispatch(admin, invoice('F-4', { date: '2026-03-21' }))
  const refused = await dispatch(admin, invoice('F-5'))
  await poll(refused, 'rejected')
  await dispatch(admin, invoice('F-6'), '?sandbox=true')
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'Test', mode: 'test' } }, admin)
  await send('POST', '/api/invoicing', {
    body: { providerName: 'biller', documentType: 'E_INVOICE', template: { id: 4, data: invoice('F-7') } },
    headers: { ...newest, authorization: `Bearer ${String(key)}` }
  }, null)

  const made = await make(admin)
  has(t, made, {
    status: 201,
    body: {
      kind: 'transactions',
      type: 'IN',
      state: 'draft',
      period: { start: '2026-03-11', end: '2026-03-20', due: '2026-03-30' },
      count: 2,
      needed: 1,
      dispatchId: null,
      invoices: [{ number: 'F-2', date: '2026-03-14', customer: 'ESX1234567X', base: '20.00', tax: '4.00' }],
      days: [{ date: '2026-03-14', category: 'TLB1', base: '20.00', tax: '4.00', count: 1, parts: [{ rate: '20', amount: '4.00' }] }],
      leftCounts: { nature_unknown: 1, void: 1 },
      problems: []
    }
  })
  t.strictSame(made.body.left.map(({ dispatchId, reason, needed }: any) => [dispatchId, reason, needed]), [
    [unknown, 'nature_unknown', true],
    [refused, 'void', false]
  ])
  const { id } = made.body
  t.equal(made.headers.get('location'), `${path}/${String(id)}`)
  const xml = (await send('GET', `${path}/${String(id)}/export`, {}, admin)).body as string
  contains(t, xml, `<Id>${String(id)}</Id>`)
  t.equal(platform.files.length, 0, 'nothing is sent before somebody says so')

  const sent = await hand(id, admin)
  has(t, sent, { status: 200, body: { state: 'sending' } })
  const { dispatchId } = sent.body
  has(t, await hand(id, admin), { status: 200, body: { dispatchId } })
  await run(companyId, dispatchId)
  has(t, await hand(id, admin), { status: 200, body: { state: 'sent', dispatchId } })
  t.strictSame(platform.files.map(({ sha256, contentType }) => [sha256, contentType]), [[hash('sha256', xml), 'application/xml']])
  has(t, (await send('GET', `/api/v1/dispatches/${String(dispatchId)}`, {}, admin)).body, { metadata: { eReport: id } })
  await poll(dispatchId, 'available')
  t.equal((await read(id, admin)).state, 'accepted')
  has(t, (await send('GET', path, {}, admin)).body, { data: [{ id, state: 'accepted', needed: 1 }], nextCursor: null })
  t.equal((await send('DELETE', `${path}/${String(id)}`, {}, admin)).status, 409, 'what was sent stays')
})

await t.test('a report of a period that was sent is a correction; two first ones are never sent', async (t) => {
  const { admin, companyId } = await newCompany()
  await dispatch(admin, invoice('F-1'))
  const drafts = [(await make(admin)).body, (await make(admin)).body]
  t.strictSame(drafts.map(({ type }) => type), ['IN', 'IN'])
  const answers = await Promise.all(drafts.map(({ id }) => hand(id, admin)))
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, 409])
  const [first, other] = answers[0]?.status === 200 ? drafts : drafts.toReversed()
  await run(companyId, (await read(first.id, admin)).dispatchId)
  t.equal((await send('DELETE', `${path}/${String(other.id)}`, {}, admin)).status, 204)
  t.equal((await send('GET', `${path}/${String(other.id)}`, {}, admin)).status, 404)
  await dispatch(admin, invoice('F-2'))
  const { body: correction } = await make(admin)
  has(t, correction, { type: 'RE', count: 2, days: [{ base: '40.00' }] }, 'it is about the whole period')
  const { body: { dispatchId } } = await hand(correction.id, admin)
  await run(companyId, dispatchId)
  const xml = (await send('GET', `${path}/${String(correction.id)}/export`, {}, admin)).body as string
  contains(t, xml, '<TypeCode>RE</TypeCode>')
  t.equal(platform.files.at(-1)?.sha256, hash('sha256', xml))
  await poll((await read(first.id, admin)).dispatchId, 'failed')
  await poll(dispatchId, 'failed')
  has(t, (await make(admin)).body, { type: 'IN' }, 'what the platform has refused does not count')
})

await t.test('an older correction does not take the place of a newer one', async (t) => {
  const { admin } = await newCompany()
  await dispatch(admin, invoice('F-1'))
  t.equal((await hand((await make(admin)).body.id, admin)).status, 200)
  const { body: older } = await make(admin)
  await dispatch(admin, invoice('F-2'))
  const { body: newer } = await make(admin)
  t.strictSame([older.type, newer.type], ['RE', 'RE'])
  t.equal((await hand(newer.id, admin)).status, 200)
  has(t, await hand(older.id, admin), { status: 409, body: { message: /^Another report of this period was sent/ } })
  // Its process may have ended when it was asked for, before the newer one was.
  await sql`update e_reports set asked_at = now() where report_id = ${older.id}`.execute(database.owner)
  t.equal((await hand(older.id, admin)).status, 409)
  t.equal((await read(older.id, admin)).state, 'draft')
})

await t.test('whenever its process ends, a report is sent once and not lost', async (t) => {
  const { admin, companyId } = await newCompany()
  await dispatch(admin, invoice('F-1'))
  const { userId } = (await send('GET', '/api/v1/dispatches', {}, admin)).body.data[0]
  const actor = { userId, companyId, email: '', role: 'admin' as const, services: ['*'] }
  const by = { actor, author: { userId, companyId, address: '', requestId: '' }, requestId: '' }
  const dying = (dispatch: Pipeline['dispatch']) =>
    createEReports({
      configurations: app.get('configurations'),
      database,
      newId: app.get('newId'),
      now: app.get('now'),
      receive: app.get('receive'),
      retentionDays: 90,
      pipeline: { dispatch }
    })
  const ends = new Error('The process ends.')
  const before = platform.files.length

  const { body: { id } } = await make(admin)
  await t.rejects(dying(() => Promise.reject(ends)).send(by, id), ends)
  has(t, await make(admin), { body: { type: 'RE' } }, 'it may have been sent')
  t.equal((await send('DELETE', `${path}/${String(id)}`, {}, admin)).status, 409)
  await t.rejects(
    dying(async (command) => {
      await app.get('pipeline').dispatch(command)
      throw ends
    }).send(by, id),
    ends
  )
  const { body: { dispatchId, state } } = await hand(id, admin)
  t.equal(state, 'sending')
  platform.next.push(outcomeUnknown('The line is dead.'))
  await run(companyId, dispatchId).catch(() => undefined)
  t.equal((await read(id, admin)).state, 'uncertain')
  await hand(id, admin)
  t.equal(platform.files.length, before + 1, 'what may have been received is not sent again')

  const { admin: late } = await newCompany()
  await dispatch(late, invoice('F-1'))
  const { body: draft } = await make(late)
  await send('DELETE', '/api/v1/company/providers/platform', {}, late)
  t.equal((await hand(draft.id, late)).status, 422, 'nothing was recorded')
  t.equal((await read(draft.id, late)).state, 'draft')
  t.equal((await make(late)).body.type, 'IN')
  await send('PUT', '/api/v1/company/providers/platform', { body: { settings: {} } }, late)
  const { body: sent } = await hand(draft.id, late)
  await sql`delete from steps where dispatch_id = ${sent.dispatchId}`.execute(database.owner).catch(() => undefined)
  await database.owner.transaction().execute(async (queries) => {
    await sql`set local session_replication_role = replica`.execute(queries)
    await sql`delete from dispatches where dispatch_id = ${sent.dispatchId}`.execute(queries)
  })
  has(t, await hand(draft.id, late), { status: 200, body: { state: 'uncertain', dispatchId: sent.dispatchId } },
    'a forgotten dispatch is not repeated')
})

await t.test('payments of services are reported of what was said of invoices, and of what vendors tell', async (t) => {
  const { admin, companyId } = await newCompany()
  const services = { operationNature: 'SERVICES' }
  const said = await dispatch(admin, invoice('F-1', { ...services, customer: spaniard }))
  const told = await dispatch(admin, invoice('F-2', services))
  await dispatch(admin, invoice('F-3', services))
  const saying = { code: '212', at: '2026-04-02T22:30:00Z', amounts: [{ rate: '20', amount: '12.00' }] }
  t.equal((await send('POST', `/api/v1/dispatches/${said}/statuses`, { body: saying, headers: newest }, admin)).status, 200)
  await poll(told, 'paid')
  await sql`insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, step_id, 'webhook', '{}', '{"status":"paid","changed":true}', '2026-04-10T08:00:00Z'
    from steps where dispatch_id = ${told}`.execute(database.owner)
  const { body: report } = await make(admin, 'payments', '2026-04-30')
  has(t, report, {
    period: { start: '2026-04-01', end: '2026-04-30', due: '2026-05-10' },
    count: 2,
    invoices: [{ number: 'F-1', date: '2026-03-14', paid: '2026-04-03', parts: [{ rate: '20', amount: '12.00' }] }],
    days: [{ date: '2026-04-10', parts: [{ rate: '20', amount: '24.00' }] }],
    left: []
  })
  await run(companyId, (await hand(report.id, admin)).body.dispatchId)
  contains(t, (await send('GET', `${path}/${String(report.id)}/export`, {}, admin)).body, '<PaymentsReport>')
  t.equal((await read(report.id, admin)).state, 'sent')
  has(t, (await make(admin, 'payments', '2026-05-30')).body, { count: 0, invoices: [], days: [] })
})

await t.test('nothing is sent that cannot be: an empty report, a period that is not over, a report that breaks rules', async (t) => {
  const { admin, member } = await newCompany()
  const { body: empty } = await make(admin)
  has(t, await hand(empty.id, admin), { status: 409, body: { message: 'There is nothing to report.' } })
  const { body: early } = await make(admin, 'payments', '2099-01-01')
  has(t, await hand(early.id, admin), { status: 409, body: { message: /^The period is not over/ } })
  has(t, await make(admin, 'transactions', '2026-02-30'), { status: 400, body: { details: [{ path: '/day' }] } })
  has(t, await send('PUT', `${path}/settings`, { body: { ...settings, siren: '1' } }, admin), {
    status: 400,
    body: { details: [{ path: '/siren' }] }
  })
  t.equal((await send('POST', path, { body: { kind: 'payments', day: '2026-03-01' } }, member)).status, 403)
  t.equal((await send('GET', `${path}/settings`, {}, member)).status, 200)
  await dispatch(admin, invoice('F-1'))
  const { body: broken } = await make(admin)
  await sql`update e_reports set report = jsonb_set(report, '{sender,id}', '"12345"') where report_id = ${broken.id}`.execute(
    database.owner
  )
  has(t, await hand(broken.id, admin), { status: 422, body: { details: [{ path: '/sender/id', code: 'G6.22' }] } })
  has(t, await read(broken.id, admin), { state: 'draft', problems: [{ code: 'G6.22' }] })
  const { admin: testing } = await newCompany()
  await dispatch(testing, invoice('F-1'))
  const { body: draft } = await make(testing)
  const set = (sandbox: boolean) => send('PUT', '/api/v1/company/providers/platform', { body: { settings: {}, sandbox } }, testing)
  t.equal((await set(true)).status, 200)
  has(t, await hand(draft.id, testing), { status: 409, body: { message: /^It would go to a test environment/ } })
  t.equal((await make(testing)).body.type, 'IN')
  await set(false)
  t.equal((await hand(draft.id, testing)).status, 200)
  const { admin: new_ } = await service.company('new')
  has(t, await make(new_), { status: 409 })
  t.equal((await send('GET', `${path}/settings`, {}, new_)).status, 404)
  t.equal((await send('GET', `${path}/${String(broken.id)}`, {}, new_)).status, 404, 'a report is its company\'s')
})

await t.test('a correction loses no invoice, what became of a report outlives its dispatch, and drafts do not stay', async (t) => {
  const { admin, companyId } = await newCompany()
  const first = await dispatch(admin, invoice('F-1'))
  const { body: { id } } = await make(admin)
  const { body: { dispatchId } } = await hand(id, admin)
  await run(companyId, dispatchId)
  const { body: { id: draft } } = await make(admin)
  await sql`update dispatches set data = null where dispatch_id = ${first}`.execute(database.owner)
  has(t, await make(admin), { status: 409, body: { message: /1 invoices are no longer kept/ } })

  await poll(dispatchId, 'failed')
  const after = (days: number) =>
    createEReports({
      configurations: app.get('configurations'),
      database,
      newId: app.get('newId'),
      now: () => new Date(app.get('now')().getTime() + days * 86_400_000),
      receive: app.get('receive'),
      retentionDays: 90,
      pipeline: app.get('pipeline')
    })
  const kept = async (): Promise<number> => {
    const { rows: [all] } = await sql<{ count: number }>`select count(last_status)::integer as count from e_reports
      where dispatch_id = ${dispatchId}`.execute(database.owner)
    return all?.count ?? 0
  }
  await keepOutcomes(database, new Date(app.get('now')().getTime() + 1_000))
  t.equal(await kept(), 0, 'what was asked for long ago is not looked at')
  await database.owner.transaction().execute(async (queries) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('document-dispatch e-reports', 0))`.execute(queries)
    await keepOutcomes(database, new Date(0))
  })
  t.equal(await kept(), 0, 'one process does so at a time')
  await sql`insert into e_reports select (jsonb_populate_record(one, jsonb_build_object('report_id', gen_random_uuid()))).*
    from e_reports as one, generate_series(1, 1200) where report_id = ${id}`.execute(database.owner)
  await keepOutcomes(database, new Date(0))
  t.equal(await kept(), 1_201, 'all of them, a part at a time')
  await sql`delete from e_reports where dispatch_id = ${dispatchId} and report_id <> ${id}`.execute(database.owner)
  await sql`update e_reports set last_status = null, last_delivery = null where report_id = ${id}`.execute(database.owner)
  await after(89).tidy()
  await sql`update e_reports set dispatch_id = gen_random_uuid() where report_id = ${id}`.execute(database.owner)
  has(t, await read(id, admin), { state: 'refused' })
  has(t, await read(draft, admin), { state: 'draft' })
  has(t, await make(admin), { body: { type: 'IN' } }, 'it was refused, and nothing is lost')
  await after(91).tidy()
  t.equal((await send('GET', `${path}/${String(draft)}`, {}, admin)).status, 404)
  has(t, await read(id, admin), { state: 'refused' })
})

await t.test('what a rule wants two people for, somebody else sends than has made it', async (t) => {
  const { admin } = await newCompany()
  const second = { email: 'second.reporter@example.com', password: 'a long enough password' }
  await send('POST', '/api/v1/users', { body: { ...second, role: 'admin', services: ['*'] } }, admin)
  await dispatch(admin, invoice('F-1'))
  await send('POST', '/api/v1/company/approval-rules', { body: { name: 'Uploads', services: ['upload'] } }, admin)
  const { body: { id } } = await make(admin)
  has(t, await hand(id, admin), { status: 403, body: { message: /somebody else than its maker/ } })
  has(t, await read(id, admin), { state: 'draft' })
  t.equal((await hand(id, second)).status, 200)
})

await t.test('each rule of the tax authority has a sentence in French', (t) => {
  t.strictSame(Object.keys(french).toSorted(), reportRuleIds.toSorted())
  t.end()
})

await t.test('a company makes one report at a time, and keeps no other one from its own', async (t) => {
  const [{ admin }, { admin: other }] = [await newCompany(), await newCompany()]
  const many = Promise.all(Array.from({ length: 30 }, () => make(admin)))
  t.equal((await make(other)).status, 201)
  const statuses = (await many).map(({ status }) => status)
  // How many wait when the next one comes is up to the machine.
  t.strictSame(statuses.filter((status) => status !== 201 && status !== 429), [])
})

await t.test('at the console somebody says as whom is reported, looks at a report, and sends it', async (t) => {
  const company = await newCompany()
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn(company.admin)
  await dispatch(company.admin, invoice('F-1'))
  await dispatch(company.admin, invoice('F-9', { operationNature: undefined }))
  const saved = await post('/e-reports/settings', {
    siren: '732 829 320',
    name: 'Acme <Tea>',
    platformId: '0042',
    platformName: 'P',
    regime: 'SIMPLIFIED',
    providerName: 'platform',
    usualNature: ''
  }, cookie)
  t.equal(saved.status, 303)
  const { body: form } = await open('/e-reports/settings', cookie)
  for (const text of ['value="732829320"', 'Acme &lt;Tea&gt;']) contains(t, form, text)
  has(t, await post('/e-reports/settings', { siren: '7' }, cookie), { status: 400 })
  has(t, await post('/e-reports', { kind: 'transactions', day: 'x' }, cookie), { status: 400 })
  const made = await post('/e-reports', { kind: 'transactions', day: '2026-03-14' }, cookie)
  t.equal(made.status, 303)
  const at = (made.headers.get('location') ?? '').replace('/console', '')
  const page = (await open(at, cookie)).body
  for (const text of ['2026-03-01 – 2026-03-31', 'Goods (TLB1)', 'It does not say whether it is about goods', '1 invoices should be']) {
    contains(t, page, text)
  }
  contains(t, (await open(`${at}/report.xml`, cookie)).body, '<CategoryCode>TLB1</CategoryCode>')
  t.equal((await post(`${at}/send`, {}, cookie)).status, 303)
  const after = (await open(at, cookie)).body
  contains(t, after, 'Being sent')
  lacks(t, after, 'Send it to the platform')
  contains(t, (await open('/e-reports', cookie)).body, 'Being sent')
})
