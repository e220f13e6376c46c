import { createDataKeys, documentFiles } from '@dispatch/core'
import { createLocalFiles } from '@dispatch/files'
import { createHash, randomUUID } from 'node:crypto'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import { createDeletionStep } from '../service/work.ts'

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
  has(t, await begin(), { status: 202, body: { status: 'running', counts: {} } })
  has(t, await begin(), { status: 409 })
  await cp(keysFolder, join(backup, 'keys'), { recursive: true })
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
  has(t, { status, body }, { status: 200, body: { status: 'finished', name: 'gone', counts: { dispatches: 2, users: 3 } } })
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
  const asked = await post('/company-deletions', typed, cookie)
  has(t, asked, { status: 200, body: /Delete leaving for good\?[^]*name=":confirmed" value="true"/ })
  has(t, await send('GET', `/api/v1/companies/${companyId}/deletion`, {}, operator), { body: { status: 'possible' } })
  has(t, await post('/company-deletions', { ...typed, ':confirmed': 'true' }, cookie), { status: 303 })
  has(t, await send('GET', `/api/v1/companies/${companyId}/deletion`, {}, operator), { body: { status: 'running' } })
})
