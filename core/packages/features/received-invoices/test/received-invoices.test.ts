import { sql } from 'kysely'
import t from 'tap'
import type { Feature } from '../../../../../plugins/features/feature.ts'
import { findFeatures } from '../../../../../plugins/features/find-features.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { createReception } from '../../../../configuration/reception.ts'
import { personOf } from '../../../../store/privacy/person.ts'
import { createVendor, vendorNetwork, type VendorReply } from '../../../conformance/vendor/vendor.ts'
import { readStatus, writeInvoice } from '../../../einvoice/index.ts'
import { plain } from '../../../einvoice/test/support.ts'
import { createReader } from '../../e-invoices/service/reader.ts'
import { createAnswers } from '../service/answers.ts'
import { createIntake } from '../service/intake.ts'
import { receivedHolders } from '../store/holder.ts'
import { takeInvoices } from '../store/invoices.ts'
import { tablesIn } from '../store/tables.ts'

/** A platform: the flows that it has, what was submitted to it, and what it does of the next requests. */
const platform = await createVendor()
t.teardown(platform.close)
type Flow = { flowId: string, updatedAt: string, bytes: Buffer, type?: string, status?: string }
const flows: Flow[] = []
let submitted: { trackingId: string, status: string, message: string }[] = []
let next: { search?: VendorReply, file?: VendorReply, submit?: VendorReply } = {}
/** What the platform says whenever a file is asked for. */
let again: VendorReply | undefined
const once = (what: keyof typeof next): VendorReply | undefined => {
  const reply = next[what]
  next = { ...next, [what]: undefined }
  return reply
}
platform.answer(({ method, host, path, body }) => {
  if (host !== 'platform.test') return { status: 204 }
  if (path.startsWith('/token')) return { json: { access_token: 'token', token_type: 'Bearer', expires_in: 300 } }
  if (path === '/v1/flows/search') {
    const failed = once('search')
    if (failed !== undefined) return failed
    const { limit, where: { updatedAfter = '', trackingId } } = JSON.parse(body.toString())
    const results = trackingId === undefined
      ? flows.filter((flow) => flow.updatedAt > updatedAfter).slice(0, limit).map(({ bytes: _, status = 'Ok', ...flow }) => ({
        ...flow,
        acknowledgement: { status }
      }))
      : submitted.filter((one) => one.trackingId === trackingId).map(({ status }, index) => ({
        flowId: `said-${String(index + 1)}`,
        acknowledgement: { status }
      }))
    return { json: { limit, results } }
  }
  if (method === 'POST' && path === '/v1/flows') {
    const text = body.toString()
    const [trackingId = '', message = ''] = [/"trackingId":"([^"]+)"/.exec(text)?.[1], /<\?xml.*>/s.exec(text)?.[0]]
    const reply = once('submit')
    if (reply === undefined || 'cut' in reply) submitted.push({ trackingId, status: 'Ok', message })
    return reply ?? { status: 202, json: { flowId: `said-${String(submitted.length)}` } }
  }
  const flow = flows.find(({ flowId }) => path.startsWith(`/v1/flows/${flowId}`))
  if (flow === undefined) return { status: 404, json: { errorCode: 'FlowNotFound' } }
  return once('file') ?? again ?? { headers: { 'content-type': flow.type ?? 'application/xml' }, body: flow.bytes }
})

let time = new Date('2026-10-01T08:00:00.000Z')
const later = (minutes: number): void => {
  time = new Date(time.getTime() + minutes * 60_000)
}
// Nobody else takes in: two of the test do, as processes beside each other.
const features = (await findFeatures()).map((feature): Feature =>
  feature.name !== 'received-invoices' ? feature : {
    ...feature,
    bind (...given) {
      const { work: _, ...bound } = feature.bind(...given)
      return bound
    }
  }
)
const network = vendorNetwork(platform)
const service = await startService(t, { features, replacements: { network, now: () => time }, config: { retentionDays: 90 } })
const { app, send } = service
const get = app.get.bind(app)
const [database, files] = [get('database'), get('files')]
const { owner } = database
const path = '/api/v1/e-invoices/received'

function options () {
  return {
    database,
    files,
    log: get('log'),
    newId: get('newId'),
    now: get('now'),
    outbox: get('outbox'),
    invoiceReader: createReader({ now: get('now'), templates: get('templates'), templateWorkers: get('templateWorkers') }),
    reception: createReception({
      configurations: get('configurations'),
      connections: get('connections'),
      database,
      host: get('selectableProviders'),
      keyring: get('keyring'),
      log: get('log'),
      network,
      newId: get('newId'),
      now: get('now'),
      receive: get('receive')
    })
  }
}
function worker () {
  const given = options()
  return { ...createIntake({ ...given, retentionDays: 90 }), follow: createAnswers(given).follow }
}
const two = [worker(), worker()] as const
/** Both look and fetch at the same time, some minutes later. */
async function takeIn (minutes = 6): Promise<void> {
  later(minutes)
  await Promise.all(two.map((one) => one.poll()))
  await Promise.all(two.map((one) => one.fetch()))
}

let companies = 0
async function newCompany (receives = true) {
  // The others do not ask any more.
  await tablesIn(owner).updateTable('receptions').set({ is_on: false }).execute()
  const company = await service.company(`receiver${String(++companies)}`)
  const settings = { url: 'https://platform.test', tokenUrl: 'https://platform.test/token', clientId: 'id', clientSecret: 'not-a-secret' }
  const set = await send('PUT', '/api/v1/company/providers/flow', { body: { settings } }, company.admin)
  t.equal(set.status, 200, JSON.stringify(set.body))
  if (receives) has(t, await reception(company.admin, { receives: true }), { status: 200, body: { receives: true, provider: 'flow' } })
  const { body: { id } } = await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'A', url: 'https://a.acme.test/' } },
    company.admin)
  const reported = async (): Promise<any[]> =>
    (await owner.selectFrom('outbox').selectAll().where('endpoint_id', '=', id).orderBy('callback_id').execute())
      .map(({ type, body }) => ({ type, ...JSON.parse(body ?? '{}').data })).filter(({ type }) => type.startsWith('invoice.'))
  return { ...company, reported }
}
const reception = (login: Login, body: object, provider = 'flow'): Promise<Answer> =>
  send('PUT', `/api/v1/e-invoices/receptions/${provider}`, { body }, login)
const list = async (login: Login, query = ''): Promise<any[]> => (await send('GET', `${path}${query}`, {}, login)).body.data
const say = (login: Login, id: string, body: object): Promise<Answer> => send('POST', `${path}/${id}/statuses`, { body }, login)

const seller = { ...plain.seller, registration: { id: '732829320', scheme: '0002' } }
const customer = {
  name: 'Létang',
  city: 'Paris',
  country: 'FR',
  registration: { id: '404833048', scheme: '0002' },
  contact: 'Ada',
  email: 'ada@letang.example'
}
const fileOf = (number: string): Buffer =>
  Buffer.from(writeInvoice({ ...plain, number, currency: 'EUR', seller, customer, businessProcess: 'B1' }, 'EN16931', 'CII'))
let moments = 0
/** Something comes to the platform now. */
function comes (flowId: string, bytes: Buffer, more: Partial<Flow> = {}): void {
  flows.push({ flowId, updatedAt: new Date(time.getTime() + ++moments).toISOString(), bytes, ...more })
}
/** A company with one invoice that can be read. */
async function received (number: string) {
  flows.length = 0
  submitted = []
  const company = await newCompany()
  comes(`flow-${number}`, fileOf(number))
  await takeIn()
  const [{ id }] = await list(company.admin)
  return { ...company, id: id as string }
}

await t.test('what comes is one record, however many processes look, and however often the platform lists it', async (t) => {
  flows.length = 0
  comes('before', fileOf('F-0'))
  later(1)
  const { admin, reported } = await newCompany()
  comes('flow-1', fileOf('F-1'))
  comes('rejected', fileOf('F-2'), { status: 'Error' })
  comes('broken', Buffer.from('<Invoice'))
  await takeIn()
  await takeIn()
  const both = await list(admin)
  has(t, both.toSorted((one, other) => one.remoteId < other.remoteId ? -1 : 1), [
    { remoteId: 'broken', state: 'unreadable', problem: { code: /./ }, invoice: null, file: { size: 8 } },
    {
      remoteId: 'flow-1',
      state: 'readable',
      problem: null,
      sandbox: false,
      status: null,
      file: { filename: 'flow-1.xml', contentType: 'application/xml' },
      invoice: { format: 'CII', profile: 'EN16931', number: 'F-1', total: '24.00', seller: 'Müller & Söhne', sellerId: '732829320' }
    }
  ])
  t.equal(both.length, 2)
  const [first] = await reported()
  has(t, (await reported()).map(({ type, state }) => `${type} ${state}`).toSorted(), ['invoice.received readable',
    'invoice.received unreadable'])
  lacks(t, JSON.stringify(first), 'Létang')
  has(t, await list(admin, '?state=unreadable'), [{ remoteId: 'broken' }])
  has(t, await list(admin, '?number=F-1&status=none'), [{ remoteId: 'flow-1' }])
  has(t, await send('GET', '/api/v1/e-invoices/receptions', {}, admin), {
    body: { data: [{ provider: 'flow', receives: true, says: true, problem: null, lookedAt: /^2026/ }] }
  })
})

await t.test('nothing is asked before a company wants it; since a time it is what came from then on', async (t) => {
  flows.length = 0
  comes('early', fileOf('F-1'))
  later(60)
  const { admin } = await newCompany(false)
  await takeIn()
  t.strictSame(await list(admin), [])
  has(t, await reception(admin, { receives: true }), { status: 200 })
  await takeIn()
  t.strictSame(await list(admin), [], 'from now on')
  has(t, await reception(admin, { receives: true, since: '2026-09-01T00:00:00Z' }), { body: { since: '2026-09-01T00:00:00.000Z' } })
  await takeIn(0)
  has(t, await list(admin), [{ remoteId: 'early' }])
  has(t, await reception(admin, { receives: false }), { body: { receives: false } })
  comes('late', fileOf('F-2'))
  await takeIn()
  t.equal((await list(admin)).length, 1)
  has(t, await reception(admin, { receives: true, since: '2999-01-01T00:00:00Z' }), {
    status: 422,
    body: { details: [{ path: '/since' }] }
  })
  has(t, await reception(admin, { receives: true, since: '2026-02-30T00:00:00Z' }), {
    status: 422,
    body: { details: [{ path: '/since' }] }
  })
  has(t, await reception(admin, { receives: true }, 'simulator'), { status: 404 })
})

await t.test('a page of a hundred is read on; a platform that is away loses nothing, and neither does an end of the process', async (t) => {
  flows.length = 0
  const { admin } = await newCompany()
  for (let number = 0; number < 130; number++) comes(`many-${String(number)}`, Buffer.from('no invoice'))
  next = { search: { status: 503 } }
  await takeIn()
  has(t, await send('GET', '/api/v1/e-invoices/receptions', {}, admin), { body: { data: [{ problem: /./ }] } })
  later(20)
  await two[0].poll()
  const rows = await tablesIn(owner).selectFrom('received_invoices').select(['remote_id']).where('state', '=', 'fetching').execute()
  t.equal(rows.length, 130, 'all are listed')
  // A process takes some and ends.
  t.equal((await takeInvoices(database, 4)).length, 4)
  await two[1].fetch()
  t.equal((await list(admin, '?state=fetching')).length, 4)
  later(3)
  await two[1].fetch()
  t.equal((await list(admin, '?state=fetching')).length, 0)
})

await t.test('a file that is away comes later; one that is too large, or never comes, is a record with its problem', async (t) => {
  flows.length = 0
  const { admin } = await newCompany()
  comes('away', fileOf('F-1'))
  comes('large', Buffer.alloc(26 * 1024 * 1024, ' '))
  next = { file: { status: 503 } }
  await takeIn()
  t.equal((await list(admin, '?state=fetching')).length, 1)
  later(3)
  await two[0].fetch()
  has(t, await list(admin, '?state=unreadable'), [{ remoteId: 'large', problem: { code: 'too_large' }, file: null }])
  has(t, await list(admin, '?state=readable'), [{ remoteId: 'away' }])
  comes('gone', fileOf('F-2'))
  later(6)
  await two[0].poll()
  flows.pop()
  await tablesIn(owner).updateTable('received_invoices').set({ tries: 9 }).where('remote_id', '=', 'gone')
    .execute()
  const [gone] = await list(admin, '?state=fetching')
  has(t, await send('GET', `${path}/${gone.id}/file`, {}, admin), { status: 409 })
  await two[0].fetch()
  has(t, await send('GET', `${path}/${gone.id}`, {}, admin), {
    body: { state: 'unreadable', problem: { code: 'not_fetched' }, sayable: [] }
  })
  comes('gone', fileOf('F-2'))
  has(t, await reception(admin, { receives: true }), { status: 200 })
  has(t, await list(admin, '?state=fetching'), [{ id: gone.id, problem: null }], 'it is asked for once more')
  for (const failure of [{ status: 503 }, { status: 401 }]) {
    await tablesIn(owner).updateTable('received_invoices').set({ tries: 20, next_at: time }).where('remote_id', '=', 'gone').execute()
    // A token that is refused is asked for anew, and the file once more.
    next = { file: failure }
    again = failure.status === 401 ? failure : undefined
    await two[0].fetch()
    again = undefined
    t.equal((await list(admin, '?state=fetching')).length, 1, `a vendor that answers ${String(failure.status)} may be back`)
  }
  later(6 * 60 + 1)
  await two[0].fetch()
  has(t, await send('GET', `${path}/${gone.id}`, {}, admin), { body: { state: 'readable' } })
})

await t.test('it is read as it came, as data, and as a page that runs nothing', async (t) => {
  const { admin, id } = await received('F-7')
  const file = (format: string): Promise<Answer> => send('GET', `${path}/${id}/file?format=${format}`, {}, admin)
  const original = await file('original')
  t.equal(original.body, fileOf('F-7').toString())
  matches(t, String(original.headers.get('content-disposition')), /^attachment; filename="flow-F-7.xml"/)
  has(t, await file('json'), { body: { data: { number: 'F-7', customer: { email: 'ada@letang.example' } }, lostCount: 0 } })
  const page = await file('html')
  contains(t, String(page.body), 'Létang')
  for (const answer of [original, page]) {
    contains(t, String(answer.headers.get('content-security-policy')), 'sandbox')
    t.equal(answer.headers.get('cache-control'), 'private, no-store')
  }
  matches(t, String((await file('pdf')).body), /^%PDF/)
  const { admin: other } = await newCompany()
  for (const part of ['', '/file']) has(t, await send('GET', `${path}/${id}${part}`, {}, other), { status: 404 })
  has(t, await say(other, id, { code: '205' }), { status: 404 })
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'tests', mode: 'test', scopes: ['read_all'] } }, admin)
  const asKey = { headers: { authorization: `Bearer ${String(key)}` } }
  has(t, await send('GET', path, asKey, null), { status: 200, body: { data: [] } })
  has(t, await send('GET', `${path}/${id}`, asKey, null), { status: 404 })
})

await t.test('a buyer approves and pays by messages that the platform gets once', async (t) => {
  const { admin, id, reported } = await received('F-8')
  const [one, other] = await Promise.all([say(admin, id, { code: '205' }), say(admin, id, { code: '205' })])
  t.ok([one, other].some(({ status, body }) => status === 200 && body.state === 'said'), JSON.stringify([one.body, other.body]))
  has(t, await say(admin, id, { code: '205' }), { status: 200, body: { code: '205', name: 'Approuvée', state: 'said' } })
  t.equal(submitted.length, 1)
  const [status] = readStatus(Buffer.from(submitted[0]?.message ?? ''))
  has(t, status, {
    code: '205',
    invoice: { number: 'F-8', date: '2026-03-14', seller: { id: '732829320', scheme: '0002' } },
    issuer: { role: 'BY', id: { id: '404833048', scheme: '0002' } },
    recipients: [{ role: 'SE' }]
  })
  has(t, await say(admin, id, { code: '211', amount: '24.00' }), { status: 200 })
  has(t, await send('GET', `${path}/${id}`, {}, admin), {
    body: { status: '211', sayable: ['211'], statuses: [{ code: '205' }, { code: '211', amount: '24.00' }] }
  })
  has(t, await say(admin, id, { code: '210', reasonCode: 'DOUBLON' }), { status: 409 })
  has(t, (await reported()).map(({ type, code }) => `${type} ${String(code)}`).slice(1), ['invoice.status_said 205',
    'invoice.status_said 211'])
  const { body: { data } } = await send('GET', '/api/v1/audit?action=received_invoice.answered', {}, admin)
  t.ok(data.length >= 2, 'each is in the audit log')
})

await t.test('what breaks a rule is not said, and says where', async (t) => {
  const { admin, id } = await received('F-9')
  has(t, await say(admin, id, { code: '210' }), { status: 422, body: { details: [{ path: '/reasonCode', code: 'BR-FR-CDV-15' }] } })
  has(t, await say(admin, id, { code: '205', amount: '1' }), { status: 422, body: { details: [{ path: '/amount' }] } })
  has(t, await say(admin, id, { code: '205', at: '2999-01-01T00:00:00Z' }), { status: 422, body: { details: [{ path: '/at' }] } })
  has(t, await say(admin, id, { code: '212' }), { status: 400 })
  t.strictSame(submitted, [])
  has(t, await say(admin, id, { code: '210', reasonCode: 'DOUBLON', reason: 'Sent twice.' }), { status: 200 })
  contains(t, submitted[0]?.message ?? '', '<ram:Reason>Sent twice.</ram:Reason>')
  has(t, await send('GET', `${path}/${id}`, {}, admin), { body: { status: '210', sayable: [] } })
})

await t.test('an answer that is lost leaves a doubt that is found out, and nothing is said twice', async (t) => {
  const { admin, id, reported } = await received('F-10')
  next = { submit: { cut: 'in-reply' } }
  has(t, await say(admin, id, { code: '205' }), { status: 504, body: { error: 'outcome_unknown' } })
  has(t, await send('GET', `${path}/${id}`, {}, admin), { body: { status: null, statuses: [{ state: 'uncertain' }] } })
  has(t, await say(admin, id, { code: '205' }), { status: 200, body: { state: 'said' } })
  t.equal(submitted.length, 1)
  next = { submit: { cut: 'before-body' } }
  const refused = await say(admin, id, { code: '207', reasonCode: 'DOUBLON' })
  t.ok(refused.status >= 500, JSON.stringify(refused.body))
  later(16)
  await Promise.all(two.map((one) => one.follow()))
  has(t, await send('GET', `${path}/${id}`, {}, admin), { body: { statuses: [{ state: 'said' }, { code: '207' }] } })
  t.ok((await reported()).length >= 2)
})

await t.test('what somebody else has said while it is read is not said twice', async (t) => {
  const { admin, companyId, id } = await received('F-15')
  const { rows: [user] } = await sql<{ id: number }>`select min(user_id) as id from users where company_id = ${companyId}`.execute(owner)
  const userId = user?.id ?? 0
  const author = { userId, companyId, address: '', requestId: '' }
  const given = options()
  const { invoiceReader } = given
  let wasSaid = false
  const slow = createAnswers({
    ...given,
    invoiceReader: {
      async read (...requested) {
        next = { submit: { cut: 'in-reply' } }
        has(t, await say(admin, id, { code: '205' }), { status: 504 })
        wasSaid = true
        return invoiceReader.read(...requested)
      }
    }
  })
  const actor = { userId, companyId, email: '', role: 'admin' as const, services: ['*'] }
  await t.rejects(slow.say(actor, author, id, { code: '205' }, (_companyId, work) => work()), /is being said of this invoice/)
  t.ok(wasSaid)
  t.equal(submitted.length, 1)
})

await t.test('others read files while a platform is told, and all that may name a person is found', async (t) => {
  const { companyId, id } = await received('F-16')
  const { rows: [user] } = await sql<{ id: number }>`select min(user_id) as id from users where company_id = ${companyId}`.execute(owner)
  const userId = user?.id ?? 0
  const given = options()
  let isRead = false
  const place = async <Result>(_companyId: number, work: () => Promise<Result>): Promise<Result> => {
    isRead = true
    return work().finally(() => {
      isRead = false
    })
  }
  const { reception } = given
  const saying = createAnswers({
    ...given,
    reception: {
      ...reception,
      say (...requested) {
        t.notOk(isRead)
        return reception.say(...requested)
      }
    }
  })
  const actor = { userId, companyId, email: '', role: 'admin' as const, services: ['*'] }
  has(t, await saying.say(actor, { userId, companyId, address: '', requestId: '' }, id, { code: '205' }, place), { state: 'said' })
  const row = await tablesIn(owner).selectFrom('received_invoices').select('parties').where('received_id', '=', id).executeTakeFirst()
  for (const { description } of plain.lines) contains(t, row?.parties ?? '', description)
})

await t.test('what a platform refuses after it has taken it is taken back, and told', async (t) => {
  const { admin, id, reported } = await received('F-11')
  has(t, await say(admin, id, { code: '205' }), { status: 200 })
  for (const one of submitted) one.status = 'Error'
  later(16)
  await Promise.all(two.map((one) => one.follow()))
  has(t, await send('GET', `${path}/${id}`, {}, admin), { body: { status: null, statuses: [{ state: 'refused', message: /./ }] } })
  has(t, (await reported()).map(({ type }) => type), ['invoice.received', 'invoice.status_said', 'invoice.status_refused'])
  next = { submit: { status: 422, json: { errorCode: 'InvoiceLCInvalidStatus', errorMessage: 'Not now.' } } }
  has(t, await say(admin, id, { code: '206', reasonCode: 'AUTRE' }), { status: 409, body: { message: /Not now/ } })
})

await t.test('a person who is erased is gone from what was received, and it is not taken in again', async (t) => {
  const { admin, companyId, id } = await received('F-12')
  has(t, await say(admin, id, { code: '205', reason: 'Ask ada@letang.example' }), { status: 200 })
  const [row] = await tablesIn(owner).selectFrom('received_invoices').select('file').where('received_id', '=', id).execute()
  const person = personOf({ addresses: ['ada@letang.example'], numbers: [], references: [] })
  const author = { userId: 1, companyId, address: '', requestId: '' }
  for (const holder of receivedHolders(database, two[0].clean)) {
    const { found } = await holder.search(companyId, person, undefined)
    t.equal(found.length, 1, holder.kind)
    const ids = found.map((one) => one.id)
    t.equal((await owner.transaction().execute((queries) => holder.erase(queries, { companyId, person, author }, ids))).waiting, 0)
    await holder.clean?.(companyId)
  }
  t.strictSame(await list(admin), [])
  t.equal(await files.read(row?.file?.key ?? ''), undefined, 'its bytes are gone')
  lacks(t, JSON.stringify(await tablesIn(owner).selectFrom('received_invoices').selectAll().where('received_id', '=', id).execute()),
    'ada@')
  comes('flow-F-12', fileOf('F-12'))
  await takeIn()
  t.strictSame(await list(admin), [])
})

await t.test('it is kept as long as the data of invoices, and no longer', async (t) => {
  const { admin, id } = await received('F-13')
  has(t, await say(admin, id, { code: '205' }), { status: 200 })
  const [row] = await tablesIn(owner).selectFrom('received_invoices').select('file').where('received_id', '=', id).execute()
  const taken = (days: number) =>
    tablesIn(owner).updateTable('received_invoices').set({ taken_at: new Date(time.getTime() - days * 24 * 3_600_000) })
      .where('received_id', '=', id).execute()
  await taken(89)
  await two[0].sweep()
  t.equal((await list(admin)).length, 1)
  await taken(91)
  await Promise.all(two.map((one) => one.sweep()))
  t.strictSame(await list(admin), [])
  t.equal(await files.read(row?.file?.key ?? ''), undefined, 'its bytes are gone')
  has(t, await send('GET', `${path}/${id}/file`, {}, admin), { status: 404 })
  later(10 * 24 * 60)
  await two[0].sweep()
  comes('flow-F-13', fileOf('F-13'))
  await takeIn()
  t.strictSame(await list(admin), [], 'what the platform lists again is known')
  const [bare] = await tablesIn(owner).selectFrom('received_invoices').selectAll().where('received_id', '=', id).execute()
  has(t, bare, { remote_id: 'flow-F-13', file: null, facts: null, number: null, parties: null })
  t.strictSame(await tablesIn(owner).selectFrom('received_statuses').selectAll().where('received_id', '=', id).execute(), [])
})

await t.test('a name that is cut within an emoji is recorded; what cannot be recorded is given up, and no file is left', async (t) => {
  flows.length = 0
  const { admin, companyId } = await newCompany()
  const file = (number: string, name: string): Buffer =>
    Buffer.from(
      writeInvoice({ ...plain, number, currency: 'EUR', seller: { ...seller, name }, customer, businessProcess: 'B1' }, 'EN16931', 'CII')
    )
  comes('emoji', file('F-20', `${'a'.repeat(299)}🐎`))
  await takeIn()
  has(t, await list(admin), [{ state: 'readable', invoice: { seller: 'a'.repeat(299) } }])
  comes('refused', fileOf('F-21'))
  later(6)
  await two[0].poll()
  await tablesIn(owner).updateTable('received_invoices').set({ tries: 8 }).where('remote_id', '=', 'refused').execute()
  const days = [0, 24].map((hours) => new Date(time.getTime() + hours * 3_600_000).toISOString().slice(0, 10))
  const stored = async (): Promise<number> =>
    (await Promise.all(days.map((day) => files.list(`received/${String(companyId)}/${day}`)))).flat().length
  const before = await stored()
  await sql`create function refuse () returns trigger language plpgsql as
    $$ begin if new.number = 'F-21' then raise sqlstate '22P05'; end if; return new; end $$`.execute(owner)
  await sql`create trigger refuse before update on received_invoices for each row execute function refuse()`.execute(owner)
  t.teardown(() => sql`drop function refuse cascade`.execute(owner))
  await two[0].fetch()
  has(t, await list(admin, '?state=fetching'), [{ remoteId: 'refused' }])
  later(6 * 60 + 1)
  await two[0].fetch()
  has(t, await list(admin, '?state=unreadable'), [{ remoteId: 'refused', problem: { code: 'not_recorded' }, file: null }])
  t.equal(await stored(), before)
})

await t.test('the console lists, shows and answers', async (t) => {
  const { admin, id } = await received('F-14')
  const { signIn, open, post } = openConsole(service)
  const cookie = await signIn(admin)
  const all = (await open('/received', cookie)).body
  contains(t, all, 'F-14')
  contains(t, all, 'Take in no more')
  contains(t, (await open(`/received/${id}`, cookie)).body, 'Müller &amp; Söhne')
  contains(t, (await open(`/received/${id}/page`, cookie)).body, 'Létang')
  matches(t, (await open(`/received/${id}/pdf`, cookie)).body, /^%PDF/)
  const form = { code: '210', reasonCode: 'DOUBLON', reason: 'Twice', amount: '' }
  const requested = await post(`/received/${id}/statuses`, form, cookie)
  contains(t, requested.body, 'cannot be taken back')
  t.strictSame(submitted, [], 'it is asked first')
  t.equal((await post(`/received/${id}/statuses`, { ...form, ':confirmed': 'true' }, cookie)).status, 303)
  contains(t, (await open(`/received/${id}`, cookie)).body, 'the platform has it')
  t.equal((await post('/received/receptions/flow', { receives: 'false' }, cookie)).status, 303)
  contains(t, (await open('/received', cookie)).body, 'does not take in')
})
