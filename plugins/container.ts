import 'reflect-metadata'
import { addLogCounts, allOf, createKeyStore, createMeter, createRequestLog, createSigningKeys, insertRequests, type LogCount, noRequestLog,
  readLinkKey } from '@dispatch/accounts'
import { createRecentOthers, type Log } from '@dispatch/common'
import { createChanges, createExchangeLog, createPassedTrials, createPins, followRestores, insertExchanges, markPlaces, migrate,
  openOutcomeSpool, scheduledFileUse, startOutcomeDrain, startProviderSync } from '@dispatch/core'
import { createFreshness, measureSkew, openDatabase, type ReplicaChange, type TimeLimits, waitForDatabase } from '@dispatch/database'
import { createHost, type loadProvider } from '@dispatch/host'
import { openQueue } from '@dispatch/queue'
import { createLazySandbox } from '@dispatch/sandbox'
import { checkMasterKeys, followIndexes, hasDataKeys, noDataKeys, SealedColumns } from '@dispatch/tables'
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { container, instanceCachingFactory } from 'tsyringe'
import { readCatalogPlaces } from './config/catalogs.ts'
import type { Config } from './config/config.ts'
import { openKeyring } from './config/master-keys.ts'
import type { AppDependencies, Factories, Get } from './container/dependencies.ts'
import { beginWork, dispatches } from './container/dispatches.ts'
import { documents } from './container/documents.ts'
import { people } from './container/people.ts'
import { providers } from './container/providers.ts'
import { accessEndsOf, type BoundFeature, type Feature } from './features/feature.ts'
import { findFeatures, migrationsOf } from './features/find-features.ts'
import { ports } from './features/ports.ts'
import type { Resolve, Token } from './features/token.ts'
import { admissionLimits } from './hooks/admission-control.ts'
import { transportLimits } from './server/transport-limits.ts'

export type { AppDependencies } from './container/dependencies.ts'

/**
 * The service with all its dependencies and its features, bound to what they need. `close` waits for the running dispatches, then closes
 * everything that was opened. `find`: what features provide.
 */
export type App = { get: Get, find: Resolve, features: readonly BoundFeature[], close: () => Promise<void> }

/**
 * How each dependency is created from others, when it is first requested. tsyringe's decorators inject into constructors of classes, by
 * types that Node's type stripping removes. The dependencies are made by functions, so factories are registered by name.
 */
const factories: Factories = {
  newId: () => () => randomUUIDv7(),
  transportLimits: () => transportLimits,
  admissionLimits: () => admissionLimits,
  othersLately: () => createRecentOthers(othersWork),
  traces: () => undefined,
  leaving: () => new AbortController(),
  freshness: (get) => createFreshness(get('database')),
  changes: (get) => createChanges({ database: get('database'), dispatchRows: get('dispatchRows'), log: get('log') }),
  ...people,
  ...providers,
  ...documents,
  ...dispatches
}

/**
 * `signal` ends the wait for the database. `time` replaces the database's clock in tests, `load` how they load a provider into the process.
 * `features` replaces those of the installation.
 * Any dependency can be replaced under its name.
 */
export type AppOptions = {
  databaseUrl: string
  log: Log
  signal?: AbortSignal
  databaseLimits?: TimeLimits
  time?: (() => Date) | undefined
  features?: readonly Feature[]
  load?: typeof loadProvider
} & Partial<AppDependencies>

/**
 * Opens the database (`databaseUrl`), waits until it can be reached, migrates its schema, loads the providers and creates the dependencies.
 * Throws an error with one clear sentence; then nothing is left open.
 */
export async function createApp (
  config: Config,
  { databaseUrl, log, signal, databaseLimits, time, features: given, load, ...replacements }: AppOptions
): Promise<App> {
  const dependencies = container.createChildContainer()
  const get: Get = (name) => dependencies.resolve(name)
  const find = <Dependency>({ name }: Token<Dependency>): Dependency => dependencies.resolve(name)
  const ofFeatures = new Map<string, string>()
  const requireFree = (name: string): void => {
    const feature = ofFeatures.get(name)
    if (feature !== undefined) throw new Error(`The feature "${feature}" provides "${name}", which the service itself has.`)
  }
  const put = <Name extends keyof AppDependencies>(name: Name, dependency: AppDependencies[Name]): void => {
    requireFree(name)
    if (!Object.hasOwn(replacements, name)) dependencies.registerInstance(name, dependency)
  }

  for (const name of Object.keys(factories) as (keyof AppDependencies)[]) {
    dependencies.register(name, { useFactory: instanceCachingFactory(() => factories[name]?.(get)) })
  }
  const found = given ?? await findFeatures()
  const features = found.map((feature): BoundFeature => feature.bind(find))
  for (const { name: feature, provisions } of features) {
    for (const { name, create } of provisions) {
      ofFeatures.set(name, feature)
      if (Object.hasOwn(factories, name)) requireFree(name)
      dependencies.register(name, { useFactory: instanceCachingFactory(create) })
    }
  }
  const [lacking] = Object.keys(ports).filter((name) => !ofFeatures.has(name))
  if (lacking !== undefined) throw new Error(`No feature provides "${lacking}", without which no service is started.`)
  for (const [name, dependency] of Object.entries(replacements)) dependencies.registerInstance(name, dependency)
  const opened = new AsyncDisposableStack()
  try {
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
      time
    })
    opened.defer(database.close)
    const now = replacements.now ?? (() => new Date())
    await waitForDatabase(database, { log, signal })
    const keyring = await openKeyring(config)
    const { unknown, newest } = await migrate(database, {
      prove: () => checkMasterKeys(database, keyring),
      ofFeatures: migrationsOf(found)
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
    const vault = { store: createKeyStore(database), keyring, now }
    put('signingKeys', await createSigningKeys(vault))
    put('linkKey', await readLinkKey(vault))
    put('recipients', features.flatMap(({ recipients }) => recipients?.() ?? []))
    put('approvalDesks', features.flatMap(({ approvals }) => approvals?.() ?? []))
    put('fileUses', [scheduledFileUse(database), ...features.flatMap(({ namesFiles }) => namesFiles?.() ?? [])])
    put('shelves', features.flatMap(({ shelf }) => shelf?.() ?? []))
    put('dispatchRows', features.flatMap(({ dispatchRows }) => dispatchRows?.() ?? []))
    put('holders', features.flatMap(({ holds }) => holds?.() ?? []))
    const sandbox = createLazySandbox({
      cache: join(config.dataDirectory, 'sandbox'),
      walls: config.sandboxWalls,
      log
    })
    opened.defer(sandbox.close)
    put('sandbox', sandbox)
    put('catalogPlaces', await readCatalogPlaces(config))
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
    put('clockSkew', await measureSkew(database, { now, log }))
    await get('dataKeys')?.ready()
    if (config.dataKeys === undefined && await hasDataKeys(database)) {
      log.warn({}, 'documents were sealed that cannot be opened: DISPATCH_KEYS is not set')
    }
    await get('files').ready()
    const places = markPlaces({ folder: config.dataDirectory, ...config.storage === undefined ? {} : { bucket: get('files') } })
    opened.adopt(await followRestores({ database, places, log }), (following) => following.close())
    put('outcomeSpool', await openOutcomeSpool({ folder: join(config.dataDirectory, 'outcomes'), keyring, log }))
    // A folder that cannot be used ends the start, not the events that come while the database is away.
    await get('waitingEvents').count()
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
    opened.defer(() => get('network').close())
    opened.defer(() => get('renderer').close())
    opened.defer(() => get('templateWorkers').close())
    opened.defer(() => {
      get('leases').close()
    })
    opened.defer(() => get('pipeline').drain())
    for (const { drain } of features) if (drain !== undefined) opened.defer(drain)
    const queue = await openQueue({
      databaseUrl: config.databaseDirectUrl ?? databaseUrl,
      database,
      log,
      othersWork: get('othersLately').besides
    })
    opened.defer(queue.close)
    put('queue', queue)
    const providerSync = await startProviderSync({ database, host: get('host'), log, newId: get('newId') })
    put('providerSync', providerSync)
    opened.defer(providerSync.close)
    opened.adopt(startOutcomeDrain(get('pipelineParts')), (recording) => recording.close())
    if (config.runsWorker) {
      opened.adopt(await beginWork(get), (worker) => worker.close())
      for (const { work } of features) if (work !== undefined) opened.use(await work())
    }
  } catch (error) {
    // An error while closing must not hide the error that ended the start.
    await opened.disposeAsync().catch((after: unknown) => {
      log.warn({ err: after }, 'the service could not be closed after a failed start')
    })
    throw error
  }
  return { get, find, features, close: () => opened.disposeAsync() }
}

const mebibyte = 1024 * 1024
/** For how many milliseconds a company is at work that has begun a request. */
const othersWork = 1_000
/** In seconds. */
const day = 86_400

function tellOfReplica (log: Log, change: ReplicaChange): void {
  if (change.used) log.info({}, 'lists are read from the replica')
  else log.warn({ reason: change.why }, 'lists are read from the primary: the replica cannot be used')
}
