import { createLocalFiles, type FileStore } from '@dispatch/files'
import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { insertRequests } from '../../../core/packages/accounts/store/request-log.ts'
import { documentLastsUntil, listRetentionRules, setRetention } from '../../../core/packages/accounts/store/retention-rules.ts'
import type { Retention } from '../../../core/packages/contract/retention.ts'
import { idAt } from '../../../core/packages/database/id-times.ts'
import { dispatchRows } from '../../../core/packages/features/callbacks/store/dispatch-rows.ts'
import { desk } from '../../../core/packages/features/callbacks/test/support.ts'
import { findIdempotencyKey } from '../../../core/store/dispatch/dispatch-views.ts'
import { openDispatch } from '../../../core/store/dispatch/dispatches.ts'
import { insertExchanges, listExchanges } from '../../../core/store/dispatch/exchanges.ts'
import { forgetRequests } from '../../../core/store/dispatch/retention.ts'
import { beginAttempt, settleStep } from '../../../core/store/dispatch/steps.ts'
import { createRetention } from '../../../core/work/retention.ts'
import { memoryLog } from '../../fixtures/providers/call.ts'
import { directory } from '../../fixtures/providers/folders.ts'
import { dump } from '../../hostile/support.ts'
import { contains, has } from '../../support/matching.ts'
import { startService } from '../../support/service.ts'
import { until } from './support.ts'

const folder = await directory(t)
const { database, databaseUrl, clock, company, note, process: open } = await desk(t)
const files = createLocalFiles(folder)
const day = 24 * 3_600_000
const now = () => new Date(clock.time)

type Kept = { dispatchId: string, documentId: string, storageKey: string }

/** A dispatch of now that has a document and has used everything. */
async function kept (
  { companyId, userId }: { companyId: number, userId: number },
  { key, ended = true }: { key?: string, ended?: boolean } = {}
): Promise<Kept> {
  const [dispatchId, stepId, documentId, runId] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7(), randomUUIDv7()]
  const storageKey = `documents/${String(companyId)}/${now().toISOString().slice(0, 10)}/${documentId}`
  await files.put(storageKey, Buffer.from('%PDF'))
  await openDispatch(database, {
    dispatchId,
    companyId,
    actor: { kind: 'user', userId },
    requestId: 'r',
    services: ['sms'],
    metadata: { note: 'kept' },
    recipient: 'Ada',
    steps: [{
      stepId,
      service: 'sms',
      by: { code: 'simulator', version: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false },
      fields: { message: 'canary-fields' },
      requestSettings: { a: 'canary-settings' },
      template: { template: { id: 1, version: 1 }, data: { secret: 'canary-data' } },
      price: 1
    }],
    ...(key === undefined ? {} : { idempotency: { key, fingerprint: 'f' } })
  }, { lease: { runId, seconds: 15 } })
  const document = {
    documentId,
    filename: 'F-1.pdf',
    contentType: 'application/pdf',
    size: 4,
    sha256: '0'.repeat(64),
    storageKey,
    expiresAt: new Date(clock.time + 30 * day)
  }
  await beginAttempt(database, {
    companyId,
    dispatchId,
    stepId,
    runId,
    provider: { code: 'simulator', version: '1.0.0' },
    document,
    made: { text: 'canary-made' }
  })
  if (ended) {
    await settleStep(database, { companyId, dispatchId, stepId, runId, actor: { kind: 'system' } }, {
      outcome: 'accepted',
      response: { id: 'remote-1', status: 'sent' }
    }, { status: 'succeeded' })
  }
  return { dispatchId, documentId, storageKey }
}

/** Runs the job, and those that it asks for, until nothing is left; answers how many there were. */
async function retain (options: { batch?: number, files?: Pick<FileStore, 'remove' | 'list'>, forgetMonths?: number } = {}): Promise<
  number
> {
  let runs = 0
  let waiting: readonly unknown[] = [{}]
  const queue = {
    send: (_name: string, jobs: readonly unknown[]) => {
      waiting = jobs
      return Promise.resolve()
    }
  }
  while (waiting.length > 0) {
    waiting = []
    runs++
    await createRetention({
      database,
      queue,
      files,
      retentionDays: 90,
      dispatchRows: [dispatchRows],
      log: memoryLog(),
      batch: 1_000,
      ...options
    })()
  }
  return runs
}

const lies = ({ storageKey }: Kept): boolean => existsSync(join(folder, storageKey))
const documentOf = ({ documentId }: Kept) =>
  database.owner.selectFrom('documents').selectAll().where('document_id', '=', documentId).executeTakeFirstOrThrow()

await t.test('the bytes of a document are gone after its thirty days; its row says what it was', async (t) => {
  const document = await kept(await company())
  clock.time += 30 * day - 1
  await retain()
  t.ok(lies(document))
  has(t, await documentOf(document), { removed_at: null })
  clock.time += 2
  await retain()
  t.notOk(lies(document))
  has(t, await documentOf(document), { filename: 'F-1.pdf', removed_at: now() })
})

await t.test('what was asked for is forgotten after ninety days; ledger, timeline and metadata stay', async (t) => {
  const owner = await company()
  const { dispatchId } = await kept(owner)
  const url = 'https://hooks.acme.test/'
  await note({ companyId: owner.companyId, dispatchId, url })
  await database.owner.updateTable('outbox').set({ state: 'delivered', next_at: null }).where('dispatch_id', '=', dispatchId).execute()
  const waiting = await note({ companyId: owner.companyId, dispatchId, url })
  const running = await kept(owner, { ended: false })
  const service = { get: () => ({ owner: database.owner }) } as never
  const before = await dump(service, owner.companyId)
  clock.time += 90 * day - 1
  await retain()
  contains(t, JSON.stringify(await dump(service, owner.companyId)), /canary-data.*canary-settings/)
  clock.time += 2
  await retain()
  const after = await dump(service, owner.companyId)
  for (const table of ['ledger', 'events', 'credits', 'callback_attempts']) t.same(after[table], before[table], table)
  const dispatches = await database.owner.selectFrom('dispatches').selectAll().where('company_id', '=', owner.companyId).orderBy(
    'created_at'
  ).orderBy('dispatch_id').execute()
  has(t, dispatches, [
    { dispatch_id: dispatchId, data: null, metadata: { note: 'kept' }, recipient: 'Ada', status: 'succeeded' },
    { dispatch_id: running.dispatchId, data: { secret: 'canary-data' } }
  ], 'not of one that is under way')
  const steps = await database.owner.selectFrom('steps').selectAll().where('dispatch_id', '=', dispatchId).execute()
  has(t, steps, [{ fields: {}, request_settings: {}, made: null, response: { id: 'remote-1' }, charged: 1 }])
  t.strictSame([steps[0]?.fields, steps[0]?.request_settings], [{}, {}])
  const callbacks = await database.owner.selectFrom('outbox').selectAll().where('dispatch_id', '=', dispatchId).orderBy('sequence')
    .execute()
  has(t, callbacks, [{ state: 'delivered', body: null }, { callback_id: waiting, state: 'pending', body: /sequence/ }],
    'nor what is still to be sent')
  await t.rejects(open({}).replay(owner, callbacks[0]!.callback_id), {
    word: 'conflict',
    message: 'The callback was sent so long ago that its body is no longer kept; read the dispatch with GET /api/v1/dispatches/{id}.'
  })
})

await t.test('a request leaves the log after seven days, the body of a callback to an endpoint after ninety', async (t) => {
  const { companyId } = await company()
  const endpointId = randomUUIDv7()
  await insertRequests(database, [{
    entry_id: idAt(clock.time),
    company_id: companyId,
    user_id: 1,
    impersonator_id: null,
    key_id: null,
    request_id: 'old',
    method: 'GET',
    route: '/',
    path: '/',
    status: 200,
    error: null,
    milliseconds: 1,
    address: '',
    test: false
  }])
  await insertExchanges(database, [{
    entry_id: idAt(clock.time),
    company_id: companyId,
    dispatch_id: endpointId,
    service: 'sms',
    provider: 'twilio',
    outcome: 'accepted',
    exchanges: []
  }])
  await sql`insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
    values (${endpointId}, ${companyId}, '', '', true, '[]', ${now()})`.execute(database.owner)
  await sql`insert into outbox (callback_id, company_id, endpoint_id, type, sequence, receiver, body, state, created_at)
    values (${endpointId}, ${companyId}, ${endpointId}, 'company.credits_low', 1, '', '{}', 'delivered', ${now()})`.execute(database.owner)
  await database.owner.insertInto('feed_events').values({ company_id: companyId, position: null, body: '{}', created_at: now() }).execute()
  const fed = () => database.owner.selectFrom('feed_events').select('body').where('company_id', '=', companyId).execute()
  const logged = () => database.owner.selectFrom('request_log').select('request_id').where('company_id', '=', companyId).execute()
  const called = async () => (await listExchanges(database, companyId, endpointId, { limit: 10 })).length
  const bodies = () => database.owner.selectFrom('outbox').select('body').where('company_id', '=', companyId).execute()
  clock.time += 7 * day - 1
  await retain()
  t.strictSame(await logged(), [{ request_id: 'old' }])
  t.equal(await called(), 1)
  clock.time += 2
  await retain()
  t.strictSame(await logged(), [])
  t.equal(await called(), 0)
  t.strictSame(await bodies(), [{ body: '{}' }])
  clock.time += 23 * day - 2
  await retain()
  t.strictSame(await fed(), [{ body: '{}' }])
  clock.time += 2
  await retain()
  t.strictSame(await fed(), [])
  clock.time += 60 * day
  await retain()
  t.strictSame(await bodies(), [{ body: null }])
})

/** Stores for how many days a company keeps its data. */
const keep = (companyId: number, days: number | null, services: Retention['services'] = {}) =>
  database.company(companyId, (queries) => setRetention(queries, companyId, { days, services }))

/** Whether the data of a request are still there. */
async function holds ({ dispatchId }: Kept): Promise<boolean> {
  const { data } = await database.owner.selectFrom('dispatches').select('data').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  const { fields } = await database.owner.selectFrom('steps').select('fields').where('dispatch_id', '=', dispatchId)
    .executeTakeFirstOrThrow()
  return data !== null && Object.keys(fields).length > 0
}

await t.test('what a company keeps for fewer days goes sooner, with its file, and nobody else’s does', async (t) => {
  const [owner, other] = [await company(), await company()]
  await keep(owner.companyId, 7)
  const [mine, theirs] = [await kept(owner), await kept(other)]
  await note({ companyId: owner.companyId, dispatchId: mine.dispatchId, url: 'https://hooks.acme.test/' })
  await database.owner.updateTable('outbox').set({ state: 'delivered', next_at: null }).where('company_id', '=', owner.companyId)
    .execute()
  const inboundId = randomUUIDv7()
  await database.owner.insertInto('inbound').values({
    inbound_id: inboundId,
    service: 'sms',
    provider_code: 'seal-one',
    company_id: owner.companyId,
    digest: inboundId,
    body: Buffer.from('canary-event'),
    received_at: now(),
    state: 'applied',
    handled_at: now()
  }).execute()
  for (const { companyId } of [owner, other]) {
    await database.owner.insertInto('feed_events').values({ company_id: companyId, position: null, body: '{}', created_at: now() })
      .execute()
  }
  const left = async () => ({
    bodies: (await database.owner.selectFrom('outbox').select('body').where('company_id', '=', owner.companyId).execute())
      .filter(({ body }) => body !== null).length,
    event: (await database.owner.selectFrom('inbound').select('body').where('inbound_id', '=', inboundId).executeTakeFirst())?.body.length,
    fed: (await database.owner.selectFrom('feed_events').select('company_id').where('company_id', 'in', [owner.companyId, other.companyId])
      .execute()).map(({ company_id: id }) => id)
  })
  const ledger = async () => (await dump({ get: () => ({ owner: database.owner }) } as never, owner.companyId))['ledger']
  const before = await ledger()
  clock.time += 7 * day
  await retain()
  t.strictSame([await holds(mine), lies(mine)], [true, true])
  t.strictSame(await left(), { bodies: 1, event: 12, fed: [owner.companyId, other.companyId] })
  const due = clock.time
  clock.time += 1
  await retain()
  t.strictSame([await holds(mine), lies(mine), await holds(theirs), lies(theirs)], [false, false, true, true])
  t.strictSame(await left(), { bodies: 0, event: 0, fed: [other.companyId] })
  t.ok((await documentOf(mine)).expires_at.getTime() <= due + 1)
  t.same(await ledger(), before)
  t.equal(await documentLastsUntil(database, owner.companyId, theirs.documentId), undefined)
})

await t.test('the shortest of the services of a path counts, and never more than the operator says', async (t) => {
  const owner = await company()
  await keep(owner.companyId, 20, { email: 3, sms: 400 })
  const [text, path] = [await kept(owner), await kept(owner)]
  await database.owner.updateTable('dispatches').set({ services: ['sms', 'email'] }).where('dispatch_id', '=', path.dispatchId).execute()
  t.same(await documentLastsUntil(database, owner.companyId, path.documentId), new Date(clock.time + 3 * day),
    'what a schedule may count on')
  t.same(await documentLastsUntil(database, owner.companyId, text.documentId), new Date(clock.time + 30 * day))
  t.same((await listRetentionRules(database, 90)).filter(({ companyId }) => companyId === owner.companyId).map(({ days }) => days)
    .toSorted((one, two) => one - two), [3, 20])
  clock.time += 3 * day + 1
  await retain()
  t.strictSame([await holds(text), await holds(path)], [true, false])
  clock.time += 87 * day - 1
  await retain()
  t.ok(await holds(text))
  clock.time += 1
  await retain()
  t.notOk(await holds(text))
})

await t.test('what has not ended for certain, or a day ago, keeps its data whatever its company says', async (t) => {
  const owner = await company()
  await keep(owner.companyId, 1)
  const [running, doubtful, deferred, late, ended] = [await kept(owner, { ended: false }), await kept(owner), await kept(owner),
    await kept(owner, { key: 'late' }), await kept(owner)]
  const steps = (of: Kept) => database.owner.updateTable('steps').where('dispatch_id', '=', of.dispatchId)
  await steps(doubtful).set({ status: 'uncertain' }).execute()
  await steps(deferred).set({ status: 'waiting', deferred_on: 'esign.completed' }).execute()
  clock.time += day + 1
  await database.owner.updateTable('dispatches').set({ finished_at: now() }).where('dispatch_id', '=', late.dispatchId).execute()
  await retain()
  const all = [running, doubtful, deferred, late, ended]
  t.strictSame(await Promise.all(all.map(holds)), [true, true, true, true, false])
  t.strictSame(all.map(lies), [true, true, true, true, false])
  t.ok(await findIdempotencyKey(database, owner.companyId, 'late'))
  clock.time += day + 1
  await retain()
  t.strictSame(await Promise.all(all.map(holds)), [true, true, true, false, false])
})

await t.test('what companies keep for less long goes in bounded batches, too, and is found among their own', async (t) => {
  const owner = await company()
  await keep(owner.companyId, 2)
  for (let index = 0; index < 4; index++) await kept(owner)
  clock.time += 2 * day + 1
  t.equal(await retain({ batch: 3 }), 3, '4 documents and 4 requests')
  const { rows } = await sql`select from dispatches where company_id = ${owner.companyId} and data is not null`.execute(database.owner)
  t.equal(rows.length, 0)
})

await t.test('a deferred step that waits for its event keeps what it needs, a year longer', async (t) => {
  const owner = await company()
  const { dispatchId } = await kept(owner)
  await database.owner.updateTable('steps').set({ status: 'waiting', deferred_on: 'esign.completed' }).where('dispatch_id', '=', dispatchId)
    .execute()
  const fields = async () =>
    (await database.owner.selectFrom('steps').select('fields').where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()).fields
  clock.time += (90 + 366) * day
  await retain()
  t.strictSame(await fields(), { message: 'canary-fields' })
  clock.time += 1
  await retain()
  t.strictSame(await fields(), {})
})

await t.test('raw events of vendors are forgotten ninety days after they were handled', async (t) => {
  const arrived = (inboundId: string, handledAt: Date | null) =>
    database.owner.insertInto('inbound').values({
      inbound_id: inboundId,
      service: 'esign',
      provider_code: 'seal-one',
      digest: inboundId,
      body: Buffer.from('{}'),
      received_at: now(),
      state: handledAt === null ? 'waiting' : 'applied',
      handled_at: handledAt
    }).execute()
  const [handled, open] = [randomUUIDv7(), randomUUIDv7()]
  await arrived(handled, now())
  await arrived(open, null)
  const ids = async () => (await database.owner.selectFrom('inbound').select('inbound_id').execute()).map((row) => row.inbound_id).sort()
  clock.time += 90 * day
  await retain()
  t.strictSame(await ids(), [handled, open].sort())
  clock.time += 1
  await retain()
  t.strictSame(await ids(), [open])
})

await t.test('an idempotency key is forgotten a day after the end of its dispatch', async (t) => {
  const owner = await company()
  await kept(owner, { key: 'ended' })
  await kept(owner, { key: 'running', ended: false })
  const keys = async () =>
    (await database.owner.selectFrom('idempotency_keys').select('key').where('company_id', '=', owner.companyId).orderBy('key').execute())
      .map(({ key }) => key)
  clock.time += day
  await retain()
  t.strictSame(await keys(), ['ended', 'running'])
  t.ok(await findIdempotencyKey(database, owner.companyId, 'ended'), 'for as long as it is good')
  clock.time += 1
  await retain()
  t.strictSame(await keys(), ['running'])
})

await t.test('a file that was stored and never recorded is removed after two days, nothing else', async (t) => {
  const owner = await company()
  const recorded = await kept(owner)
  const abandoned = { ...recorded, storageKey: recorded.storageKey.replace(/[^/]+$/, randomUUIDv7()) }
  const draft = { ...recorded, storageKey: `${abandoned.storageKey}.part` }
  const foreign = { ...recorded, storageKey: recorded.storageKey.replace(/[^/]+$/, 'notes.txt') }
  for (const { storageKey } of [abandoned, draft, foreign]) await files.put(storageKey, Buffer.from('x'))
  clock.time += day
  await retain()
  t.ok(lies(abandoned), 'it may still be recorded')
  clock.time += day
  await retain()
  t.strictSame([recorded, abandoned, draft, foreign].map(lies), [true, false, false, true])
})

await t.test('everything goes in bounded batches, job after job until nothing is left', async (t) => {
  clock.time += 91 * day
  await retain()
  const owner = await company()
  const all = []
  for (let index = 0; index < 7; index++) all.push(await kept(owner))
  clock.time += 91 * day
  t.equal(await retain({ batch: 3 }), 3)
  t.notOk(all.some(lies))
  const { rows } = await sql`select from dispatches where company_id = ${owner.companyId} and data is not null`.execute(database.owner)
  t.equal(rows.length, 0)
})

await t.test('what a batch forgets is found by its own steps, however many others there are', async (t) => {
  const { dispatchId } = await kept(await company())
  const others = 5_000
  await sql`with other as (
      insert into dispatches (dispatch_id, company_id, user_id, status, services, data, metadata, request_id, created_at)
      select gen_random_uuid(), company_id, user_id, status, services, data, metadata, request_id, created_at
      from dispatches, generate_series(1, ${others}::integer) where dispatch_id = ${dispatchId} returning *
    ) insert into steps (step_id, company_id, dispatch_id, position, service, sandbox, fields, request_settings, price, held, status)
      select gen_random_uuid(), company_id, dispatch_id, 0, 'sms', false, '{"a":1}', '{}', 0, 0, 'accepted' from other`.execute(
    database.owner
  )
  await sql`analyze dispatches, steps`.execute(database.owner)
  clock.time += 91 * day
  await database.owner.transaction().execute(async (queries) => {
    const read = async (): Promise<number | undefined> =>
      (await sql<{ rows: number }>`
        select seq_tup_read::integer as rows from pg_stat_xact_user_tables where relname = 'steps'`.execute(queries)).rows[0]?.rows
    const before = await read()
    t.equal(await forgetRequests({ owner: queries }, { before: now(), hopeless: new Date(0), limit: 10 }), 10)
    t.equal(await read(), before, 'the table of steps was not read from its beginning')
  })
  await retain()
})

await t.test('dispatches are forgotten after so many whole months, if the operator says so, once their documents are gone', async (t) => {
  const owner = await company()
  clock.time = Date.UTC(new Date(clock.time).getUTCFullYear() + 1, 0, 31, 23, 59)
  const { dispatchId } = await kept(owner)
  const stored = async (): Promise<number> =>
    (await database.owner.selectFrom('dispatches').where('dispatch_id', '=', dispatchId).select('dispatch_id').execute()).length
  clock.time = Date.UTC(new Date(clock.time).getUTCFullYear(), 4, 1) - 1
  await retain({ forgetMonths: 3 })
  t.equal(await stored(), 1)
  clock.time += 1
  await retain()
  t.equal(await stored(), 1, 'nobody has said so')
  await retain({ forgetMonths: 3 })
  t.equal(await stored(), 0)
})

await t.test('a file that cannot be removed does not keep the others, and its document is not said to be removed', async (t) => {
  const owner = await company()
  const [first, second] = [await kept(owner), await kept(owner)]
  clock.time += 31 * day
  t.equal(
    await retain({
      files: { ...files, remove: (key) => key === first.storageKey ? Promise.reject(new Error('disk')) : files.remove(key) }
    }),
    1
  )
  has(t, [(await documentOf(first)).removed_at, (await documentOf(second)).removed_at], [null, Date])
  await retain()
  t.notOk(lies(first))
})

await t.test('the service does it by its queue', async (t) => {
  const service = await startService(t, { databaseUrl, replacements: { files, now } })
  const document = await kept(await company())
  clock.time += 31 * day
  await service.app.get('queue').send('retention', [{ data: {} }])
  await until('its document is gone', () => !lies(document))
  const { rows } = await sql`select name from queue.schedule order by name`.execute(database.owner)
  t.strictSame(rows, [{ name: 'retention' }, { name: 'sweep' }])
})
