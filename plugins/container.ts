import 'reflect-metadata'
import { type Accounts, type Adapters, type Addresses, type ApiKeys, type Assets, type Authentication, type Breakers, type BruteForceGuard,
  type CallbackEndpoints, type Callbacks, type CallbackSigning, type CatalogPlace, type Catalogs, type Changes, checkMasterKeys,
  type CompanyAccounts, type CompanySettings, type Configurations, type ConfigurationService, type Connecting, createAccounts,
  createApiKeys, createAssets, createAuthentication, createBreakers, createBruteForceGuard, createCallbackEndpoints, createCallbacks,
  createCallbackSigning, createCatalogs, createChanges, createCompanyAccounts, createCompanySettings, createConfigurations,
  createConfigurationService, createConnecting, createCredentialCheck, createCredentials, createDocumentLinks, createDocumentSpool,
  createDownloads, createEndpointCallbacks, createEndpointSigning, createFetchJson, createFreshness, createHost, createImpersonation,
  createInbox, createJobs, createKeyAdministration, createKeySources, createKeyStore, createKnownClients, createLazySandbox, createLeases,
  createLinks, createLocalFiles, createMarketplace, createNetwork, createOpenId, createOutbox, createPassedTrials, createPasskeys,
  createPins, createPipeline, createProviderAdministration, createProviderState, createRateLimiter, createReleaseQueue, createRequestLog,
  createS3Files, createSecondFactors, createSessions, createSigningKeys, createSigningOn, createSingleSignOn, createStatusChangeHandler,
  createStatusQuery, createTemplateEditor, createTemplates, createTokens, createUsers, createWebhookReceiver, createWebhookVerifier,
  type CredentialCheck, type Credentials, type Database, demo, type DocumentLinks, type DocumentSpool, type DocumentUrl, type Downloads,
  type EndpointCallbacks, type EndpointSigning, type EventSpool, type FetchJson, type FileStore, followIndexes, type Freshness, type Host,
  type Impersonation, type Inbox, insertRequests, type InstalledProvider, type KeyAdministration, type Keyring, type Leases,
  type LeaseTimes, leaseTimes, linkOf, type Links, type Log, type Marketplace, measureSkew, migrate, type Network, noRequestLog,
  openAdapters, openDatabase, openEventSpool, type OpenId, openOutcomeSpool, openQueue, type Outbox, type OutcomeSpool, type PassedTrials,
  type Passkeys, type Pipeline, type PipelineDependencies, type PipelineJobs, type ProviderAdministration, type ProviderSync, type Queue,
  readLinkKey, type Receive, receiveFile, recordCrash, type ReleaseQueue, relyingPartyOf, type RepeatingTask, type ReplicaChange,
  type RequestLog, runEvery, type SandboxState, type SecondFactors, type Sessions, type SigningKeys, type SigningOn, type SingleSignOn,
  startOutcomeDrain, startProviderSync, startWorker, type State, type TemplateEditor, type Templates, type TimeLimits, type Tokens,
  type Users, waitForDatabase, type WebhookReceiver, type WebhookVerifier, withoutProvider, type Worker } from '@dispatch/core'
import { createRenderer, createTemplateWorkers, type Renderer, type TemplateWorkers } from '@dispatch/documents'
import { randomUUIDv7 } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { container, instanceCachingFactory } from 'tsyringe'
import { readCatalogPlaces } from './config/catalogs.ts'
import type { Config } from './config/config.ts'
import { openKeyring } from './config/master-keys.ts'
import { type AdmissionLimits, admissionLimits } from './hooks/admission-control.ts'
import type { RateLimiters } from './hooks/rate-limits.ts'
import { createSimulatedVendor, type SimulatedVendor } from './routes/simulated-vendor.ts'
import { type TransportLimits, transportLimits } from './server/transport-limits.ts'
import type { Traces } from './traces/traces.ts'

/** Every dependency of the service, by its name in the container. */
export type AppDependencies = {
  config: Config
  now: () => Date
  newId: () => string
  log: Log
  /** Undefined where nothing is traced. */
  traces: Traces | undefined
  keyring: Keyring
  signingKeys: SigningKeys
  linkKey: Uint8Array
  database: Database
  /** How far this machine's clock is from the database's, in seconds, measured at the start. */
  clockSkew: number
  freshness: Freshness
  accounts: Accounts
  credentials: Credentials
  tokens: Tokens
  authentication: Authentication
  impersonation: Impersonation
  users: Users
  companies: CompanyAccounts
  companySettings: CompanySettings
  apiKeys: ApiKeys
  keyAdministration: KeyAdministration
  sessions: Sessions
  openId: OpenId
  singleSignOn: SingleSignOn
  signingOn: SigningOn
  links: Links
  secondFactors: SecondFactors
  passkeys: Passkeys
  /** Undefined where authentication has no rate limit. */
  bruteForceGuard: BruteForceGuard | undefined
  rateLimiters: RateLimiters
  /** Aborted when load balancers are to send nothing more. */
  leaving: AbortController
  configurations: Configurations
  configurationService: ConfigurationService
  credentialCheck: CredentialCheck
  connecting: Connecting
  templates: Templates
  templateEditor: TemplateEditor
  assets: Assets
  files: FileStore
  receive: Receive
  documentLinks: DocumentLinks
  downloads: Downloads
  documentUrl: DocumentUrl
  addresses: Addresses
  adapters: Adapters
  catalogPlaces: readonly CatalogPlace[]
  catalogs: Catalogs
  marketplace: Marketplace
  /** What the processes of the providers do; null: all run in this one. */
  sandboxState: () => SandboxState | null
  host: Host
  /** The folders of providers that need no trial. */
  passedTrials: PassedTrials
  providerSync: ProviderSync
  /** The providers that companies may choose. In production the simulator is not one of them: only test keys reach it. */
  selectableProviders: Host
  providerAdministration: ProviderAdministration
  breakers: Breakers
  network: Network
  documentSpool: DocumentSpool
  renderer: Renderer
  transportLimits: TransportLimits
  admissionLimits: AdmissionLimits
  templateWorkers: TemplateWorkers
  /** How long a client waits for a synchronous dispatch, in seconds. */
  synchronousLimit: number
  leases: Leases
  /** Results of provider calls that could not be written to the database. */
  outcomeSpool: OutcomeSpool
  leaseTimes: LeaseTimes
  jobs: PipelineJobs
  releaseQueue: ReleaseQueue
  outbox: Outbox
  pipelineDependencies: PipelineDependencies
  pipeline: Pipeline
  queue: Queue
  changes: Changes
  /** The requests of companies, which they can read. */
  requestLog: RequestLog
  callbackSigning: CallbackSigning
  callbacks: Callbacks
  endpointSigning: EndpointSigning
  callbackEndpoints: CallbackEndpoints
  endpointCallbacks: EndpointCallbacks
  fetchJson: FetchJson
  /** In development only. */
  simulatedVendor: SimulatedVendor
  simulatorState: (companyId: number) => State
  webhookVerifier: WebhookVerifier
  eventSpool: EventSpool
  inbox: Inbox
  webhookReceiver: WebhookReceiver
}

/** The service with all its dependencies. `close` waits for the running dispatches, then closes everything that was opened. */
export type App = { get: <Name extends keyof AppDependencies>(name: Name) => AppDependencies[Name], close: () => Promise<void> }

/**
 * How each dependency is created from others, when it is first requested. tsyringe's decorators inject into constructors of classes, by
 * types that Node's type stripping removes. The dependencies are made by functions, so factories are registered by name.
 */
const factories: { [Name in keyof AppDependencies]?: (get: App['get']) => AppDependencies[Name] } = {
  newId: () => () => randomUUIDv7(),
  renderer: () => createRenderer(),
  transportLimits: () => transportLimits,
  admissionLimits: () => admissionLimits,
  templateWorkers: () => createTemplateWorkers(),
  synchronousLimit: () => 120,
  traces: () => undefined,
  leaving: () => new AbortController(),
  freshness: (get) => createFreshness(get('database')),
  accounts: (get) => createAccounts(get('database'), get('freshness')),
  credentials: (get) => createCredentials({ accounts: get('accounts'), bruteForceGuard: get('bruteForceGuard'), now: get('now') }),
  tokens: (get) => createTokens({ keys: get('signingKeys'), now: get('now') }),
  users: (get) => createUsers({ database: get('database'), credentials: get('credentials'), now: get('now') }),
  keyAdministration: (get) =>
    createKeyAdministration({ database: get('database'), accounts: get('accounts'), now: get('now'), newId: get('newId') }),
  sessions: (get) =>
    createSessions({
      database: get('database'),
      accounts: get('accounts'),
      authentication: get('authentication'),
      tokens: get('tokens'),
      secondFactors: get('secondFactors'),
      singleSignOn: get('singleSignOn'),
      passkeys: get('passkeys'),
      now: get('now'),
      newId: get('newId')
    }),
  openId: (get) => createOpenId({ transport: get('network').transport, plainHttp: get('config').environment === 'development' }),
  singleSignOn: (get) =>
    createSingleSignOn({
      database: get('database'),
      accounts: get('accounts'),
      keyring: get('keyring'),
      openId: get('openId'),
      publicUrl: get('config').publicUrl,
      plainHttp: get('config').environment === 'development',
      now: get('now')
    }),
  signingOn: (get) =>
    createSigningOn({
      database: get('database'),
      accounts: get('accounts'),
      keyring: get('keyring'),
      openId: get('openId'),
      publicUrl: get('config').publicUrl,
      log: get('log'),
      now: get('now')
    }),
  links: (get) =>
    createLinks({
      database: get('database'),
      accounts: get('accounts'),
      page: get('config').showsConsole ? `${get('config').publicUrl}/console/link` : undefined,
      now: get('now'),
      newId: get('newId')
    }),
  passkeys: (get) =>
    createPasskeys({
      database: get('database'),
      secondFactors: get('secondFactors'),
      party: relyingPartyOf(get('config').publicUrl),
      now: get('now'),
      newId: get('newId')
    }),
  secondFactors: (get) =>
    createSecondFactors({
      database: get('database'),
      accounts: get('accounts'),
      credentials: get('credentials'),
      keyring: get('keyring'),
      party: relyingPartyOf(get('config').publicUrl),
      bruteForceGuard: get('bruteForceGuard'),
      now: get('now')
    }),
  companies: (get) => createCompanyAccounts({ database: get('database'), now: get('now') }),
  companySettings: (get) => createCompanySettings({ database: get('database'), guard: get('network').guard, now: get('now') }),
  authentication: (get) =>
    createAuthentication({
      accounts: get('accounts'),
      credentials: get('credentials'),
      tokens: get('tokens'),
      keys: get('apiKeys'),
      secondFactors: get('secondFactors'),
      bruteForceGuard: get('bruteForceGuard'),
      now: get('now')
    }),
  impersonation: (get) => createImpersonation({ authentication: get('authentication'), database: get('database'), now: get('now') }),
  apiKeys: (get) =>
    createApiKeys(get('database'), get('freshness'), {
      now: get('now'),
      onError: (err) => get('log').warn({ err }, 'the last use of an API key could not be recorded')
    }),
  bruteForceGuard: (get) => bruteForceGuardOf(get),
  rateLimiters: (get) => limitersOf(get),
  configurations: (get) => createConfigurations(get('database'), get('freshness')),
  configurationService: (get) =>
    createConfigurationService({
      configurations: get('configurations'),
      host: get('selectableProviders'),
      keyring: get('keyring'),
      guard: get('network').guard,
      publicUrl: get('config').publicUrl,
      disk: get('config').diskRoot !== undefined,
      now: get('now')
    }),
  credentialCheck: (get) =>
    createCredentialCheck({
      configurations: get('configurations'),
      host: get('selectableProviders'),
      keyring: get('keyring'),
      network: get('network'),
      database: get('database'),
      log: get('log'),
      now: get('now'),
      newId: get('newId')
    }),
  connecting: (get) =>
    createConnecting({
      configurations: get('configurations'),
      host: get('selectableProviders'),
      keyring: get('keyring'),
      network: get('network'),
      database: get('database'),
      publicUrl: get('config').publicUrl,
      now: get('now')
    }),
  selectableProviders: (get) => get('config').environment === 'production' ? withoutProvider(get('host'), demo.provider) : get('host'),
  templates: (get) => createTemplates(get('database'), get('freshness')),
  assets: (get) => createAssets({ database: get('database'), workers: get('templateWorkers'), now: get('now') }),
  templateEditor: (get) =>
    createTemplateEditor({
      database: get('database'),
      templates: get('templates'),
      templateWorkers: get('templateWorkers'),
      now: get('now')
    }),
  files: (get) => {
    const { dataDirectory, storage: bucket } = get('config')
    return bucket === undefined
      ? createLocalFiles(join(dataDirectory, 'files'))
      : createS3Files({ bucket, folder: join(dataDirectory, 'spool'), log: get('log') })
  },
  network: (get) =>
    createNetwork({
      allow: get('config').allowedNetworks,
      loopback: get('config').environment === 'development' ? 'allowed' : 'refused',
      mailName: mailNameOf(get('config')),
      now: get('now')
    }),
  catalogs: (get) =>
    createCatalogs({ database: get('database'), places: get('catalogPlaces'), transport: get('network').transport, now: get('now') }),
  marketplace: (get) =>
    createMarketplace({
      database: get('database'),
      keyring: get('keyring'),
      log: get('log'),
      ...get('adapters'),
      follow: get('providerSync').reload,
      catalogs: get('catalogs'),
      smoke: smokeFaults
    }),
  providerAdministration: (get) => createProviderAdministration({ sync: get('providerSync'), database: get('database'), now: get('now') }),
  breakers: (get) => createBreakers({ now: get('now') }),
  documentSpool: (get) => createDocumentSpool({ folder: join(get('config').dataDirectory, 'spool'), newId: get('newId') }),
  receive: (get) => (companyId, file) => receiveFile({ files: get('files'), newId: get('newId'), now: get('now') }, companyId, file),
  documentLinks: (get) => createDocumentLinks({ key: get('linkKey'), now: get('now') }),
  downloads: (get) => createDownloads({ database: get('database'), files: get('files'), links: get('documentLinks'), now: get('now') }),
  documentUrl: (get) => ({ id, expiresAt }) => linkOf(get('config').publicUrl, get('documentLinks').sign(id, expiresAt)),
  addresses: (get) => ({
    document: get('documentUrl'),
    status: (dispatchId) => `${get('config').publicUrl}/api/v1/dispatches/${dispatchId}`
  }),
  fetchJson: (get) => createFetchJson(get('network')),
  simulatedVendor: (get) => createSimulatedVendor({ endpointAuth: get('config').webhookAuth, now: get('now') }),
  simulatorState: (get) => (companyId) => createProviderState(get('database'), companyId, demo.provider),
  webhookVerifier: (get) =>
    createWebhookVerifier({
      database: get('database'),
      freshness: get('freshness'),
      keyring: get('keyring'),
      keys: createKeySources({
        fetchJson: get('fetchJson'),
        now: get('now'),
        onError: (err, url) => get('log').warn({ err, url }, 'the public keys of a vendor could not be fetched')
      }),
      ...get('config').environment === 'development' ? get('simulatedVendor').endpoints : { endpointAuth: get('config').webhookAuth }
    }),
  callbackSigning: (get) =>
    createCallbackSigning({ database: get('database'), keyring: get('keyring'), now: get('now'), newId: get('newId') }),
  callbacks: (get) =>
    createCallbacks({
      database: get('database'),
      queue: get('queue'),
      network: get('network'),
      signing: get('callbackSigning'),
      log: get('log'),
      now: get('now')
    }),
  endpointSigning: (get) => createEndpointSigning({ keyring: get('keyring'), now: get('now'), newId: get('newId') }),
  callbackEndpoints: (get) =>
    createCallbackEndpoints({
      database: get('database'),
      network: get('network'),
      guard: get('network').guard,
      signing: get('endpointSigning'),
      now: get('now'),
      newId: get('newId')
    }),
  endpointCallbacks: (get) =>
    createEndpointCallbacks({
      database: get('database'),
      queue: get('queue'),
      network: get('network'),
      signing: get('endpointSigning'),
      log: get('log'),
      now: get('now')
    }),
  inbox: (get) => createInbox({ database: get('database'), queue: get('queue'), spool: get('eventSpool'), log: get('log') }),
  webhookReceiver: (get) =>
    createWebhookReceiver({
      host: get('host'),
      webhookVerifier: get('webhookVerifier'),
      inbox: get('inbox'),
      keyring: get('keyring'),
      log: get('log'),
      now: get('now'),
      newId: get('newId')
    }),
  leaseTimes: () => leaseTimes,
  leases: (get) =>
    createLeases({ database: get('database'), newId: get('newId'), now: get('now'), log: get('log'), times: get('leaseTimes') }),
  outbox: (get) =>
    createOutbox({ database: get('database'), queue: get('queue'), documentUrl: get('documentUrl'), newId: get('newId'), now: get('now') }),
  changes: (get) => createChanges({ database: get('database'), log: get('log') }),
  jobs: (get) => createJobs({ queue: get('queue'), now: get('now') }),
  releaseQueue: (get) => createReleaseQueue({ database: get('database'), queue: get('queue'), breakers: get('breakers'), now: get('now') }),
  pipelineDependencies: (get) => ({
    database: get('database'),
    configurations: get('configurations'),
    templates: get('templates'),
    files: get('files'),
    host: get('host'),
    breakers: get('breakers'),
    network: get('network'),
    spool: get('documentSpool'),
    ...diskOf(get('config')),
    renderer: get('renderer'),
    templateWorkers: get('templateWorkers'),
    documentUrl: get('documentUrl'),
    keyring: get('keyring'),
    log: get('log'),
    leases: get('leases'),
    outcomes: get('outcomeSpool'),
    jobs: get('jobs'),
    accounts: get('accounts'),
    outbox: get('outbox'),
    now: get('now'),
    newId: get('newId')
  }),
  pipeline: (get) =>
    createPipeline(get('pipelineDependencies'), {
      prices: get('config').prices,
      synchronousLimit: get('synchronousLimit'),
      publicUrl: get('config').publicUrl,
      standIn: demo.provider,
      offered: get('selectableProviders')
    })
}

/** Loads the kit when a package is taken in. */
async function smokeFaults (provider: InstalledProvider, folder: string): Promise<string[]> {
  const kit = await import('@dispatch/conformance/smoke')
  return await kit.smokeFaults(provider, folder)
}

/** In seconds. */
const minute = 60

/** A rate limiter for each limit that is not off. */
function limitersOf (get: App['get']): RateLimiters {
  const limits = Object.entries(get('config').limits).filter(([, quota]) => quota > 0)
  return Object.fromEntries(limits.map(([name, quota]) => [name, createRateLimiter(get('database'), { name, quota, window: minute })]))
}

/**
 * Per minute, an address may try as many wrong passwords as it may request tokens; per 15 minutes, an account takes five times as many, and
 * a user as many wrong codes of a second factor.
 */
function bruteForceGuardOf (get: App['get']): BruteForceGuard | undefined {
  const { config: { limits: { auth } }, database, now } = { config: get('config'), database: get('database'), now: get('now') }
  if (auth === 0) return undefined
  return createBruteForceGuard({
    addresses: createRateLimiter(database, { name: 'failures', quota: auth, window: minute }),
    accounts: createRateLimiter(database, { name: 'account', quota: 5 * auth, window: 15 * minute }),
    codes: createRateLimiter(database, { name: 'codes', quota: auth, window: 15 * minute }),
    known: createKnownClients(database, now)
  })
}

/** The name in EHLO: an IP address is written in brackets (RFC 5321, 4.1.3). */
function mailNameOf ({ mailName, publicUrl }: Config): string {
  const host = new URL(publicUrl).hostname
  return mailName ?? (isIP(host) === 4 ? `[${host}]` : host.replace(/^\[/, '[IPv6:'))
}

const diskOf = ({ diskRoot }: Config): { diskRoot?: string } => diskRoot === undefined ? {} : { diskRoot }

/**
 * `signal` ends the wait for the database. `time` replaces the database's clock in tests. Any dependency can be replaced under its name.
 */
export type AppOptions = {
  databaseUrl: string
  log: Log
  signal?: AbortSignal
  databaseLimits?: TimeLimits
  time?: (() => Date) | undefined
} & Partial<AppDependencies>

/**
 * Opens the database (`databaseUrl`), waits until it can be reached, migrates its schema, loads the providers and creates the dependencies.
 * Throws an error with one clear sentence; then nothing is left open.
 */
export async function createApp (
  config: Config,
  { databaseUrl, log, signal, databaseLimits, time, ...replacements }: AppOptions
): Promise<App> {
  const dependencies = container.createChildContainer()
  const get: App['get'] = (name) => dependencies.resolve(name)
  const put = <Name extends keyof AppDependencies>(name: Name, dependency: AppDependencies[Name]): void => {
    dependencies.registerInstance(name, dependency)
  }

  for (const name of Object.keys(factories) as (keyof AppDependencies)[]) {
    dependencies.register(name, { useFactory: instanceCachingFactory(() => factories[name]?.(get)) })
  }
  const opened = new AsyncDisposableStack()
  try {
    const database = openDatabase({ connectionString: databaseUrl }, {
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
    const { unknown, newest } = await migrate(database, () => checkMasterKeys(database, keyring))
    if (unknown.length > 0) log.info({ newest, unknown }, 'the database is of a newer version; this process works beside it')
    opened.adopt(followIndexes(database, log), (following) => following.close())
    const vault = { store: createKeyStore(database), keyring, now }
    put('signingKeys', await createSigningKeys(vault))
    put('linkKey', await readLinkKey(vault))
    const sandbox = createLazySandbox({
      cache: join(config.dataDirectory, 'sandbox'),
      log,
      onCrash: ({ digest: integrity }, why) =>
        void recordCrash(database, { integrity, why }).catch((err: unknown) => {
          log.warn({ err }, 'the crash of an adapter could not be recorded')
        })
    })
    opened.defer(sandbox.close)
    put('sandboxState', sandbox.state)
    const adapters = await openAdapters({ folder: join(config.dataDirectory, 'adapters'), database, sandbox: sandbox.open, log })
    put('adapters', adapters)
    put('catalogPlaces', await readCatalogPlaces(config))
    const passedTrials = replacements.passedTrials ?? createPassedTrials(database)
    put('host', await createHost({
      directories: config.providerDirectories,
      others: adapters.load,
      log,
      pins: createPins(database),
      passedTrials,
      ...config.sandbox === 'all' ? { loadOutside: (await sandbox.open()).load } : {}
    }))
    put('config', config)
    put('now', now)
    put('log', log)
    put('keyring', keyring)
    put('database', database)
    put('clockSkew', await measureSkew(database, { now, log }))
    put('eventSpool', await openEventSpool({ folder: join(config.dataDirectory, 'webhooks'), now, newId: get('newId'), log }))
    put('outcomeSpool', await openOutcomeSpool({ folder: join(config.dataDirectory, 'outcomes'), keyring, log }))
    for (const [name, dependency] of Object.entries(replacements)) dependencies.registerInstance(name, dependency)
    put('requestLog', config.keepsRequestLog ? createRequestLog({ write: (rows) => insertRequests(database, rows), log }) : noRequestLog)
    opened.defer(() => get('requestLog').close())
    opened.defer(() => get('network').close())
    opened.defer(() => get('renderer').close())
    opened.defer(() => get('templateWorkers').close())
    opened.defer(() => {
      get('leases').close()
    })
    opened.defer(() => get('pipeline').drain())
    const queue = await openQueue({ databaseUrl: config.databaseDirectUrl ?? databaseUrl, database, log })
    opened.defer(queue.close)
    put('queue', queue)
    const providerSync = await startProviderSync({ database, host: get('host'), log, newId: get('newId') })
    put('providerSync', providerSync)
    opened.defer(providerSync.close)
    if (get('catalogPlaces').length > 0) opened.adopt(followCatalogs(get), (following) => following.close())
    opened.adopt(startOutcomeDrain(get('pipelineDependencies')), (recording) => recording.close())
    if (config.runsWorker) opened.adopt(await beginWork(get), (worker) => worker.close())
  } catch (error) {
    // An error while closing must not hide the error that ended the start.
    await opened.disposeAsync().catch((after: unknown) => {
      log.warn({ err: after }, 'the service could not be closed after a failed start')
    })
    throw error
  }
  return { get, close: () => opened.disposeAsync() }
}

/** Milliseconds between two looks at the catalogs. */
const catalogsEvery = 3_600_000

/** Reads the catalogs now, and then every hour, so that what they revoke stops in time. Nothing is upgraded by it. */
function followCatalogs (get: App['get']): RepeatingTask {
  const { log } = { log: get('log') }
  return runEvery(catalogsEvery, async () => {
    const read = await get('marketplace').refresh({ author: null, at: get('now')() })
    for (const { address, problem } of read) if (problem !== undefined) log.warn({ address, ...problem }, 'a catalog was not read')
  }, (err) => {
    log.warn({ err }, 'the catalogs could not be read')
  })
}

function tellOfReplica (log: Log, change: ReplicaChange): void {
  if (change.used) log.info({}, 'lists are read from the replica')
  else log.warn({ reason: change.why }, 'lists are read from the primary: the replica cannot be used')
}

/** Starts the background work: queued and uncertain dispatches, vendors' events, status queries, callbacks, retention. */
async function beginWork (get: App['get']): Promise<Worker> {
  const shared = {
    database: get('database'),
    host: get('host'),
    keyring: get('keyring'),
    log: get('log'),
    now: get('now'),
    queue: get('queue')
  }
  const statusQuery = createStatusQuery({
    ...shared,
    freshness: get('freshness'),
    configurations: get('configurations'),
    network: get('network'),
    spool: get('documentSpool')
  })
  const following = {
    statusQuery,
    onStatusChange: createStatusChangeHandler({ database: get('database'), jobs: get('jobs'), outbox: get('outbox') })
  }
  return startWorker({
    ...shared,
    ...following,
    dependencies: get('pipelineDependencies'),
    pipeline: get('pipeline'),
    atOnce: get('config').concurrency,
    webhookVerifier: get('webhookVerifier'),
    inbox: get('inbox'),
    callbacks: get('callbacks'),
    endpointCallbacks: get('endpointCallbacks'),
    files: get('files'),
    retentionDays: get('config').retentionDays,
    forgetMonths: get('config').forgetMonths
  })
}
