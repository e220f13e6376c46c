import { beginLineage, createBreakers, type Database, openDatabase, readLineage } from '@dispatch/core'
import { refused } from '@dispatch/core/provider'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { followRestores, markPlaces } from '../../../core/work/restores.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { testProviders } from '../../plugins/support/providers.ts'
import { clockAt } from '../../support/clock.ts'
import { contains, has, matches } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { invoiceRequest, seededDatabase, startService, type TestService } from '../../support/service.ts'
import { sweepAndWork } from '../../support/sweep.ts'
import { type Kind, kindsOfProviders, stageVendor, timeLimit, ttl, visibleAfter } from './staged-vendor.ts'

const minute = 60
const clock = clockAt('2026-03-14T03:00:00Z')
const providers = await testProviders(t)
const vendor = await stageVendor(providers)
await providers.add('stamp', { of: 'upload', service: 'idempotency: { kind: \'none\' }' }, (_request, { reference }) => {
  vendor.taken.push(reference)
  return Promise.resolve({ id: reference, status: 'taken' })
})
// It knows its keys, and refuses one that comes with other bytes.
const known = new Set<string>()
await providers.add('strict', { service: `documentTypes: ['INVOICE'], idempotency: { kind: 'key', ttl: ${ttl} }` },
  (_request, { reference, idempotencyKey: key }) => {
    if (known.has(key)) throw refused('key_reused', 'The key was used with another document.')
    known.add(key)
    vendor.taken.push(reference)
    return Promise.resolve({ id: reference, status: 'taken' })
  })

/** A service with this database and this data directory; nothing is done before it is told to. */
const start = (t: Test, databaseUrl: string, dataDirectory: string): Promise<TestService> =>
  startService(t, {
    databaseUrl,
    config: { providerDirectories: providers.directories, runsWorker: false, dataDirectory },
    replacements: { renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
  })

/** Works until nothing more is due; so many seconds pass before each round. */
async function work ({ app }: TestService, ...seconds: number[]): Promise<void> {
  for (const more of seconds) {
    clock.advance(more)
    await sweepAndWork(app.get('pipeline'), app.get('pipelineDependencies'))
  }
}

function folder (t: Test): string {
  const made = mkdtempSync(join(tmpdir(), 'dispatch-restores-'))
  t.teardown(() => {
    rmSync(made, { recursive: true })
  })
  return made
}

/** A copy of a database that nobody uses, as a dump of it is that was restored. */
const copied = async (t: Test, url: string): Promise<string> => (await testDatabase(t, { template: nameIn(url) })).url
const nameIn = (url: string): string => /\/([^/?]+)(\?|$)/.exec(url)?.[1] ?? ''

const restoredLines = ({ log }: TestService): any[] =>
  log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('the database was restored'))

const statusIn = async ({ send }: TestService, id: string) => (await send('GET', `/api/v1/dispatches/${id}`)).body

const ask = (service: TestService, body: Record<string, unknown>, path = '/api/invoicing') =>
  service.send('POST', `${path}?async=true`, { body })

async function furnish ({ send }: TestService): Promise<void> {
  for (const code of [...kindsOfProviders, 'stamp', 'strict']) {
    await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
  }
  await send('PUT', '/api/v1/company/defaults/upload', { body: { providerName: 'stamp' } })
}

/** How often the vendor has taken a step of a dispatch. */
const timesTaken = async ({ app }: TestService, dispatchId: string): Promise<number[]> => {
  const steps = await app.get('database').owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId)
    .orderBy('position').execute()
  return steps.map(({ step_id: id }) => vendor.taken.filter((reference) => reference === id).length)
}

t.beforeEach(() => {
  vendor.acts = []
  vendor.look = undefined
})

await t.test('what was queued when the backup was made is not sent a second time', async (t) => {
  const [original, here] = [await seededDatabase(t), folder(t)]
  const queued = new Map<Kind | 'chain' | 'list' | 'strict', string>()
  await t.test('the service takes it in, and a backup is made', async (t) => {
    const service = await start(t, original, here)
    await furnish(service)
    for (const kind of [...kindsOfProviders, 'strict'] as const) {
      queued.set(kind, (await ask(service, invoiceRequest({}, { providerName: kind }))).body.dispatchId)
    }
    queued.set('chain', (await ask(service, invoiceRequest({}, { providerName: 'found' }), '/api/invoicing/upload')).body.dispatchId)
    const providers = [{ providerName: 'found' }, { providerName: 'keyed-found' }]
    await service.send('PUT', '/api/v1/company/defaults/invoicing', { body: { providers } })
    queued.set('list', (await ask(service, invoiceRequest())).body.dispatchId)
  })
  const dump = await copied(t, original)
  clock.advance(minute)
  await t.test('then all of it is sent, and the database is lost', async (t) => {
    const service = await start(t, original, here)
    await work(service, ...kindsOfProviders.map(() => 0), minute)
    for (const [kind, id] of queued) {
      has(t, await statusIn(service, id), { status: 'succeeded' }, kind)
      t.ok((await timesTaken(service, id)).every((times) => times === 1), kind)
    }
  })
  await t.test('the backup does not know', async (t) => {
    const service = await start(t, dump, here)
    has(t, restoredLines(service), [{ level: 50, steps: queued.size + 1 }])
    // Sooner than this nothing that is found proves anything.
    await work(service, 0, 10, minute, 5 * minute, timeLimit + visibleAfter)
    for (const [kind, id] of queued) {
      t.ok((await timesTaken(service, id)).every((times) => times === 1), `${kind} is not sent again`)
    }
    const statuses: Record<string, string> = {}
    for (const [kind, id] of queued) statuses[kind] = (await statusIn(service, id)).status
    matches(t, statuses, {
      keyed: 'succeeded',
      'keyed-found': 'succeeded',
      found: 'succeeded',
      mute: 'uncertain',
      draft: 'uncertain',
      'draft-found': 'succeeded',
      // The invoice is found, the upload of it cannot be.
      chain: 'uncertain',
      list: 'succeeded',
      strict: 'uncertain'
    })
    const doubt = await statusIn(service, queued.get('mute') ?? '')
    contains(t, doubt.steps[0].error.message, 'The database was restored from a backup')
    const resolved = await service.send('POST', `/api/v1/dispatches/${queued.get('mute') ?? ''}/resolve`, {
      body: { outcome: 'rejected', reason: 'The vendor was asked.' }
    })
    t.equal(resolved.status, 200)
    const again = await service.send('POST', `/api/v1/dispatches/${queued.get('mute') ?? ''}/retry`, { body: {} })
    has(t, again, { status: 200, body: { status: 'succeeded' } }, 'what a person says is believed')
  })
  await t.test('another start finds nothing new', async (t) => {
    matches(t, restoredLines(await start(t, dump, here)), [])
  })
})

await t.test('what a key cannot tell any more, and what another of a list may have done, waits for a person', async (t) => {
  const [original, here] = [await seededDatabase(t), folder(t)]
  const ids = { keyed: '', list: '', failed: '', later: '' }
  await t.test('before the backup', async (t) => {
    const service = await start(t, original, here)
    await furnish(service)
    ids.keyed = (await ask(service, invoiceRequest({}, { providerName: 'keyed' }))).body.dispatchId
    vendor.acts = ['refuse']
    ids.failed = (await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'mute' }) })).body.dispatchId
    const listed = [{ providerName: 'found' }, { providerName: 'keyed-found', after: ['provider_error'] }]
    await service.send('PUT', '/api/v1/company/defaults/invoicing', { body: { providers: listed } })
    ids.list = (await ask(service, invoiceRequest())).body.dispatchId
    has(t, await statusIn(service, ids.failed), { status: 'failed' })
  })
  const dump = await copied(t, original)
  await t.test('after it the first of the list is closed, and a person tries again what had failed', async (t) => {
    const service = await start(t, original, here)
    await service.send('POST', `/api/v1/dispatches/${ids.failed}/retry`, { body: {} })
    vendor.acts = ['accept', 'close']
    await work(service, minute)
    for (const id of [ids.keyed, ids.list, ids.failed]) {
      has(t, await statusIn(service, id), { status: 'succeeded' })
      t.same(await timesTaken(service, id), [1])
    }
    has(t, (await statusIn(service, ids.list)).steps, [{ providerName: 'keyed-found' }])
  })
  clock.advance(ttl)
  await t.test('the restored service sends none of it', async (t) => {
    const service = await start(t, dump, here)
    vendor.look = () => Promise.resolve({ found: 'absent' })
    // It is a new one: nothing is known of it that was lost.
    ids.later = (await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'mute' }) })).body.dispatchId
    has(t, await statusIn(service, ids.later), { status: 'succeeded' })
    const retried = await service.send('POST', `/api/v1/dispatches/${ids.failed}/retry`, { body: {} })
    has(t, retried, { status: 504, body: { error: 'outcome_unknown' } }, 'nor when a person tries again')
    await work(service, 0, 10, minute, 5 * minute, timeLimit + visibleAfter, 3600)
    for (const id of [ids.keyed, ids.list, ids.failed]) {
      has(t, await statusIn(service, id), { status: 'uncertain' })
      t.same(await timesTaken(service, id), [1])
    }
  })
})

/** What a process says that follows this database from these places; it ends at once. */
async function followed (database: Database, places: Parameters<typeof followRestores>[0]['places']): Promise<string[]> {
  const said: string[] = []
  const log = createLogger('info', { write: (line) => said.push(JSON.parse(line).msg) })
  await (await followRestores({ database, places, log })).close()
  return said
}

function opened (t: Test, url: string): Database {
  const database = openDatabase({ connectionString: url }, { connections: 1, onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  return database
}

const noticed = [/^the database was restored/]

await t.test('neither a new machine nor a database that was moved is a restore', async (t) => {
  const [original, here] = [await seededDatabase(t), markPlaces({ folder: folder(t) })]
  await t.test('a start', async (t) => matches(t, await followed(opened(t, original), here), []))
  const moved = opened(t, await copied(t, original))
  matches(t, await followed(moved, here), [], 'another server, the same data directory')
  matches(t, await followed(moved, markPlaces({ folder: folder(t) })), [], 'the same server, an empty data directory')
  const other = opened(t, await seededDatabase(t))
  await other.owner.updateTable('lineages').set({ lineage: randomUUID() }).execute()
  matches(t, await followed(other, here), [/^the data directory was used with another database: if this one was restored/])
  matches(t, await followed(other, here), [], 'it is said once')
})

await t.test('each data directory notices a restore once, also the second to the same backup', async (t) => {
  const [original, here, there] = [await seededDatabase(t), markPlaces({ folder: folder(t) }), markPlaces({ folder: folder(t) })]
  const [first, second] = [await copied(t, original), await copied(t, original)]
  const database = opened(t, original)
  for (const places of [here, there]) matches(t, await followed(database, places), [])
  const restored = opened(t, first)
  matches(t, await followed(restored, here), noticed)
  matches(t, await followed(restored, here), [])
  matches(t, await followed(restored, there), [], 'the other one finds it noticed')
  matches(t, await followed(opened(t, second), there), noticed, 'the first life is remembered as well')
})

await t.test('a machine that is new asks the bucket', async (t) => {
  const bucket = new Map<string, Uint8Array>()
  const files = {
    read: (key: string) => Promise.resolve(bucket.get(key)),
    put: (key: string, bytes: Uint8Array) => Promise.resolve(bucket.set(key, bytes)).then(() => undefined)
  }
  const placesOfNew = () => markPlaces({ folder: folder(t), bucket: files })
  const original = await seededDatabase(t)
  const dump = await copied(t, original)
  matches(t, await followed(opened(t, original), placesOfNew()), [])
  matches(t, await followed(opened(t, dump), placesOfNew()), noticed)
})

await t.test('a process that runs notices it too, and what cannot be read is written anew', async (t) => {
  const [database, here] = [opened(t, await seededDatabase(t)), folder(t)]
  const path = join(here, 'database.json')
  writeFileSync(path, '{"lineage":')
  const said: string[] = []
  const told = Promise.withResolvers<unknown>()
  const log = createLogger('info', {
    write (line) {
      said.push(JSON.parse(line).msg)
      if (said.length === 2) told.resolve(true)
    }
  })
  const following = await followRestores({ database, places: markPlaces({ folder: here }), log, milliseconds: 10 })
  has(t, JSON.parse(readFileSync(path, 'utf8')), { lineage: String, epoch: Number, before: [] })
  await database.owner.updateTable('lineages').set({ epoch: '0' }).execute()
  await told.promise
  matches(t, said, [/^what is remembered of the database cannot be read/, ...noticed])
  await following.close()
})

await t.test('a place that cannot be written is said once, and again when it can be', async (t) => {
  const database = opened(t, await seededDatabase(t))
  const said: object[] = []
  const recovered = Promise.withResolvers<unknown>()
  let writes = 0
  const place = {
    name: 'the place',
    every: 1,
    read: () => Promise.resolve(undefined),
    write: () => ++writes <= 3 ? Promise.reject(new Error('The disk is full.')) : Promise.resolve()
  }
  const log = createLogger('info', {
    write (line) {
      said.push(JSON.parse(line))
      if (said.length === 2) recovered.resolve(true)
    }
  })
  const following = await followRestores({ database, places: [place], log, milliseconds: 10 })
  await recovered.promise
  await following.close()
  has(t, said, [{ level: 40, file: 'the place' }, { level: 30, file: 'the place' }])
  t.equal(said.length, 2)
})

await t.test('nothing of it is done where the database is in another life by then', async (t) => {
  const database = opened(t, await seededDatabase(t))
  const { lineage } = await readLineage(database)
  t.equal(await beginLineage(database, { lineage }), 0)
  t.equal(await beginLineage(database, { lineage }), undefined)
  has(t, await readLineage(database), { before: [lineage], epoch: 0 })
})
