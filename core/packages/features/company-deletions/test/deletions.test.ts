import { addLogCounts } from '@dispatch/accounts'
import { documentFiles, insertExchanges } from '@dispatch/core'
import { createLocalFiles } from '@dispatch/files'
import { createDataKeys } from '@dispatch/tables'
import { sql } from 'kysely'
import { createHash, randomUUID } from 'node:crypto'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import { type NewDispatch, openDispatch } from '../../../../store/dispatch/dispatches.ts'
import { createDeletionStep } from '../service/work.ts'
import { leave } from '../store/leaving.ts'

// Each step is done by the test.
const service = await startService(t, { config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
const { app, send } = service
const database = app.get('database')
const { dataDirectory } = app.get('config')
const [keysFolder, filesFolder] = [join(dataDirectory, 'keys'), join(dataDirectory, 'files')]
const needs = {
  database,
  dataKeys: app.get('dataKeys'),
  files: app.get('files'),
  log: app.get('log'),
  newId: app.get('newId'),
  now: app.get('now'),
  dispatchRows: app.get('dispatchRows'),
  settles: 0
}
const gone = await service.company('gone')
const stays = await service.company('stays')
const path = `/api/v1/companies/${gone.companyId}`
const begin = (name = 'gone'): Promise<Answer> => send('POST', `${path}/deletion`, { body: { name } }, operator)
const document = async (by = gone.admin): Promise<{ id: string }> =>
  (await send('POST', '/api/invoicing', { body: invoiceRequest({ number: randomUUID() }) }, by)).body.generatedDocument as { id: string }

const [theirs, other] = [await document(), await document(stays.admin)]
await send('POST', '/api/v1/files', { body: 'Hello', headers: { 'content-type': 'text/plain' } }, gone.admin)
const { storage_key: key, size, sha256 } = await database.owner.selectFrom('documents').select(['storage_key', 'size', 'sha256'])
  .where('document_id', '=', theirs.id).executeTakeFirstOrThrow()
const backup = join(dataDirectory, 'backup')
await cp(filesFolder, join(backup, 'files'), { recursive: true })

/** Whether a process that remembers nothing reads the document of the backup, with the keys in a folder. */
async function isReadable (keys: string): Promise<boolean> {
  const { keyring, log } = { keyring: app.get('keyring'), log: app.get('log') }
  const dataKeys = createDataKeys({ place: createLocalFiles(keys), keyring, database, log })
  const files = documentFiles(createLocalFiles(join(backup, 'files'), dataKeys))
  return files.stream({ key, size: Number(size), sha256 }).then((bytes) => {
    bytes.destroy()
    return true
  }, (error: unknown) => {
    has(t, error, { word: 'service_unavailable' })
    return false
  })
}

const userOf = async (companyId: number): Promise<number> =>
  (await database.owner.selectFrom('users').select('user_id').where('company_id', '=', companyId).executeTakeFirstOrThrow()).user_id

/** A dispatch of nothing, for `openDispatch`. */
async function emptyDispatch (companyId: number, more: Partial<NewDispatch> = {}): Promise<NewDispatch> {
  const actor = { kind: 'user', userId: await userOf(companyId) } as const
  return { dispatchId: randomUUID(), companyId, actor, requestId: 'late', services: ['sms'], metadata: {}, steps: [], ...more }
}

/** How many transactions wait for a lock. */
const waiting = async (): Promise<number> =>
  (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    .execute(database.owner)).rows.length

/** What a client has written, as it stands in the database, which a copy of it has. */
async function copyOf (companyId: number): Promise<string> {
  const { rows } = await database.pool.query<{ text: string }>(
    `select concat(data::text, (select string_agg(concat(fields, request_settings, data, made), '') from steps
      where steps.dispatch_id = dispatches.dispatch_id)) as text from dispatches where company_id = $1`,
    [companyId]
  )
  return rows.map(({ text }) => text).join('')
}

await t.test('what is in the way is told, and nothing is deleted', async (t) => {
  has(t, await send('GET', `${path}/deletion`, {}, operator), {
    status: 200,
    body: { name: 'gone', status: 'impossible', obstacles: ['not_disabled'], counts: { users: 3, dispatches: 1, documents: 1 } }
  })
  has(t, await begin(), { status: 409, body: { error: 'conflict', message: 'The company cannot be deleted: it is not disabled.' } })
  const { body: { dispatchId } } = await send('POST', '/api/invoicing?async=true', { body: invoiceRequest() }, gone.admin)
  await send('PUT', path, { body: { disabled: true } }, operator)
  has(t, await begin(), {
    status: 409,
    body: { message: /: dispatches of it are queued, running or in doubt, or a step of one is tried again\.$/ }
  })
  has(t, await send('GET', `${path}/deletion`, {}, operator), { body: { obstacles: ['dispatches_under_way', 'credits_held'] } })
  await send('PUT', path, { body: { disabled: false } }, operator)
  has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/cancel`, {}, gone.admin), { status: 200 })
  await send('PUT', path, { body: { disabled: true } }, operator)
  const steps = (nextTry: Date | null) =>
    database.owner.updateTable('steps').set({ next_try_at: nextTry }).where('company_id', '=', gone.companyId).execute()
  await steps(new Date())
  has(t, await send('GET', `${path}/deletion`, {}, operator), { body: { obstacles: ['dispatches_under_way'] } })
  await steps(null)
  for (const name of ['Gone', 'stays', 'gon']) {
    has(t, await begin(name), { status: 422, body: { error: 'validation_failed', details: [{ path: '/name', code: 'another_name' }] } })
  }
  has(t, await send('POST', '/api/v1/companies/1/deletion', { body: { name: 'Platform' } }, operator), { status: 409 })
  has(t, await send('POST', '/api/v1/companies/999/deletion', { body: { name: 'gone' } }, operator), { status: 404 })
  t.notOk(await createDeletionStep(needs)())
  t.ok(await isReadable(keysFolder))
})

await t.test('a deletion removes the key first, goes on wherever it was interrupted, and ends with a receipt', async (t) => {
  has(t, await send('GET', `${path}/deletion`, {}, operator), { body: { status: 'possible', obstacles: [] } })
  // A dispatch that is being recorded at this moment, and waits for its key, is waited for, and counted.
  const holding = await database.owner.startTransaction().execute()
  const known = await holding.selectFrom('dispatches').select('dispatch_id').where('company_id', '=', gone.companyId)
    .executeTakeFirstOrThrow()
  await holding.insertInto('idempotency_keys')
    .values({ company_id: gone.companyId, key: 'k', fingerprint: 'f', dispatch_id: known.dispatch_id, created_at: new Date() }).execute()
  const recorded = await emptyDispatch(gone.companyId, { idempotency: { key: 'k', fingerprint: 'f' } })
  const opening = openDispatch(database, recorded, { jobs: [] })
  await until('the dispatch waits for its key', async () => await waiting() === 1)
  const leaving = database.owner.transaction().execute(async (queries) => {
    const held = await leave(queries, gone.companyId, new Date())
    throw new Error(`${held?.running} under way`)
  })
  leaving.catch(() => undefined)
  await until('who deletes waits for the dispatch', async () => await waiting() === 2)
  await holding.rollback().execute()
  await opening
  await t.rejects(leaving, { message: '1 under way' })
  await database.owner.updateTable('dispatches').set({ status: 'cancelled' }).where('dispatch_id', '=', recorded.dispatchId).execute()
  has(t, await begin(), { status: 202, body: { status: 'running', counts: {} } })
  has(t, await begin(), { status: 409 })
  const late = await emptyDispatch(gone.companyId)
  await t.rejects(openDispatch(database, late, { jobs: [] }), { word: 'forbidden', message: /is being deleted/ })
  await cp(keysFolder, join(backup, 'keys'), { recursive: true })
  const read = () =>
    database.owner.selectFrom('dispatches').select('data').where('company_id', '=', gone.companyId).where(sql<boolean>`data <> '{}'`)
      .execute()
  contains(t, JSON.stringify(await read()), 'Ada Lovelace')
  lacks(t, await copyOf(gone.companyId), 'Lovelace', 'nothing that a client has written stands in a copy of the database as it is')
  const free = () =>
    database.owner.$extendTables<{ company_deletions: { next_at: Date } }>().updateTable('company_deletions')
      .set({ next_at: new Date(0) }).execute()
  const lease = (set: { run_id: string | null, leased_until: Date | null }) =>
    database.owner.updateTable('dispatches').set(set).where('company_id', '=', gone.companyId).execute()
  await lease({ run_id: randomUUID(), leased_until: new Date(0) })
  t.ok(await createDeletionStep(needs)())
  t.ok(await isReadable(keysFolder), 'as long as something is under way the key stays')
  await lease({ run_id: null, leased_until: null })
  await free()
  const keyless = createDeletionStep({ ...needs, dataKeys: undefined })
  t.ok(await keyless())
  t.notOk(await keyless(), 'a process without the keys leaves it to another one for some seconds')
  t.ok(await isReadable(keysFolder))
  await free()
  await createDeletionStep(needs)()
  t.strictSame(await readdir(keysFolder), [String(stays.companyId)])
  t.notOk(await isReadable(keysFolder), 'a restored copy of documents and database is closed')
  for (const { data } of await read()) t.throws(() => JSON.stringify(data), { name: 'StorageUnavailable' }, 'and so are the data')
  t.ok(await isReadable(join(backup, 'keys')), 'as long as no backup of the keys brings it back')
  await send('PUT', path, { body: { disabled: false } }, operator)
  // A process that ends after each part of a step that leaves something; another one does that step again.
  const ended = new Error('The process has ended.')
  const breaking = createDeletionStep({ ...needs, files: { removeBelow: () => Promise.reject(ended) } })
  await t.rejects(breaking(), ended)
  await free()
  await createDeletionStep(needs)()
  await database.session(async (client) => {
    await client.query('begin')
    await client.query('select from dispatches where company_id = $1 for update', [gone.companyId])
    t.ok(await createDeletionStep(needs)(), 'what another process holds is tried again')
  })
  await free()
  const { body: between } = await send('GET', `${path}/deletion`, {}, operator)
  t.notOk('dispatches' in between.counts)
  let steps = 0
  while (await createDeletionStep(needs)()) steps++
  t.ok(steps >= 3)
  const { status, body } = await send('GET', `${path}/deletion`, {}, operator)
  has(t, { status, body }, { status: 200, body: { status: 'finished', name: 'gone', counts: { dispatches: 3, users: 3 } } })
  // What a process writes that had still something in its memory.
  const at = { company_id: gone.companyId, entry_id: randomUUID() }
  await insertExchanges(database, [{ ...at, dispatch_id: randomUUID(), service: 'sms', provider: 'x', outcome: 'accepted', exchanges: [] }])
  await addLogCounts(database, [{ ...at, log: 'x', hour: new Date(), subject: 'x', result: 'x', count: 1 }])
  for (const table of ['exchange_log', 'request_log', 'log_counts', 'dispatches', 'steps', 'events', 'feed_events'] as const) {
    const left = await database.owner.selectFrom(table).select('company_id').where('company_id', '=', gone.companyId).execute()
    t.strictSame(left, [], table)
  }
  const receipt = JSON.parse(body.receipt) as { counts: unknown }
  has(t, receipt, { companyId: gone.companyId, name: 'gone', dataKeys: 'removed', counts: body.counts })
  t.equal(createHash('sha256').update(body.receipt as string).digest('hex'), body.sha256)
  has(t, await send('GET', path, {}, operator), { status: 404 })
  has(t, await begin(), { status: 404 })
  has(t, await send('GET', '/api/v1/credits', {}, gone.admin), { status: 401 })
  has(t, await send('GET', '/api/v1/company-deletions', {}, operator), {
    body: { data: [{ companyId: gone.companyId, status: 'finished' }] }
  })
  const { body: { data: [entry] } } = await send('GET', '/api/v1/audit?action=company.deleted', {}, operator)
  has(t, entry, { object: { kind: 'company', id: String(gone.companyId) }, facts: { name: 'gone', sha256: body.sha256 } })
  t.strictSame((await readdir(filesFolder, { recursive: true })).filter((name) => new RegExp(`^\\w+/${gone.companyId}(/|$)`).test(name)),
    [])
})

await t.test('another company keeps what is its own', async (t) => {
  has(t, await send('GET', `/api/v1/documents/${other.id}`, {}, stays.admin), { status: 200 })
  await document(stays.admin)
})

await t.test('the console asks whether the company is meant, and says what there is, before it begins', async (t) => {
  const { companyId } = await service.company('leaving')
  const { open, post, signIn } = openConsole(service)
  const cookie = await signIn(operator)
  const typed = { company: String(companyId), name: 'leaving' }
  contains(t, (await open(`/companies/${companyId}`, cookie)).body, `/console/company-deletions?company=${companyId}`)
  contains(t, (await post('/company-deletions', typed, cookie)).body, 'it is not disabled')
  await send('PUT', `/api/v1/companies/${companyId}`, { body: { disabled: true } }, operator)
  contains(t, (await post('/company-deletions', { ...typed, name: 'another' }, cookie)).body, 'value="another"')
  const requested = await post('/company-deletions', typed, cookie)
  has(t, requested, { status: 200, body: /Delete leaving for good\?[^]*name=":confirmed" value="true"/ })
  has(t, await send('GET', `/api/v1/companies/${companyId}/deletion`, {}, operator), { body: { status: 'possible' } })
  has(t, await post('/company-deletions', { ...typed, ':confirmed': 'true' }, cookie), { status: 303 })
  has(t, await send('GET', `/api/v1/companies/${companyId}/deletion`, {}, operator), { body: { status: 'running' } })
})
