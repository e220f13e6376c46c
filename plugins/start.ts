import { addLogCounts, allOf, createKeyStore, createMeter, createRequestLog, createSigningKeys, insertRequests, type LogCount, noRequestLog,
  readLinkKey } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import { createExchangeLog, createPassedTrials, createPins, followRestores, insertExchanges, markLocations, migrate, openOutcomeSpool,
  scheduledFileUse, startOutcomeDrain, startProviderSync } from '@dispatch/core'
import { createDatabaseClock, measureSkew, openDatabase, type ReplicaChange, type TimeLimits, waitForDatabase } from '@dispatch/database'
import { templateLanguage } from '@dispatch/documents'
import { createHost, type loadProvider } from '@dispatch/host'
import { openQueue } from '@dispatch/queue'
import { createLazySandbox } from '@dispatch/sandbox'
import { checkMasterKeys, followIndexes, hasDataKeys, noDataKeys, SealedColumns } from '@dispatch/tables'
import { join } from 'node:path'
import { readCatalogLocations } from './config/catalogs.ts'
import type { Config } from './config/config.ts'
import { openKeyring } from './config/master-keys.ts'
import type { Dependencies, Get } from './container/dependencies.ts'
import { beginWork } from './container/dispatches.ts'
import { accessEndsOf, type BoundFeature, type Feature } from './features/feature.ts'
import { migrationsOf } from './features/find-features.ts'
import type { Resolve } from './features/token.ts'

/** The container. `put` adds what a start has opened, unless it is replaced. `find`: what features provide. */
export type Registry = {
  get: Get
  find: Resolve
  put: <Name extends keyof Dependencies>(name: Name, dependency: Dependencies[Name]) => void
  features: readonly BoundFeature[]
}

/** With what a service is opened. `signal` ends the wait for the database. */
export type Opening = {
  databaseUrl: string
  log: Log
  signal?: AbortSignal | undefined
  databaseLimits?: TimeLimits | undefined
  time?: (() => Date) | undefined
  load?: typeof loadProvider | undefined
}

/** A service that starts. `opened`: what is closed at its end, or where it does not come to be. */
export type Start = Registry & {
  config: Config
  opening: Opening
  found: readonly Feature[]
  replacements: Partial<Dependencies>
  opened: AsyncDisposableStack
}

/** Opens what a service is made of, one after the other, each of what is there by then. */
export async function openParts (start: Start): Promise<void> {
  await openTables(start)
  await putSecrets(start)
  putPartsOfFeatures(start)
  await putProviders(start)
  await openStorage(start)
  openLogs(start)
  closeAfterWork(start)
  await beginAll(start)
}

/** The database, with the tables of this version, and what is sealed in them. */
async function openTables ({ config, opening, found, features, replacements, opened, get, put }: Start): Promise<void> {
  const { databaseUrl, log, signal, databaseLimits, time } = opening
  const sealedColumns = new SealedColumns()
  const database = openDatabase({ connectionString: databaseUrl }, {
    plugins: [sealedColumns],
    ...databaseLimits === undefined ? {} : { limits: databaseLimits },
    connections: config.databasePool,
    directUrl: config.databaseDirectUrl,
    replica: config.databaseReplica && {
      ...config.databaseReplica,
      onChange: (change) => {
        tellOfReplica(log, change)
      }
    },
    onError: (error) => log.warn({ err: error }, 'a database connection was lost'),
    onWait: (wait) => log.info(wait, 'waiting for another process, which prepares the database'),
    time
  })
  opened.defer(database.close)
  const now = replacements.now ?? (() => new Date())
  await waitForDatabase(database, { log, signal })
  const keyring = await openKeyring(config)
  const { unknown, newest } = await migrate(database, {
    prove: () => checkMasterKeys(database, keyring),
    ofFeatures: migrationsOf(found),
    log
  })
  if (unknown.length > 0) log.info({ newest, unknown }, 'the database is of a newer version; this process works beside it')
  opened.adopt(followIndexes(database, log), (following) => following.close())
  put('config', config)
  put('now', now)
  put('log', log)
  put('keyring', keyring)
  put('database', database)
  sealedColumns.use(get('dataKeys') ?? noDataKeys)
  put('passwordPolicy', allOf(features.flatMap(({ passwordPolicy }) => passwordPolicy ?? [])))
  put('accessEnds', accessEndsOf(features))
  put('verifications', features.flatMap(({ verification }) => verification ?? []))
}

/** The keys of the service, which the database keeps sealed. */
async function putSecrets ({ get, put }: Start): Promise<void> {
  const [database, keyring, now] = [get('database'), get('keyring'), get('now')]
  const vault = { store: createKeyStore(database), keyring, now }
  put('signingKeys', await createSigningKeys(vault))
  put('linkKey', await readLinkKey(vault))
}

/** What the core asks each feature that has it. */
function putPartsOfFeatures ({ features, get, put }: Start): void {
  put('recipients', features.flatMap(({ recipients }) => recipients?.() ?? []))
  put('approvalDesks', features.flatMap(({ approvals }) => approvals?.() ?? []))
  put('fileUses', [scheduledFileUse(get('database')), ...features.flatMap(({ namesFiles }) => namesFiles?.() ?? [])])
  put('shelves', features.flatMap(({ shelf }) => shelf?.() ?? []))
  put('dispatchRows', features.flatMap(({ dispatchRows }) => dispatchRows?.() ?? []))
  put('holders', features.flatMap(({ holds }) => holds?.() ?? []))
}

/** The providers of the installation and of features, and the processes in which strangers' run. */
async function putProviders ({ config, opening: { log, load }, features, replacements, opened, get, put }: Start): Promise<void> {
  const database = get('database')
  const sandbox = createLazySandbox({
    cache: join(config.dataDirectory, 'sandbox'),
    walls: config.sandboxWalls,
    log
  })
  opened.defer(sandbox.close)
  put('sandbox', sandbox)
  put('catalogLocations', await readCatalogLocations(config))
  const sources = await Promise.all(features.flatMap(({ providers: ask }) => ask === undefined ? [] : [ask()]))
  put('providerSources', sources)
  const passedTrials = replacements.passedTrials ?? createPassedTrials(database)
  put('host', await createHost({
    directories: config.providerDirectories,
    others: sources.map(({ load }) => load),
    log,
    pins: createPins(database),
    passedTrials,
    ...load === undefined ? {} : { load },
    ...config.sandbox === 'all' ? { loadOutside: (await sandbox.open()).load } : {}
  }))
}

/** Where documents are, and what waits on the disk. */
async function openStorage ({ config, opening: { log }, opened, get, put }: Start): Promise<void> {
  const [database, keyring, now] = [get('database'), get('keyring'), get('now')]
  const skew = await measureSkew(database, { now, log })
  put('clockSkew', skew)
  put('databaseTime', createDatabaseClock(database, { now, skew }))
  await get('dataKeys')?.ready()
  if (config.dataKeys === undefined && await hasDataKeys(database)) {
    log.warn({}, 'documents were sealed that cannot be opened: DISPATCH_KEYS is not set')
  }
  await get('files').ready()
  const locations = markLocations({ folder: config.dataDirectory, ...config.storage === undefined ? {} : { bucket: get('files') } })
  opened.adopt(await followRestores({ database, locations, log }), (following) => following.close())
  put('outcomeSpool', await openOutcomeSpool({ folder: join(config.dataDirectory, 'outcomes'), keyring, log }))
  // A folder that cannot be used ends the start, not the events that come while the database is away.
  await get('waitingEvents').count()
}

/** The logs that companies read. */
function openLogs ({ config, opening: { log }, opened, get, put }: Start): void {
  const [database, now] = [get('database'), get('now')]
  /** What each company may fill of a log in a day. */
  const budgetOf = (name: string) =>
    config.logBudget === 0 ? undefined : {
      meter: createMeter(database, { name, quota: config.logBudget * mebibyte, window: day }, {
        now,
        onError: (err) => log.warn({ err }, 'other processes could not be told what a company has logged')
      }),
      write: (counts: readonly LogCount[]) => addLogCounts(database, counts),
      log
    }
  put('requestLog', config.keepsRequestLog
    ? createRequestLog({
      write: (rows) => insertRequests(database, rows),
      log
    }, budgetOf('request-log'))
    : noRequestLog)
  opened.defer(() => get('requestLog').close())
  put('exchangeLog', createExchangeLog({ write: (rows) => insertExchanges(database, rows), log }, budgetOf('exchange-log')))
  opened.defer(() => get('exchangeLog').close())
}

/** What is closed once the dispatches under way have ended. */
function closeAfterWork ({ features, opened, get }: Start): void {
  opened.defer(() => get('network').close())
  opened.defer(() => get('renderer').close())
  opened.defer(() => get('templateWorkers').close())
  opened.defer(() => {
    get('leases').close()
  })
  opened.defer(() => get('pipeline').drain())
  for (const { drain } of features) if (drain !== undefined) opened.defer(drain)
}

/** The queue, and the work beside requests. */
async function beginAll ({ config, opening: { databaseUrl, log }, features, opened, get, put }: Start): Promise<void> {
  const database = get('database')
  const queue = await openQueue({
    databaseUrl: config.databaseDirectUrl ?? databaseUrl,
    database,
    log,
    othersWork: get('othersLately').besides
  })
  opened.defer(queue.close)
  put('queue', queue)
  const providerSync = await startProviderSync({ database, host: get('host'), log, newId: get('newId'), templateLanguage })
  put('providerSync', providerSync)
  opened.defer(providerSync.close)
  opened.adopt(startOutcomeDrain(get('pipelineParts')), (recording) => recording.close())
  if (config.runsWorker) {
    opened.adopt(await beginWork(get), (worker) => worker.close())
    for (const { work } of features) if (work !== undefined) opened.use(await work())
  }
}

const mebibyte = 1024 * 1024
/** In seconds. */
const day = 86_400

function tellOfReplica (log: Log, change: ReplicaChange): void {
  if (change.used) log.info({}, 'lists are read from the replica')
  else log.warn({ reason: change.why }, 'lists are read from the primary: the replica cannot be used')
}
