import { refused } from '@dispatch/core/provider'
import { beginLineage, type Database, markRestored, openDatabase, readLineage } from '@dispatch/database'
import { createBreakers } from '@dispatch/host'
import { sql } from 'kysely'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DatabaseUnavailable } from '../../../core/packages/database/unavailable.ts'
import { takeQueued } from '../../../core/store/dispatch/runs.ts'
import { migrate } from '../../../core/store/migrate.ts'
import { followRestores, markLocations } from '../../../core/work/restores.ts'
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
    await sweepAndWork(app.get('pipeline'), app.get('pipelineParts'))
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
    has(t, restoredLines(service), [{ level: 50, restoredTo: String }])
    has(t, service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.endsWith('is marked')), [{ steps: queued.size + 1 }])
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
async function followed (database: Database, locations: Parameters<typeof followRestores>[0]['locations']): Promise<string[]> {
  const said: string[] = []
  const log = createLogger('info', { write: (line) => said.push(JSON.parse(line).msg) })
  await (await followRestores({ database, locations, log })).close()
  return said
}

function opened (t: Test, url: string): Database {
  const database = openDatabase({ connectionString: url }, { connections: 1, onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  return database
}

/** A database in a life that nobody knows. */
async function anotherOne (t: Test): Promise<Database> {
  const database = opened(t, await seededDatabase(t))
  await database.owner.updateTable('lineages').set({ lineage: randomUUID() }).execute()
  return database
}

/** The files of a bucket. */
function bucketOf () {
  const kept = new Map<string, Uint8Array>()
  return {
    kept,
    read: (key: string) => Promise.resolve(kept.get(key)),
    put: (key: string, bytes: Uint8Array) => Promise.resolve(kept.set(key, bytes)).then(() => undefined)
  }
}

const noticed = [/^the database was restored/, /^what the database may have done before it was restored is marked$/]

await t.test('neither a new machine nor a database that was moved is a restore', async (t) => {
  const [original, here] = [await seededDatabase(t), markLocations({ folder: folder(t) })]
  await t.test('a start', async (t) => matches(t, await followed(opened(t, original), here), []))
  const moved = opened(t, await copied(t, original))
  matches(t, await followed(moved, here), [], 'another server, the same data directory')
  matches(t, await followed(moved, markLocations({ folder: folder(t) })), [], 'the same server, an empty data directory')
  const other = await anotherOne(t)
  matches(t, await followed(other, markLocations({ folder: folder(t) })), [], 'another one, an empty data directory')
})

await t.test('a database that is not the one of the data directory may be an older one', async (t) => {
  const here = markLocations({ folder: folder(t) })
  await followed(opened(t, await seededDatabase(t)), here)
  const other = await anotherOne(t)
  const { firstAt } = await readLineage(other)
  matches(t, await followed(other, here), [/^the database is not the one that was used here before/, /is marked$/])
  const [, begun] = await other.owner.selectFrom('lineages').select('restored_to').orderBy('number').execute()
  t.same(begun?.restored_to, firstAt, 'nobody knows when it was made')
  matches(t, await followed(other, here), [], 'it is said once')
})

await t.test('each data directory notices a restore once, also the second to the same backup', async (t) => {
  const [original, here, there] = [await seededDatabase(t), markLocations({ folder: folder(t) }), markLocations({ folder: folder(t) })]
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
  const bucket = bucketOf()
  const placesOfNew = () => markLocations({ folder: folder(t), bucket })
  const original = await seededDatabase(t)
  const dump = await copied(t, original)
  const database = opened(t, original)
  matches(t, await followed(database, placesOfNew()), [])
  const { lineage } = await readLineage(database)
  t.same([...bucket.kept.keys()], [`database/${lineage}.json`])

  await t.test('a copy that is restored beside it has a file of its own', async (t) => {
    const drill = opened(t, dump)
    matches(t, await followed(drill, placesOfNew()), noticed)
    t.same([...bucket.kept.keys()], [lineage, (await readLineage(drill)).lineage].map((life) => `database/${life}.json`))
    matches(t, await followed(database, placesOfNew()), [], 'what it was made of is as certain as before')
  })
  await t.test('what the release before has written there counts', async (t) => {
    const older = bucketOf()
    older.kept.set('database.json', bucket.kept.get(`database/${lineage}.json`) ?? Buffer.from(''))
    const again = opened(t, await copied(t, await seededDatabase(t)))
    matches(t, await followed(again, markLocations({ folder: folder(t), bucket: older })), noticed)
  })
})

await t.test('a process that runs notices it too, and what cannot be read is written anew', async (t) => {
  const [database, here] = [opened(t, await seededDatabase(t)), folder(t)]
  const path = join(here, 'database.json')
  writeFileSync(path, '{"lineage":')
  const said: string[] = []
  const reported = Promise.withResolvers<unknown>()
  const log = createLogger('info', {
    write (line) {
      said.push(JSON.parse(line).msg)
      if (said.length === 3) reported.resolve(true)
    }
  })
  const following = await followRestores({ database, locations: markLocations({ folder: here }), log, milliseconds: 10 })
  has(t, JSON.parse(readFileSync(path, 'utf8')), { lineage: String, epoch: Number, before: [] })
  await database.owner.updateTable('lineages').set({ epoch: '0' }).execute()
  await reported.promise
  await following.close()
  matches(t, said, [/^what is remembered of the database cannot be read/, ...noticed])
})

await t.test('a place that cannot be written is said once, and again when it can be', async (t) => {
  const database = opened(t, await seededDatabase(t))
  const said: object[] = []
  const recovered = Promise.withResolvers<unknown>()
  let writes = 0
  const place = {
    name: 'the place',
    every: 0,
    read: () => Promise.resolve(undefined),
    write: () => ++writes <= 3 ? Promise.reject(new Error('The disk is full.')) : Promise.resolve()
  }
  const log = createLogger('info', {
    write (line) {
      said.push(JSON.parse(line))
      if (said.length === 2) recovered.resolve(true)
    }
  })
  const following = await followRestores({ database, locations: [place], log, milliseconds: 10 })
  await recovered.promise
  await following.close()
  has(t, said, [{ level: 40, file: 'the place' }, { level: 30, file: 'the place' }])
  t.equal(said.length, 2)
})

await t.test('another life begins once', async (t) => {
  const database = opened(t, await seededDatabase(t))
  const { lineage } = await readLineage(database)
  t.equal(await beginLineage(database, { lineage }), true)
  t.equal(await beginLineage(database, { lineage }), false)
  has(t, await readLineage(database), { before: [lineage], epoch: 0, marked: false })
  t.equal(await markRestored(database), 0)
  t.equal(await markRestored(database), undefined)
  has(t, await readLineage(database), { marked: true })
})

/** How many queued dispatches a process begins, or why its database refuses. */
async function begins (database: Database): Promise<unknown> {
  const [queued] = await database.owner.selectFrom('dispatches').select(['company_id as companyId', 'dispatch_id as dispatchId'])
    .where('status', '=', 'queued').orderBy('dispatch_id').execute()
  if (queued === undefined) return 0
  const run = { ...queued, lease: { runId: randomUUID(), seconds: 15 } }
  return takeQueued(database, [run]).then(({ length }) => length,
    (error: unknown) => error instanceof DatabaseUnavailable ? error.reason : error)
}

/** A database with so many queued dispatches of the provider `mute`, and their ids. */
async function queuedIn (t: Test, count: number): Promise<{ url: string, ids: string[] }> {
  const url = await seededDatabase(t)
  const ids: string[] = []
  await t.test('a service takes in what is queued', async (t) => {
    const service = await start(t, url, folder(t))
    await furnish(service)
    for (let nth = 0; nth < count; nth++) ids.push((await ask(service, invoiceRequest({}, { providerName: 'mute' }))).body.dispatchId)
  })
  return { url, ids }
}

await t.test('nothing is begun in a database that is behind, before anybody has noticed', async (t) => {
  const { url } = await queuedIn(t, 3)
  const [database, strange] = [opened(t, url), opened(t, url)]
  // It looks once, and then not any more.
  const following = await followRestores({
    database,
    locations: [],
    log: createLogger('info', { write: () => undefined }),
    milliseconds: 1e9
  })
  t.teardown(() => following.close())
  t.equal(await begins(database), 1)
  const { lineage, epoch } = await readLineage(database)
  await strange.owner.updateTable('lineages').set({ epoch: String(epoch - 1) }).execute()
  t.equal(await begins(database), 'restored', 'it is behind')
  t.equal(await begins(strange), 1, 'for whom has seen more of it')
  await strange.owner.updateTable('lineages').set({ epoch: String(epoch), lineage: randomUUID() }).execute()
  t.equal(await begins(database), 'restored', 'it is another one')
  await strange.owner.updateTable('lineages').set({ lineage }).execute()
  await beginLineage(strange, { lineage })
  t.equal(await begins(database), 'restored', 'it is not marked yet')
  await markRestored(strange)
  t.equal(await begins(database), 1, 'somebody else has noticed, and marked it')
})

await t.test('what is to be marked is marked in batches, which go on after the process that began has ended', async (t) => {
  const [{ url, ids }, here] = [await queuedIn(t, 5), folder(t)]
  const dump = await copied(t, url)
  await t.test('all of it is sent, and the database is lost', async (t) => {
    await work(await start(t, url, here), minute)
  })
  const database = opened(t, dump)
  await beginLineage(database, { lineage: (await readLineage(database)).lineage })
  t.equal(await markRestored(database, { together: 2, batches: 1 }), 2)
  t.equal(await markRestored(database, { together: 2, batches: 1 }), 2)
  t.equal(await begins(database), 'restored')
  const { owner } = database
  const young = randomUUIDv7()
  await sql`insert into steps select (jsonb_populate_record(steps, ${
    JSON.stringify({ step_id: young, position: 9, restored_to: null, held: 0 })
  })).*
    from steps order by step_id limit 1`.execute(owner)
  const service = await start(t, dump, here)
  has(t, service.log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.endsWith('is marked')), [{ steps: 1 }])
  const marks = await owner.selectFrom('steps').select('step_id').where('restored_to', 'is', null).execute()
  t.same(marks, [{ step_id: young }], 'what came meanwhile is in no doubt')
  await owner.deleteFrom('steps').where('step_id', '=', young).execute()
  const later = (await ask(service, invoiceRequest({}, { providerName: 'mute' }))).body.dispatchId
  await work(service, minute)
  for (const id of ids) {
    has(t, await statusIn(service, id), { status: 'uncertain' })
    t.same(await timesTaken(service, id), [1])
  }
  has(t, await statusIn(service, later), { status: 'succeeded' }, 'nor what came later')
})

await t.test('what an earlier restore has marked is in doubt since then', async (t) => {
  const url = await seededDatabase(t)
  const service = await start(t, url, folder(t))
  await furnish(service)
  await ask(service, invoiceRequest({}, { providerName: 'keyed' }))
  const database = opened(t, url)
  const first = new Date(clock.now().getTime() - ttl * 1000)
  for (const to of [first, clock.now()]) {
    await beginLineage(database, { lineage: (await readLineage(database)).lineage, to })
    await markRestored(database)
  }
  const [step] = await database.owner.selectFrom('steps').select('restored_to').execute()
  t.same(step?.restored_to, first)
})

/** Takes away what a database of an older release does not have. */
async function asBefore (t: Test, url: string): Promise<string> {
  const { owner } = opened(t, url)
  await sql`drop table lineages`.execute(owner)
  await sql`drop view step_errors`.execute(owner)
  await sql`alter table provider_processes drop column template_language`.execute(owner)
  await sql`alter table steps drop column restored_to, drop column delivery_reason, drop column brand_version,
    drop column marks`.execute(owner)
  await sql`drop function move_spending cascade`.execute(owner)
  await sql`drop function month_of, spend_budgets_in`.execute(owner)
  await sql`alter table dispatches drop column schedule, drop column in_batch, drop column brand_version`.execute(owner)
  await sql`alter table callback_endpoints drop column paused_until, drop column warned_at, drop column disabled_at`.execute(owner)
  await sql`alter table users drop column language`.execute(owner)
  await sql`alter table companies drop column leaving_at`.execute(owner)
  await sql`alter table templates drop column in_use_since`.execute(owner)
  await sql`alter table request_log drop column test`.execute(owner)
  await sql`alter table notices drop column mail_id, drop column recorded_at`.execute(owner)
  await sql`alter table provider_state drop column user_id, drop column bytes, drop column expires_at`.execute(owner)
  await sql`alter table inbound drop column reading`.execute(owner)
  await sql`alter table configurations drop column subscriptions, drop column checked, drop column version,
    drop column version_before, drop column forms, drop column form_secrets`.execute(owner)
  await sql`drop function dispatches_with, dispatch_text, folded cascade`.execute(owner)
  await sql`drop table budget_use, budgets, event_feeds, feed_events, paused_batches, retentions, data_keys`.execute(owner)
  await sql`drop function count_dispatch, uncount_dispatch cascade`.execute(owner)
  // Those of features have names of their own, and keep their tables.
  await sql`delete from kysely_migration where name between '068' and ':'`.execute(owner)
  await owner.destroy()
  return url
}

await t.test('a backup of an older release, which knows of no lives, is noticed; a first upgrade is none', async (t) => {
  const [original, here, bucket] = [await seededDatabase(t), folder(t), bucketOf()]
  let id = ''
  await t.test('the older release takes it in', async (t) => {
    const service = await start(t, original, folder(t))
    await furnish(service)
    id = (await ask(service, invoiceRequest({}, { providerName: 'keyed' }))).body.dispatchId
  })
  const dump = await asBefore(t, await copied(t, original))
  const [upgraded, restored, later] = [await copied(t, dump), await copied(t, dump), await copied(t, dump)]
  clock.advance(ttl)
  await t.test('an upgrade', async (t) => {
    const service = await start(t, upgraded, here)
    matches(t, restoredLines(service), [])
    await work(service, minute)
    has(t, await statusIn(service, id), { status: 'succeeded' })
    matches(t, await followed(opened(t, upgraded), markLocations({ folder: folder(t), bucket })), [])
  })
  await t.test('the backup', async (t) => {
    const service = await start(t, restored, here)
    has(t, restoredLines(service), [{ level: 50 }])
    await work(service, 0, 10, minute)
    has(t, await statusIn(service, id), { status: 'uncertain' }, 'its key is counted from its last event')
    t.same(await timesTaken(service, id), [1])
  })
  await t.test('the backup on a new machine', async (t) => {
    const database = opened(t, later)
    await migrate(database)
    matches(t, await followed(database, markLocations({ folder: folder(t), bucket })), noticed)
  })
})
