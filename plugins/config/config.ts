import { AddressError, addressesOf } from '@dispatch/database'
import type { Bucket } from '@dispatch/files'
import { isServiceName, serviceNames } from '@dispatch/services'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { type CatalogConfig, catalogsOf } from './catalogs.ts'
import { ConfigError } from './config-error.ts'
import { parseNetworks, type TransportConfig, transportOf } from './config-transport.ts'
import { dataDirectoryOf, root } from './paths.mjs'
import { type PeppolConfig, peppolOf } from './peppol.ts'
import { type ScanConfig, scanOf } from './scan.ts'
import { keysOf, type KeysPlace, storageOf } from './storage.ts'
import { type TracesConfig, tracesOf } from './traces.ts'

export { ConfigError } from './config-error.ts'

/** The configuration of the service, read from environment variables. */
export type Config = TransportConfig & {
  environment: 'development' | 'production'
  /** The folder of the embedded database, the documents and the development key. */
  dataDirectory: string
  /** The URL of a PostgreSQL server; without it the service starts an embedded one. */
  databaseUrl?: string
  /** The URL of the server itself, where `databaseUrl` is a pooler of transactions. */
  databaseDirectUrl?: string
  /** A replica for lists, counts and the audit log, and how many seconds it may be behind. */
  databaseReplica?: { url: string, lag: number }
  /** How many connections the transactions of companies share; other work of the process has eleven more. */
  databasePool?: number
  providerDirectories: string[]
  /** Catalogs of adapters, the first of those that list a code counts. */
  catalogs?: CatalogConfig[]
  /** In development: the folder of the catalog of the adapters that come with the project. */
  demoCatalog?: string
  /** The bucket of the documents; without it they are in the data directory. */
  storage?: Bucket
  /** Where the data keys of companies are, which seal their documents; without it documents are stored as they are. */
  dataKeys?: KeysPlace
  /** Who is asked whether an uploaded file does harm; nobody unless given. */
  scan?: ScanConfig
  /** Where participants of Peppol are looked up; nowhere unless given. */
  peppol?: PeppolConfig
  /** How many bytes of uploaded files a company may have. */
  filesQuota: number
  /** Which providers run in processes of their own. */
  sandbox: 'none' | 'all'
  /** Whether adapters of others run where their processes could reach what they must not. */
  sandboxWalls: 'required' | 'optional'
  /** The folder where providers may write files, with a subfolder for each company; without it no provider writes files. */
  diskRoot?: string
  /** Base64 of 32 bytes, or the path of a file that holds them. */
  masterKey?: string
  masterKeyFile?: string
  /** The previous master key, while secrets are rewrapped. */
  previousMasterKey?: string
  previousMasterKeyFile?: string
  /** Prices in credits, for the services whose price differs from the default. */
  prices: Record<string, number>
  /** Networks (CIDR) that providers may connect to in addition to public addresses. */
  allowedNetworks: string[]
  /** Calls per minute; 0 means no limit. `auth` also limits failed logins. */
  limits: RateLimits
  /** Credentials (`user:password`) with which vendors post events, by provider code in capitals with `_` for `-`. */
  webhookAuth: Record<string, string>
  /** How many days request data, vendors' events and callback bodies are kept. */
  retentionDays: number
  /** For how many whole months dispatches are kept; undefined: for ever. */
  forgetMonths?: number
  /** Whether the requests of companies are logged for them. */
  keepsRequestLog: boolean
  /** How many MiB a company may fill in a day of the log of requests, and as many of that of exchanges; 0: no bound. */
  logBudget: number
  /** Whether the service has the console, at `/console`. */
  showsConsole: boolean
  /** Seconds for which a stopping process still answers requests, while `/readyz` says 503. */
  drainDelay: number
  /** Where this process shows its metrics, without credentials; undefined: nowhere. */
  metrics?: { host: string, port: number }
  /** Where this process sends its traces; undefined: it makes none. */
  traces?: TracesConfig
  /** Whether this process runs jobs of the queue. */
  runsWorker: boolean
  /** How many queued dispatches this process runs at once. */
  concurrency: number
  logLevel: string
}

/** Per minute: authentication calls of each client address; dispatches, validations and requests of any kind of each user. */
export type RateLimits = { auth: number, dispatch: number, validation: number, requests: number }

/** Reads the environment; an empty variable counts as absent. Throws a {@link ConfigError}. */
export function readConfig (variables: NodeJS.ProcessEnv): Config {
  const env = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const environment = oneOf(env, 'NODE_ENV', ['development', 'production'], 'development')
  const dataDirectory = dataDirectoryOf(env)
  const storage = storageOf(env, environment)
  const showsDemo = oneOf(env, 'DISPATCH_DEMO_CATALOG', ['on', 'off'], 'on') === 'on' && environment === 'development'
  return {
    environment,
    ...transportOf(env, environment),
    dataDirectory,
    ...(showsDemo ? { demoCatalog: join(dataDirectory, 'demo-catalog') } : {}),
    ...databaseOf(env),
    providerDirectories:
      env['DISPATCH_PROVIDERS_DIR']?.split(delimiter).filter((directory) => directory !== '').map((directory) => resolve(directory)) ??
        [join(root, 'providers')],
    ...catalogsOf(env['DISPATCH_CATALOGS'] ?? ''),
    ...storage,
    ...keysOf(env, environment, { dataDirectory, ...storage }),
    ...scanOf(env['DISPATCH_SCAN_URL']),
    filesQuota: filesQuotaOf(env['DISPATCH_FILES_QUOTA'] ?? '1024'),
    sandbox: oneOf(env, 'DISPATCH_SANDBOX', ['none', 'all'], 'none'),
    sandboxWalls: oneOf(env, 'DISPATCH_SANDBOX_REQUIRED', ['on', 'off'], 'on') === 'on' ? 'required' : 'optional',
    ...(env['DISPATCH_DISK_ROOT'] === undefined ? {} : { diskRoot: diskRootOf(env['DISPATCH_DISK_ROOT']) }),
    ...masterKeysOf(env),
    prices: pricesOf(env['DISPATCH_PRICES'] ?? ''),
    allowedNetworks: parseNetworks('DISPATCH_ALLOWED_NETWORKS', env['DISPATCH_ALLOWED_NETWORKS'] ?? ''),
    limits: limitsOf(env),
    webhookAuth: webhookAuthOf(env),
    ...keptFor(env['DISPATCH_RETENTION_DAYS'] ?? '90', env['DISPATCH_FORGET_MONTHS']),
    keepsRequestLog: oneOf(env, 'DISPATCH_REQUEST_LOG', ['on', 'off'], 'on') === 'on',
    logBudget: logBudgetOf(env['DISPATCH_LOG_BUDGET'] ?? '32'),
    showsConsole: oneOf(env, 'DISPATCH_CONSOLE', ['on', 'off'], 'on') === 'on',
    drainDelay: drainDelayOf(env['DISPATCH_DRAIN_DELAY'] ?? '0'),
    ...metricsOf(env['DISPATCH_METRICS_PORT'], env['DISPATCH_METRICS_HOST'] ?? '127.0.0.1'),
    ...tracesOf(env),
    ...peppolOf(env),
    runsWorker: oneOf(env, 'DISPATCH_WORKER', ['on', 'off'], 'on') === 'on',
    concurrency: concurrencyOf(env['DISPATCH_CONCURRENCY'] ?? '16'),
    logLevel: oneOf(env, 'DISPATCH_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info')
  }
}

function oneOf<Value extends string> (env: NodeJS.ProcessEnv, name: string, values: readonly Value[], otherwise: Value): Value {
  const given = env[name] ?? otherwise
  const known = values.find((value) => value === given)
  if (known === undefined) throw new ConfigError(`${name} is "${given}"; it must be one of ${values.join(', ')}.`)
  return known
}

/** Bytes, of MiB. */
function filesQuotaOf (text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) {
    throw new ConfigError(`DISPATCH_FILES_QUOTA is "${text}"; it must be a whole number of MiB from 1 to 9999999.`)
  }
  return Number(text) * 1024 * 1024
}

/** In seconds. The grace periods in scripts/packaging are longer than it and the work that it precedes. */
export const longestDrainDelay = 300

function drainDelayOf (text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > longestDrainDelay) {
    throw new ConfigError(`DISPATCH_DRAIN_DELAY is "${text}"; it must be a whole number of seconds up to ${longestDrainDelay}.`)
  }
  return Number(text)
}

function metricsOf (port: string | undefined, host: string): Pick<Config, 'metrics'> {
  if (port === undefined) return {}
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new ConfigError(`DISPATCH_METRICS_PORT is "${port}"; it must be a port from 0 (any free one) to 65535.`)
  }
  return { metrics: { host, port: Number(port) } }
}

/** In days. At least a week: for so long the service queries the result of an uncertain dispatch, which may then continue. */
function retentionDaysOf (text: string): number {
  const days = Number(text)
  if (!/^\d{1,5}$/.test(text) || days < shortestRetention) {
    throw new ConfigError(`DISPATCH_RETENTION_DAYS is "${text}"; it must be a whole number of days from ${shortestRetention} on.`)
  }
  return days
}

const shortestRetention = 7

/**
 * Dispatches are kept for three months at least: for 60 days vendors are asked what became of them. And they are kept longer than the data
 * of their requests.
 */
function keptFor (retention: string, months: string | undefined): Pick<Config, 'retentionDays' | 'forgetMonths'> {
  const retentionDays = retentionDaysOf(retention)
  if (months === undefined) return { retentionDays }
  const forgetMonths = Number(months)
  const least = Math.max(3, Math.ceil(retentionDays / 28))
  if (!/^\d{1,4}$/.test(months) || forgetMonths < least) {
    throw new ConfigError(`DISPATCH_FORGET_MONTHS is "${months}"; it must be a whole number of months from ${least} on` +
      `${least > 3 ? `, because DISPATCH_RETENTION_DAYS is ${retentionDays}` : ''}.`)
  }
  return { retentionDays, forgetMonths }
}

type MasterKeys = Pick<Config, 'masterKey' | 'masterKeyFile' | 'previousMasterKey' | 'previousMasterKeyFile'>

/** Each key is given as a value or as a file, not both: the two could differ. */
function masterKeysOf (env: NodeJS.ProcessEnv): MasterKeys {
  const [masterKey, masterKeyFile] = [env['DISPATCH_MASTER_KEY'], env['DISPATCH_MASTER_KEY_FILE']]
  const [previousMasterKey, previousMasterKeyFile] = [env['DISPATCH_MASTER_KEY_PREVIOUS'], env['DISPATCH_MASTER_KEY_PREVIOUS_FILE']]
  if (masterKey !== undefined && masterKeyFile !== undefined) throw twice('DISPATCH_MASTER_KEY')
  if (previousMasterKey !== undefined && previousMasterKeyFile !== undefined) throw twice('DISPATCH_MASTER_KEY_PREVIOUS')
  return {
    ...(masterKey === undefined ? {} : { masterKey }),
    ...(masterKeyFile === undefined ? {} : { masterKeyFile: resolve(masterKeyFile) }),
    ...(previousMasterKey === undefined ? {} : { previousMasterKey }),
    ...(previousMasterKeyFile === undefined ? {} : { previousMasterKeyFile: resolve(previousMasterKeyFile) })
  }
}

function twice (name: string): ConfigError {
  return new ConfigError(`${name} and ${name}_FILE are both set: leave one of them out.`)
}

function diskRootOf (path: string): string {
  if (!isAbsolute(path)) throw new ConfigError(`DISPATCH_DISK_ROOT is "${path}"; it must be an absolute path such as /srv/dispatch.`)
  return path
}

function logBudgetOf (text: string): number {
  if (!/^\d{1,5}$/.test(text)) {
    throw new ConfigError(`DISPATCH_LOG_BUDGET is "${text}"; it must be a whole number of MiB up to 99999, or 0 for no bound.`)
  }
  return Number(text)
}

/** Requests of any kind are far more than dispatches: where those have no limit, nor have these unless it is set. */
function limitsOf (env: NodeJS.ProcessEnv): RateLimits {
  const dispatch = limitOf(env, 'DISPATCH_DISPATCH_LIMIT', '100')
  return {
    auth: limitOf(env, 'DISPATCH_AUTH_LIMIT', '10'),
    dispatch,
    validation: limitOf(env, 'DISPATCH_VALIDATION_LIMIT', '0'),
    requests: limitOf(env, 'DISPATCH_REQUEST_LIMIT', dispatch === 0 ? '0' : String(Math.max(6_000, Math.min(999_999, 20 * dispatch))))
  }
}

function limitOf (env: NodeJS.ProcessEnv, name: string, otherwise: string): number {
  const text = env[name] ?? otherwise
  if (!/^\d{1,6}$/.test(text)) {
    throw new ConfigError(`${name} is "${text}"; it must be a whole number of calls in a minute, or 0 for no limit.`)
  }
  return Number(text)
}

function databaseOf (env: NodeJS.ProcessEnv): Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'databaseReplica' | 'databasePool'> {
  const [url, direct, pool] = [env['DATABASE_URL'], env['DATABASE_DIRECT_URL'], env['DISPATCH_DB_POOL']]
  const [read, lag] = [env['DATABASE_READ_URL'], env['DATABASE_READ_LAG'] ?? '10']
  if (direct !== undefined && url === undefined) {
    throw new ConfigError('DATABASE_DIRECT_URL is the server behind the pooler of DATABASE_URL, which is not set.')
  }
  if (read !== undefined && url === undefined) {
    throw new ConfigError('DATABASE_READ_URL is a replica of the server of DATABASE_URL, which is not set.')
  }
  if (!/^[1-9]\d{0,3}$/.test(lag)) {
    throw new ConfigError(`DATABASE_READ_LAG is "${lag}"; it must be a whole number of seconds from 1 to 9999.`)
  }
  if (pool !== undefined && !/^[1-9]\d{0,2}$/.test(pool)) {
    throw new ConfigError(`DISPATCH_DB_POOL is "${pool}"; it must be a whole number from 1 to 999.`)
  }
  return {
    ...(url === undefined ? {} : { databaseUrl: databaseUrlOf('DATABASE_URL', url) }),
    ...(direct === undefined ? {} : { databaseDirectUrl: databaseUrlOf('DATABASE_DIRECT_URL', direct) }),
    ...(read === undefined ? {} : { databaseReplica: { url: replicaUrlOf('DATABASE_READ_URL', read), lag: Number(lag) } }),
    ...(pool === undefined ? {} : { databasePool: Number(pool) })
  }
}

/** The URL may hold a password, so the error message does not repeat it. */
function databaseUrlOf (name: string, text: string): string {
  addressesIn(name, text)
  return text
}

function addressesIn (name: string, text: string): readonly string[] {
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(`${name} is not the URL of a PostgreSQL server; it must be like postgres://user:password@host:5432/database.`)
  }
  try {
    return addressesOf(text)
  } catch (error) {
    if (error instanceof AddressError) throw new ConfigError(`${name} ${error.message}.`, { cause: error })
    throw error
  }
}

/** A replica takes no writes, so nothing tells which one of several hosts is meant. */
function replicaUrlOf (name: string, text: string): string {
  try {
    if (addressesIn(name, text).length === 1) return text
  } catch (error) {
    if (!(error instanceof ConfigError && error.cause instanceof AddressError)) throw error
  }
  throw new ConfigError(`${name} must name one host, without target_session_attrs.`)
}

const webhookAuth = 'DISPATCH_WEBHOOKS_ENDPOINT_AUTH_'

function webhookAuthOf (env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith(webhookAuth)).map(([name, value = '']) => {
    if (!/^[^:]+:./.test(value)) throw new ConfigError(`${name} must be a user name and a password, such as vendor:long-random-password.`)
    return [name.slice(webhookAuth.length), value]
  }))
}

function concurrencyOf (text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new ConfigError(`DISPATCH_CONCURRENCY is "${text}"; it must be a whole number from 1 to 999.`)
  return Number(text)
}

/** Reads a list such as `invoicing=2,sms=1`. */
function pricesOf (text: string): Record<string, number> {
  return Object.fromEntries(text.split(',').filter((part) => part !== '').map((part) => {
    const [, service = '', price] = /^\s*([a-z]+)\s*=\s*(\d{1,6})\s*$/.exec(part) ?? []
    if (!isServiceName(service)) {
      throw new ConfigError(
        `DISPATCH_PRICES has "${part}"; each part must be one of the services ${serviceNames.join(', ')} and whole credits, such ` +
          'as invoicing=1.'
      )
    }
    return [service, Number(price)] as const
  }))
}
