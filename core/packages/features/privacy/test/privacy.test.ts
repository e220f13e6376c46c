import type { JsonObject } from '@dispatch/common'
import { documentFiles } from '@dispatch/core'
import { createLocalFiles } from '@dispatch/files'
import { openRow, openText, renewDataKeys } from '@dispatch/tables'
import { sql } from 'kysely'
import { createHash, randomUUIDv7 } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, seededDatabase, startService } from '../../../../../test/support/service.ts'
import { keptServices } from '../contract/retention.ts'
import { asNdjson } from '../routes/privacy.ts'
import { erasures, maxOpen } from '../service/erasures.ts'
import { personHolders } from '../service/person-holders.ts'
import { createRetentions } from '../service/retention.ts'
import { createErasureStep } from '../service/work.ts'
import { words as en } from '../words.en.ts'

const providers = await testProviders(t)
const sent: string[] = []
let answered: PromiseWithResolvers<undefined> | undefined
await providers.add('mailer', { of: 'email', settings: '{ allowedSenders: AllowedSenders() }', service: 'idempotency: { kind: \'none\' }' },
  async ({ email }: any, { reference }) => {
    sent.push(...[email.to].flat().map(({ address }: any) => String(address)))
    await answered?.promise
    return { id: reference, status: 'sent', recipient: email.to[0].address }
  })
const dataDirectory = t.testdir()
const service = await startService(t, {
  databaseUrl: await seededDatabase(t),
  config: { providerDirectories: providers.directories, dataDirectory, dataKeys: { folder: join(dataDirectory, 'keys') } },
  // Data are sealed; files lie as they are, so that a name is found in them.
  replacements: { renderer: quickRenderer, files: documentFiles(createLocalFiles(join(dataDirectory, 'files'))) }
})
const { app, send } = service
const { owner } = app.get('database')
const { companyId, admin, member } = await service.company('forgetful')
const other = await service.company('elsewhere')
const path = '/api/v1/privacy/erasures'
const late = { 'x-api-version': '1.1.0' }
const ada = { address: 'ada@lovelace.example', number: '+33612345678', reference: 'C-1042' }
for (const who of [admin, other.admin]) {
  await send('PUT', '/api/v1/company/providers/mailer', { body: { settings: { allowedSenders: ['demo@example.com'] } } }, who)
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, who)
}
await send('GET', '/api/v1/events', {}, admin)
await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'here', url: 'https://hooks.acme.test/' } }, admin)

const mail = (to: string, more: object = {}, query = '', who: Login = admin, headers: Record<string, string> = {}): Promise<Answer> =>
  send('POST', `/api/email${query}`, {
    body: { providerName: 'mailer', email: { from: 'demo@example.com', to, subject: 'Hello', body: `Hello, ${to}.` }, ...more },
    headers: { ...late, ...headers }
  }, who)
const erase = (body: object, who: Login = admin): Promise<Answer> => send('POST', path, { body }, who)
const read = async (id: string, who: Login = admin): Promise<any> => (await send('GET', `${path}/${id}`, {}, who)).body
async function reaches (id: string, ...statuses: string[]): Promise<any> {
  let erasure: any
  await until(`the erasure is ${statuses.join(' or ')}`, async () => statuses.includes((erasure = await read(id)).status))
  return erasure
}

/** Ada's address, number and reference in all writings that are used here, none of which is a part of somebody else's. */
const traces = [/(?<![a-z])ada(?:@|%40)lovelace\.example/i, /6 ?12 ?34 ?56 ?78/, /C-1042(?!\d)/]

/** Where something of Ada stands: in each column of each table that is the company's or nobody's, and in each stored file. */
async function found (): Promise<string[]> {
  const isIn = (text: string): boolean => traces.some((trace) => trace.test(text))
  const { rows: tables } = await sql<{ schema: string, name: string, own: boolean, bytes: string[] }>`
    select table_schema as schema, table_name as name, coalesce(bool_or(column_name = 'company_id'), false) as own,
      coalesce(array_agg(column_name::text) filter (where data_type = 'bytea'), '{}') as bytes
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') group by 1, 2`.execute(owner)
  t.ok(tables.length > 60)
  const places = await Promise.all(tables.map(async ({ schema, name, own, bytes }) => {
    const texts = sql.join([sql`''`, ...bytes.map((column) => sql`encode(${sql.ref(column)}, 'escape')`)])
    const { rows } = await sql<{ row: JsonObject, text: string }>`select to_jsonb(one) as row, concat_ws(' ', ${texts}) as text
      from ${sql.table(`${schema}.${name}`)} as one ${own ? sql`where company_id is null or company_id = ${companyId}` : sql``}`
      .execute(owner)
    const opened = await Promise.all(rows.map(async ({ row, text }) => `${JSON.stringify(await openRow(owner, row))} ${text}`))
    return opened.some(isIn) ? [name] : []
  }))
  const folder = app.get('config').dataDirectory
  const files = await Promise.all((await readdir(folder, { recursive: true })).map(async (name) => {
    const at = join(folder, name)
    // A draft of a file may be renamed meanwhile, and then stands under its own name.
    const bytes = (await stat(at).catch(() => undefined))?.isFile() === true ? await readFile(at).catch(() => undefined) : undefined
    return bytes !== undefined && isIn(`${name} ${bytes.toString('latin1')}`) ? ['a file'] : []
  }))
  return [...new Set([...places, ...files].flat())].toSorted()
}

/** What a vendor says at the address of all companies. */
async function vendorSays (body: string, state = 'applied'): Promise<string> {
  const id = randomUUIDv7()
  await sql`insert into inbound (inbound_id, service, provider_code, digest, body, received_at, state, handled_at)
    values (${id}, 'email', 'mailer', ${id}, ${Buffer.from(body)}, now(), ${state}, case when ${state} <> 'waiting' then now() end)`
    .execute(owner)
  return id
}

/** What has to be there for the tests to begin. */
async function made (answering: Promise<Answer>): Promise<Answer> {
  const answer = await answering
  if (answer.status > 299) throw new Error(JSON.stringify(answer.body))
  return answer
}

/** All that a company can hold about Ada. Answers the ids of the dispatches. */
async function hold (): Promise<{ mailed: string, waiting: string, invoice: string }> {
  const mailed = await made(mail(ada.address, { metadata: { customer: ada.reference } }, '', admin, {
    'x-idempotency-key': `for ${ada.address}`,
    'x-request-id': `to-${ada.reference}-${ada.number.slice(1)}`
  }))
  const invoice = await made(send('POST', '/api/invoicing?async=true', {
    body: invoiceRequest({ notes: 'For ada@lovelace.example' }, { providerName: 'simulator', metadata: { customer: ada.reference } })
  }, admin))
  await made(send('POST', '/api/sms', { body: { providerName: 'simulator', sms: { phoneNumber: ada.number, message: 'Hello' } } }, admin))
  const waiting = await made(mail(ada.address, { sendAt: new Date(Date.now() + 3_600_000).toISOString() }, '?async=true'))
  await until('the invoice is there',
    async () => (await send('GET', `/api/v1/dispatches/${invoice.body.dispatchId}`, {}, admin)).body.status === 'succeeded')
  await sql`insert into events (company_id, dispatch_id, kind, actor, facts, at)
    values (${companyId}, ${invoice.body.dispatchId}, 'webhook', '{"kind":"system"}', ${JSON.stringify({ recipient: ada.address })}, now())`
    .execute(owner)
  const rows = [ada.number, '+33698765432'].map((phoneNumber) =>
    JSON.stringify({ providerName: 'simulator', sms: { phoneNumber, message: 'x' } })
  )
  const { rows: [step] } = await sql<{ remote: string }>`select remote_id as remote from steps
    where dispatch_id = ${mailed.body.dispatchId}`.execute(owner)
  const { remote } = step ?? { remote: '' }
  // Events of others, within whose texts the id stands.
  for (const [id, to] of [[remote, 'eve@lovelace.example'], [`${remote}7`, 'mada@lovelace.example']]) {
    others.push(await vendorSays(JSON.stringify({ id, to })))
  }
  const batch = await made(send('POST', '/api/v1/batches?service=sms&hold=true', {
    body: Buffer.from(rows.join('\n')),
    headers: { 'content-type': 'application/x-ndjson' }
  }, admin))
  await until('the batch is checked',
    async () => (await send('GET', `/api/v1/batches/${batch.body.batchId}`, {}, admin)).body.status === 'paused')
  await made(send('POST', '/api/v1/contacts', { body: { name: 'Ada', email: 'Ada@Lovelace.example' } }, admin))
  const draft = { service: 'sms', request: { sms: { phoneNumber: '+33 6 12 34 56 78' } } }
  await made(send('PUT', `/api/v1/drafts/${randomUUIDv7()}`, { body: draft }, admin))
  await made(send('POST', '/api/v1/files?filename=list.csv', {
    body: Buffer.from(`name;address\nAda;${ada.address}\n`),
    headers: { 'content-type': 'text/csv' }
  }, admin))
  const { body: { id: fileId } } = await made(send('POST', '/api/v1/files?filename=damaged.csv', {
    body: Buffer.from('name;address\nEve;eve@lovelace.example\n'),
    headers: { 'content-type': 'text/csv' }
  }, admin))
  damaged = fileId
  await sql`update files set sha256 = ${'0'.repeat(64)} where file_id = ${fileId}`.execute(owner)
  const rules = '/api/v1/company/approval-rules'
  const rule = await made(send('POST', rules, { body: { name: 'All', services: ['sms'] } }, admin))
  const requested = { providerName: 'simulator', sms: { phoneNumber: ada.number, message: 'Wait' } }
  await made(send('POST', '/api/sms', { body: requested, headers: { ...late, 'x-idempotency-key': `asked for ${ada.address}` } }, member))
  await made(send('DELETE', `${rules}/${rule.body.id}`, {}, admin))
  const suppression = { channel: 'sms', address: ada.number, note: `Asked for by ${ada.address}` }
  const { body: first } = await send('POST', '/api/v1/suppressions', { body: suppression }, admin)
  await send('DELETE', `/api/v1/suppressions/${first.id}?why=${encodeURIComponent(`told by ${ada.address}`)}`, {}, admin)
  await made(send('POST', '/api/v1/suppressions', { body: suppression }, admin))
  // What vendors and their adapters say, and assistants.
  await vendorSays(`{"id":"${remote}","to":"${ada.address}"}`)
  await sql`insert into inbound (inbound_id, service, provider_code, company_id, digest, body, received_at, state, handled_at)
    values (${randomUUIDv7()}, 'email', 'mailer', ${companyId}, 'x', ${Buffer.from(`to=ada%40lovelace.example`)}, now(), 'kept', now())`
    .execute(owner)
  await sql`insert into provider_state (company_id, provider_code, key, value, updated_at)
    values (${companyId}, 'mailer', ${`customer:${ada.address}`}, '1', now())`.execute(owner)
  await sql`insert into proposals (proposal_id, company_id, user_id, service, request, created_at, expires_at)
    select ${randomUUIDv7()}, ${companyId}, min(user_id), 'email', ${JSON.stringify({ email: { to: ada.address } })}, now(), now()
    from users where company_id = ${companyId}`.execute(owner)
  await sql`insert into exchange_log (entry_id, company_id, dispatch_id, service, provider, outcome, exchanges)
    values (${randomUUIDv7()}, ${companyId}, ${mailed.body.dispatchId}, 'email', 'mailer', 'accepted',
      ${JSON.stringify([{ body: ada.address }])})`.execute(owner)
  return { mailed: mailed.body.dispatchId, waiting: waiting.body.dispatchId, invoice: invoice.body.dispatchId }
}

const others: string[] = []
let damaged = ''
const held = await hold()
const bob = (await mail('bob@lovelace.example', { metadata: { customer: 'C-10421' } })).body
const mada = (await mail('mada@lovelace.example')).body
const elsewhere = (await mail(ada.address, {}, '', other.admin)).body
const dispatchOf = async (id: string, who: Login = admin): Promise<any> =>
  (await send('GET', `/api/v1/dispatches/${id}`, { headers: late }, who)).body

await t.test('what is held about a person is handed over, of the person alone, and the audit log says so', async (t) => {
  const { status, headers, body } = await send('POST', '/api/v1/privacy/exports', { body: ada }, admin)
  t.equal(status, 200)
  has(t, Object.fromEntries(headers), { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  const lines = String(body).trim().split('\n').map((line) => JSON.parse(line))
  const { kind, counts } = lines.at(-1)
  t.equal(kind, 'end')
  has(t, counts, { dispatches: 4, contacts: 1, drafts: 1, proposals: 1, approvals: 1, files: 1, suppressions: 1, vendorEvents: 1 })
  t.ok(lines.find(({ id }) => id === held.invoice)?.data.documents.length > 0, 'with its documents')
  lacks(t, String(body), bob.dispatchId)
  lacks(t, String(body), mada.dispatchId, 'an address within a longer one is somebody else’s')
  lacks(t, String(body), elsewhere.dispatchId)
  has(t, (await send('POST', '/api/v1/privacy/exports', { body: ada }, other.admin)).body, /"dispatches":1/)
  const { body: { data: [entry] } } = await send('GET', '/api/v1/audit?action=person.exported', {}, admin)
  has(t, entry, { facts: { person: /^[0-9a-f]{32}$/ } })
})

await t.test('counting changes nothing; what is counted is begun by whoever has seen it', async (t) => {
  const before = await found()
  const requested = await erase({ ...ada, countFirst: true })
  has(t, requested, { status: 202, body: { status: 'counting', by: ['address', 'number', 'reference'], begunAt: null, finishedAt: null } })
  const counted = await reaches(requested.body.id, 'counted')
  has(t, counted, { counts: { dispatches: 4, contacts: 1, batchRows: 1, files: 1 }, waiting: 0 })
  t.strictSame(await found(), before)
  has(t, await send('GET', `${path}/${requested.body.id}/receipt`, {}, admin), { status: 409, body: { error: 'conflict' } })
  t.equal((await read(requested.body.id, other.admin)).error, 'not_found')
})

await t.test('nothing is left of who is erased, in no table and no file: what runs ends first, what waits is not sent', async (t) => {
  // Each of these holds something before; a table that is not here cannot prove anything.
  const places = ['a file', 'approvals', 'audit', 'batch_rows', 'callbacks_to_endpoints', 'contacts', 'dispatches', 'drafts', 'events',
    'exchange_log', 'feed_events', 'idempotency_keys', 'inbound', 'outbox', 'proposals', 'provider_state', 'steps', 'suppressions']
  t.strictSame(await found(), places)
  answered = Promise.withResolvers<undefined>()
  const before = sent.length
  const running = mail(ada.address)
  await until('it is under way', () => sent.length > before)
  const { body: { data: [{ id }] } } = await send('GET', path, {}, admin)
  has(t, await send('POST', `${path}/${id}/begin`, {}, admin), { status: 202, body: { status: 'running' } })
  await until('all the rest is erased', async () => (await read(id)).waiting > 0)
  has(t, await send('POST', `${path}/${id}/begin`, {}, admin), { status: 409, body: { error: 'conflict' } })
  const keys = (): Promise<unknown[]> =>
    sql`select from idempotency_keys where key = ${`for ${ada.address}`}`.execute(owner)
      .then(({ rows }) => rows)
  t.equal((await keys()).length, 1, 'a request that is repeated is not sent again')
  await sql`update dispatches set finished_at = finished_at - interval '25 hours' where dispatch_id = ${held.mailed}`.execute(owner)
  answered.resolve(undefined)
  const { status, body: { dispatchId } } = await running
  t.equal(status, 200, 'what runs ends')
  const finished = await reaches(id, 'finished')
  t.strictSame(await found(), [])
  has(t, finished, {
    waiting: 0,
    counts: {
      dispatches: 5,
      contacts: 1,
      drafts: 1,
      proposals: 1,
      approvals: 1,
      files: 1,
      suppressions: 1,
      vendorEvents: 1,
      idempotencyKeys: 1,
      auditTexts: 1
    }
  })
  t.equal(sent.length, before + 1, 'what waited was not sent')
  const { rows: reported } = await sql<{ length: number }>`select length(body) from inbound where inbound_id = any (${others}::uuid[])`
    .execute(owner)
  t.ok(reported.length === 2 && reported.every(({ length }) => length > 0), 'vendors’ events of others stay')
  const { rows: files } = await sql`select from files where file_id = ${damaged} and removed_at is null`.execute(owner)
  t.equal(files.length, 1, 'a file that cannot be read is nobody’s')
  has(t, (await send('GET', '/api/v1/approvals', {}, admin)).body, { data: [{ status: 'withdrawn', service: 'sms' }] })
  has(t, await dispatchOf(held.waiting), { status: 'cancelled' })
  for (const one of [held.mailed, held.invoice, dispatchId]) {
    has(t, await dispatchOf(one), {
      status: 'succeeded',
      metadata: {},
      steps: [{ status: 'accepted', providerResponse: { id: 'erased' } }]
    })
    t.notOk('recipient' in await dispatchOf(one))
  }
  t.equal((await dispatchOf(held.invoice)).creditsCharged, 1, 'what it cost stays')
  t.equal((await send('GET', `/api/v1/dispatches/${held.mailed}/events`, {}, admin)).status, 200)
  has(t, await send('POST', `/api/v1/dispatches/${held.mailed}/retry`, {}, admin), { status: 409 })
})

await t.test('others are as they were; a suppression still stops what is sent', async (t) => {
  for (const [{ dispatchId }, customer] of [[bob, 'C-10421'], [mada, undefined]] as const) {
    const { metadata, recipient } = await dispatchOf(dispatchId)
    t.equal(metadata.customer, customer)
    matches(t, recipient, /@lovelace/)
  }
  has(t, await dispatchOf(elsewhere.dispatchId, other.admin), { recipient: ada.address }, 'another company asks for itself')
  const text = { providerName: 'simulator', sms: { phoneNumber: ada.number, message: 'Hello' } }
  has(t, await send('POST', '/api/sms', { body: text, headers: late }, admin), { status: 422, body: { error: 'suppressed' } })
  const { body: { data: [{ address, note }] } } = await send('GET', '/api/v1/suppressions?channel=sms', {}, admin)
  matches(t, address, /^erased:[0-9a-f]{64}$/)
  t.equal(note, null)
  const { body: { data: [{ counts }] } } = await send('GET', '/api/v1/batches', {}, admin)
  has(t, counts, { total: 2, waiting: 1, cancelled: 1 }, 'the row to somebody else still waits')
})

await t.test('files that went to the person alone are found by what is sealed of their dispatches, and erased', async (t) => {
  const { admin: sender } = await service.company('attaching')
  await made(send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['demo@example.com'] } } }, sender))
  // None of them says in what is not sealed who it is about, and the files are bytes.
  const mails: [name: string, ...mails: object[]][] = [
    ['second', { to: ['carl@lovelace.example', ada.address] }],
    ['reference', { to: 'carl@lovelace.example', subject: ada.reference }],
    ['telephone', { to: 'carl@lovelace.example', body: `Call ${ada.number}.` }],
    ['others', { to: ['carl@lovelace.example', ada.address] }, { to: 'carl@lovelace.example' }],
    ['nobody', { to: 'carl@lovelace.example', subject: `${ada.reference}1` }]
  ]
  const ids = new Map<string, string>()
  for (const [name, ...sent] of mails) {
    const { body: { id } } = await made(send('POST', `/api/v1/files?filename=${name}.pdf`, {
      body: Buffer.from(`%PDF-1.7\n%${'\u0000'.repeat(20)}\n%%EOF\n`),
      headers: { 'content-type': 'application/pdf' }
    }, sender))
    ids.set(id, name)
    for (const one of sent) {
      const email = { from: 'demo@example.com', subject: 'Hello', body: 'Hello', attachments: [{ fileId: id }], ...one }
      await made(send('POST', '/api/email', { body: { providerName: 'simulator', email }, headers: late }, sender))
    }
  }
  const { body: { id } } = await made(erase(ada, sender))
  let erasure: any
  await until('it is finished', async () => (erasure = await read(id, sender)).status === 'finished')
  has(t, erasure.counts, { dispatches: 4, files: 3 })
  const { body: { data } } = await send('GET', '/api/v1/files', {}, sender)
  t.strictSame(data.map(({ id: left }: any) => ids.get(left)).toSorted(), ['nobody', 'others'])
})

await t.test('the receipt is proved by its digest, which the audit log has, and names nobody', async (t) => {
  const { body: { data: [{ id, person }] } } = await send('GET', path, {}, admin)
  const { body: { receipt, sha256 } } = await send('GET', `${path}/${id}/receipt`, {}, admin)
  t.equal(sha256, createHash('sha256').update(receipt).digest('hex'))
  has(t, JSON.parse(receipt), { erasureId: id, companyId, person, counts: { dispatches: 5 } })
  const { body: { data } } = await send('GET', `/api/v1/audit?object=erasure/${id}`, {}, admin)
  has(t, data, [
    { action: 'erasure.finished', facts: { person, sha256 } },
    { action: 'erasure.started', facts: { person } },
    { action: 'erasure.counted', facts: { person } }
  ])
  lacks(t, JSON.stringify(data), 'ada@')
  const { rows: [row] } = await sql<{ subject: unknown, author: unknown }>`select subject, author from erasures where erasure_id = ${id}`
    .execute(owner)
  has(t, row, { subject: null, author: null })
})

await t.test('words of ours are no reference to anybody, and only what waits is cancelled', async (t) => {
  for (const reference of ['mailer', 'simulator', 'succeeded', 'POST', 'admin']) {
    const { body } = await send('POST', '/api/v1/privacy/exports', { body: { reference } }, admin)
    t.equal(body, '{"kind":"end","counts":{}}\n', reference)
  }
  const { user_id: userId } = await owner.selectFrom('users').select('user_id').where('email', '=', admin.email).executeTakeFirstOrThrow()
  const actor = { userId, companyId, email: '', role: 'admin' as const, services: ['*'] }
  await t.rejects(app.get('pipeline').cancel({ actor, author: actor, dispatchId: bob.dispatchId, onlyQueued: true } as any), {
    message: /only one of which nothing has begun/
  })
})

await t.test('who names nobody is told so, and so is who may not', async (t) => {
  for (const [body, problem] of [
    [{}, { path: '', code: 'required' }],
    [{ address: 'ada' }, { path: '/address', code: 'format' }],
    [{ number: '0612345678' }, { path: '/number', code: 'format' }],
    [{ reference: 'email' }, { path: '/reference', code: 'format' }],
    [{ address: ada.number }, { path: '/address', code: 'format' }]
  ] as const) {
    has(t, await erase(body), { status: 422, body: { error: 'validation_failed', details: [problem] } })
    has(t, await send('POST', '/api/v1/privacy/exports', { body }, admin), { status: 422 })
  }
  for (const body of [{ reference: 'EUR' }, { address: 7 }, { name: 'Ada' }]) t.equal((await erase(body)).status, 400)
  t.equal((await erase(ada, member)).status, 403)
  t.equal((await send('GET', path, {}, member)).status, 403)
  t.equal((await send('POST', '/api/v1/privacy/exports', { body: ada }, member)).status, 403)
  for (const way of ['', '/receipt']) t.equal((await send('GET', `${path}/${randomUUIDv7()}${way}`, {}, admin)).status, 404)
  t.equal((await send('POST', `${path}/${randomUUIDv7()}/begin`, {}, admin)).status, 404)
})

await t.test('an erasure that breaks off in the middle of a step goes on, and counts nothing twice', async (t) => {
  // Nobody else does its steps.
  const { app, send, company } = await startService(t, { config: { runsWorker: false } })
  const { admin } = await company('breaking')
  for (const name of ['one', 'two']) {
    await send('PUT', `/api/v1/drafts/${randomUUIDv7()}`, { body: { service: 'sms', request: { name, to: 'eve@lovelace.example' } } },
      admin)
    await send('POST', '/api/v1/contacts', { body: { name, email: 'eve@lovelace.example' } }, admin)
  }
  const holders = app.find(personHolders)
  const broken = new Set(holders.map(({ kind }) => kind))
  /** Each holder breaks once, after it has erased and before that is committed. */
  const breaking = holders.map((holder) => ({
    ...holder,
    async erase (...given: Parameters<typeof holder.erase>) {
      const erased = await holder.erase(...given)
      if (broken.delete(holder.kind)) throw new Error('The process ends here.')
      return erased
    }
  }))
  const database = app.get('database')
  const step = createErasureStep({
    database,
    keyring: app.get('keyring'),
    holders: breaking,
    log: app.get('log'),
    newId: randomUUIDv7,
    now: () => new Date()
  })
  const { body: { id } } = await send('POST', path, { body: { address: 'eve@lovelace.example' } }, admin)
  let failures = 0
  for (let steps = 0; steps < 4 * holders.length; steps++) {
    // As if its process had ended so long ago that another one may go on.
    await sql`update erasures set next_at = now() where status = 'running'`.execute(database.owner)
    await step().catch(() => failures++)
  }
  t.equal(failures, 2, 'drafts, and contacts')
  has(t, await send('GET', `${path}/${id}`, {}, admin), { body: { status: 'finished', counts: { drafts: 2, contacts: 2 } } })
})

await t.test('a company has 50 erasures at most that are under way; those that were only counted are none of them', async (t) => {
  const busy = await service.company('busy')
  await sql`insert into erasures (erasure_id, company_id, user_id, status, identified_by, person, created_at)
    select gen_random_uuid(), ${busy.companyId}, min(user_id), 'counting', '{address}', '', now() from users, generate_series(1, ${maxOpen})
    where company_id = ${busy.companyId} group by generate_series`.execute(owner)
  has(t, await erase(ada, busy.admin), { status: 429, body: { error: 'rate_limited' } })
  await sql`update erasures set status = 'counted' where company_id = ${busy.companyId}`.execute(owner)
  t.equal((await erase(ada, busy.admin)).status, 202)
})

await t.test('an export leaves its place where its client is gone before it reads, or does not read on', async (t) => {
  const { user_id: userId } = await owner.selectFrom('users').select('user_id').where('email', '=', admin.email).executeTakeFirstOrThrow()
  const author = { userId, companyId, address: '127.0.0.1', requestId: 'exporting' }
  const gone = new AbortController()
  const begin = (signal = gone.signal) => app.find(erasures).export(author, { address: ada.address }, signal)
  const lines = await begin()
  await t.rejects(begin(), { message: /under way/ })
  gone.abort()
  await t.rejects(begin(), { name: 'AbortError' })
  await (await begin(new AbortController().signal)).next()
  const cut = Promise.withResolvers<undefined>()
  await asNdjson(lines, 1, () => {
    cut.resolve(undefined)
  }).next()
  await cut.promise
})

await t.test('what is left of a callback that is still to be sent stands sealed, as it did before', async (t) => {
  const { companyId, admin } = await service.company('still-told')
  await made(send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, admin))
  await made(send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'here', url: 'https://hooks.acme.test/' } }, admin))
  const message = { providerName: 'simulator', sms: { phoneNumber: ada.number, message: 'Hello' } }
  const { body: { dispatchId } } = await made(send('POST', '/api/sms?async=true', { body: message }, admin))
  const bodies = () =>
    sql<{ body: string }>`select body from outbox where dispatch_id = ${dispatchId} and state = 'pending' and body is not null`
      .execute(owner).then(({ rows }) => rows.map((one) => one.body))
  await until('its receiver is to be told', async () => (await bodies()).length > 0)
  const { body: { id } } = await made(erase(ada, admin))
  await until('it is erased', async () => (await read(id, admin)).status === 'finished')
  const { rows } = await sql<{ stored: string }>`select body as stored from outbox
    where company_id = ${companyId} and dispatch_id = ${dispatchId} and state = 'pending'`.execute(owner)
  t.ok(rows.length > 0)
  for (const { stored } of rows) {
    matches(t, stored, /^\{"sealed:1":/)
    const opened = String(await openText(owner, stored))
    contains(t, opened, dispatchId)
    lacks(t, opened, ada.number)
    t.equal(typeof (JSON.parse(opened) as JsonObject)['sequence'], 'number')
  }
})

await t.test('whom no letter is sent is found by the address of the list, however long that is', async (t) => {
  const { admin } = await service.company('letters')
  for (const [street, longer] of [['Long Street of the Analytical Engines ', 300], ['테헤란로', 700]] as const) {
    const written = `Ada Lovelace, ${street.repeat(Math.floor(390 / street.length))} 12, 75002 Paris, FR`
    const of = { channel: 'postal', address: written }
    const { body: { address } } = await made(send('POST', '/api/v1/suppressions', { body: of }, admin))
    t.ok(address.length > longer, String(address.length))
    const { body: { id } } = await made(erase({ reference: address }, admin))
    await until('it is erased', async () => (await read(id, admin)).status === 'finished')
    const { body: { data } } = await send('GET', '/api/v1/suppressions', {}, admin)
    for (const { address: left } of data) matches(t, left, /^erased:[0-9a-f]+$/)
  }
  t.equal((await erase({ reference: 'x'.repeat(2_101) }, admin)).status, 400)
})

await t.test('after a data key is lost, what stands elsewhere is exported and erased, and what nobody can open with it', async (t) => {
  const { companyId, admin } = await service.company('lost')
  const warned: string[] = []
  const note = ({ name }: Error): unknown => warned.push(name)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  await made(send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, admin))
  await made(send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'here', url: 'https://hooks.acme.test/' } }, admin))
  const message = { providerName: 'simulator', sms: { phoneNumber: ada.number, message: 'Hello' } }
  const { body: { dispatchId } } = await made(send('POST', '/api/sms?async=true', { body: message }, admin))
  await made(send('PUT', `/api/v1/drafts/${randomUUIDv7()}`, { body: { service: 'sms', request: message } }, admin))
  const bodies = () =>
    sql<{ state: string, is_there: boolean }>`select state, body is not null as is_there from outbox
      where dispatch_id = ${dispatchId}`.execute(owner).then(({ rows }) => rows)
  await until('its receiver is to be told', async () => (await bodies()).some((one) => one.is_there))
  await made(send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['demo@example.com'] } } }, admin))
  const { body: { dispatchId: mailed } } = await made(mail('eve@example.com', { providerName: 'simulator' }, '', admin))
  await app.get('dataKeys')?.shred(companyId)
  t.equal((await send('POST', '/api/v1/privacy/exports', { body: ada }, admin)).status >= 500, true, 'a key that may come back')
  t.strictSame(warned, [], 'an answer whose stream fails has no more listeners than others')
  t.strictSame(await renewDataKeys(app.get('database'), { place: createLocalFiles(join(dataDirectory, 'keys')) }), [companyId])
  // Whom an event is about that comes now nobody knows any more.
  await made(send('POST', '/api/v1/simulator/events', { body: { dispatchId: mailed, status: 'bounced' } }, admin))
  await until('the event is handled', async () => {
    const { body } = await send('GET', `/api/v1/dispatches/${String(mailed)}/events`, {}, admin)
    return body.data.some(({ facts }: any) => facts.status === 'bounced')
  })
  t.same((await send('GET', '/api/v1/suppressions', {}, admin)).body.data, [])
  const exported = String((await send('POST', '/api/v1/privacy/exports', { body: ada }, admin)).body)
  contains(t, exported, dispatchId)
  contains(t, exported, 'sealed under a data key that is lost')
  matches(t, exported, /"dispatches":1/)
  const { body: { id } } = await made(erase(ada, admin))
  await until('it is erased', async () => (await read(id, admin)).status === 'finished')
  t.notOk('recipient' in await dispatchOf(dispatchId, admin))
  const emptied = await bodies()
  t.ok(emptied.length > 0 && emptied.every(({ is_there: isThere, state }) => !isThere && state !== 'pending'))
})

await t.test('the console counts first, asks with what was found, and shows the receipt', async (t) => {
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn(other.admin)
  contains(t, (await open('/privacy', cookie)).body, en.privacyNone)
  const wrong = await post('/privacy', { number: 'none' }, cookie)
  t.equal(wrong.status, 422)
  contains(t, wrong.body, 'value="none"')
  const file = await post('/privacy/export', { address: ada.address }, cookie)
  t.equal(file.status, 200)
  contains(t, file.body, elsewhere.dispatchId)
  const counting = await post('/privacy', { address: ada.address }, cookie)
  t.equal(counting.status, 303)
  const [, id = ''] = /\/privacy\/([\w-]{36})/.exec(String(counting.headers.get('location'))) ?? []
  await until('it is counted', async () => (await read(id, other.admin)).status === 'counted')
  contains(t, (await open(`/privacy/${id}`, cookie)).body, en.privacyBegin)
  const asks = await post(`/privacy/${id}/begin`, {}, cookie)
  t.equal(asks.status, 200)
  contains(t, asks.body, en.privacyBeginAsk)
  contains(t, asks.body, `<dt>${en.privacyKind_dispatches}</dt><dd>1</dd>`)
  t.equal((await read(id, other.admin)).status, 'counted')
  t.equal((await post(`/privacy/${id}/begin`, { ':confirmed': 'true' }, cookie)).status, 303)
  await until('it is finished', async () => (await read(id, other.admin)).status === 'finished')
  contains(t, (await open(`/privacy/${id}`, cookie)).body, en.privacyReceipt)
  contains(t, (await open('/privacy', cookie)).body, en.privacyIs_finished)
  t.equal((await open(`/dispatches/${String(elsewhere.dispatchId)}`, cookie)).status, 200)
})

await t.test('admins say for how many days data are kept, at most as many as the operator', async (t) => {
  const at = '/api/v1/company/retention'
  const services = { [keptServices[0] ?? '']: 7 }
  has(t, (await send('GET', at, {}, admin)).body, { operatorDays: 90, days: null, services: {}, inEffect: { email: 90 } })
  for (const [body, paths] of [[{ days: 91 }, ['/days']], [{ days: 90, services: { email: 400, sms: 90 } }, [
    '/services/email'
  ]]] as const) {
    has(t, await send('PUT', at, { body }, admin), {
      status: 422,
      body: { error: 'validation_failed', details: paths.map((one) => ({ path: one, code: 'longer_than_operator', message: /90 days/ })) }
    })
  }
  for (const body of [{ days: 0 }, { days: 1.5 }, { days: '7' }, { services: { fax: 7 } }, { day: 7 }, []]) {
    t.equal((await send('PUT', at, { body }, admin)).body.error, 'validation_error', JSON.stringify(body))
  }
  t.equal((await send('PUT', at, { body: { days: 7 } }, member)).status, 403)
  t.equal((await send('GET', at, {}, member)).status, 403)
  has(t, await send('PUT', at, { body: { days: 30, services } }, admin), {
    status: 200,
    body: { days: 30, services, inEffect: { ...services, upload: 30 } }
  })
  has(t, (await send('GET', at, {}, other.admin)).body, { days: null, services: {} }, 'nobody else’s')
  const { body: { data: [line] } } = await send('GET', '/api/v1/audit?action=retention.changed', {}, admin)
  has(t, line, { facts: { days: 30, ...services } })
  await send('PUT', at, { body: { days: 2 } }, admin)
  has(t, (await send('GET', at, {}, admin)).body, { days: 2, services: {} }, 'it replaces what was set')
  await send('PUT', at, { body: {} }, admin)
  has(t, (await send('GET', at, {}, admin)).body, { days: null, inEffect: { email: 90 } })
})

await t.test('where the operator keeps data for less long than a company has said, that counts', async (t) => {
  const database = app.get('database')
  await send('PUT', '/api/v1/company/retention', { body: { days: 30 } }, admin)
  const shorter = createRetentions({ database, operatorDays: 20, now: () => new Date() })
  has(t, await shorter.read(companyId), { operatorDays: 20, days: 30, inEffect: { email: 20, sms: 20 } })
  await send('PUT', '/api/v1/company/retention', { body: {} }, admin)
})

await t.test('the console says how long data are kept, and asks before it deletes sooner', async (t) => {
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn(other.admin)
  for (const page of ['/privacy', '/company']) contains(t, (await open(page, cookie)).body, '/console/privacy/retention', page)
  const asks = await post('/privacy/retention', { days: '30', sms: '7' }, cookie)
  contains(t, asks.body, en.retentionAsk)
  t.same((await send('GET', '/api/v1/company/retention', {}, other.admin)).body.days, null, 'nothing was done by asking')
  const set = await post('/privacy/retention', { days: '30', sms: '7', ':confirmed': 'true' }, cookie)
  t.equal(set.status, 303)
  contains(t, (await open('/privacy/retention?saved=1', cookie)).body, en.retentionSaved)
  has(t, (await send('GET', '/api/v1/company/retention', {}, other.admin)).body, { days: 30, services: { sms: 7 } })
  const wrong = await post('/privacy/retention', { days: 'ten', sms: '91', ':confirmed': 'true' }, cookie)
  t.equal(wrong.status, 400)
  contains(t, wrong.body, 'value="ten"')
  const longer = await post('/privacy/retention', { days: '', sms: '91', ':confirmed': 'true' }, cookie)
  t.equal(longer.status, 422)
  contains(t, longer.body, 'say as many or fewer')
})
