import { isIPv4 } from 'node:net'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNetwork, isServiceName, readNetwork, serviceNames } from '@dispatch/core'

/** How the service is run, as its environment says. */
export type Config = {
  environment: 'development' | 'production'
  host: string
  port: number
  /** Links begin with it; no slash at the end. */
  publicUrl: string
  /** The embedded database, documents and the development key lie below it. */
  dataDirectory: string
  /** A PostgreSQL server; without one the service starts its own. */
  databaseUrl?: string
  providerDirectories: string[]
  /** What providers may write to, one folder a company; without it no provider writes files. */
  diskRoot?: string
  /** Base64 of 32 bytes. */
  masterKey?: string
  /** Credits by service, where they differ from the services' own. */
  prices: Record<string, number>
  /** CIDRs that tenants may reach beside the public addresses. */
  allowedNetworks: string[]
  /** CIDRs of the proxies whose word on the client's address and protocol counts. */
  trustedProxies: string[]
  /** Calls in a minute; 0: any number. `auth` also bounds failed logins. */
  limits: Limits
  /** Credentials (`user:password`) with which vendors post events, by the provider's code in capitals, `_` for `-`. */
  webhookAuth: Record<string, string>
  /** Days that the data of requests, events of vendors and bodies of callbacks are kept. */
  retentionDays: number
  /** Whether this process works on the queue. */
  works: boolean
  /** Dispatches of the queue that this process works on at once. */
  concurrency: number
  logLevel: string
}

/** Of authentication calls for each client address, of dispatches and of validations for each user. */
export type Limits = { auth: number, dispatch: number, validation: number }

/** The environment says something that cannot be followed. The message is one sentence for the operator. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const root = fileURLToPath(new URL('..', import.meta.url))

/** Reads the environment; an empty variable counts as absent. Throws a {@link ConfigError}. */
export function readConfig (variables: NodeJS.ProcessEnv): Config {
  const env = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const environment = oneOf(env, 'NODE_ENV', ['development', 'production'], 'development')
  const host = hostOf(env['HOST'] ?? '127.0.0.1')
  const port = portOf(env['PORT'] ?? '3000')
  const databaseUrl = env['DATABASE_URL']
  const masterKey = env['DISPATCH_MASTER_KEY']
  return {
    environment,
    host,
    port,
    publicUrl: publicUrlOf(env['DISPATCH_PUBLIC_URL'], environment, `http://${host.includes(':') ? `[${host}]` : host}:${port}`),
    dataDirectory: resolve(env['DISPATCH_DATA_DIR'] ?? join(root, 'data')),
    ...(databaseUrl === undefined ? {} : { databaseUrl: databaseUrlOf(databaseUrl) }),
    providerDirectories: env['DISPATCH_PROVIDERS_DIR']?.split(delimiter).filter((directory) => directory !== '').map((directory) => resolve(directory)) ?? [join(root, 'providers')],
    ...(env['DISPATCH_DISK_ROOT'] === undefined ? {} : { diskRoot: diskRootOf(env['DISPATCH_DISK_ROOT']) }),
    ...(masterKey === undefined ? {} : { masterKey }),
    prices: pricesOf(env['DISPATCH_PRICES'] ?? ''),
    allowedNetworks: networksOf(env['DISPATCH_ALLOWED_NETWORKS'] ?? ''),
    trustedProxies: proxiesOf(env['DISPATCH_TRUSTED_PROXIES'] ?? ''),
    limits: {
      auth: limitOf(env, 'DISPATCH_AUTH_LIMIT', '10'),
      dispatch: limitOf(env, 'DISPATCH_DISPATCH_LIMIT', '100'),
      validation: limitOf(env, 'DISPATCH_VALIDATION_LIMIT', '0')
    },
    webhookAuth: webhookAuthOf(env),
    retentionDays: retentionDaysOf(env['DISPATCH_RETENTION_DAYS'] ?? '90'),
    works: oneOf(env, 'DISPATCH_WORKER', ['on', 'off'], 'on') === 'on',
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

/** One address: "localhost" may stand for two. */
function hostOf (text: string): string {
  const host = text === 'localhost' ? '127.0.0.1' : text
  if (host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return host
  throw new ConfigError(`HOST is "${host}", but plain HTTP is served on a loopback address only, such as 127.0.0.1, because it would carry credentials in the clear.`)
}

function portOf (text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new ConfigError(`PORT is "${text}"; it must be a number from 0 (any free port) to 65535.`)
  return port
}

/** Days: for a week it is asked what became of an uncertain dispatch, which may go on then. */
function retentionDaysOf (text: string): number {
  const days = Number(text)
  if (!/^\d{1,5}$/.test(text) || days < shortestRetention) throw new ConfigError(`DISPATCH_RETENTION_DAYS is "${text}"; it must be a whole number of days from ${shortestRetention} on.`)
  return days
}

const shortestRetention = 7

function publicUrlOf (text: string | undefined, environment: Config['environment'], own: string): string {
  if (text === undefined && environment === 'development') return own
  if (text === undefined) throw new ConfigError('DISPATCH_PUBLIC_URL is not set: in production it says where the links to documents lead, for example https://dispatch.example.com.')
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') throw new ConfigError(`DISPATCH_PUBLIC_URL is "${text}"; it must be a URL such as https://dispatch.example.com.`)
  return url.href.replace(/\/$/, '')
}

function diskRootOf (path: string): string {
  if (!isAbsolute(path)) throw new ConfigError(`DISPATCH_DISK_ROOT is "${path}"; it must be an absolute path such as /srv/dispatch.`)
  return path
}

/** `10.0.0.0/8,fd00::/8`. */
function networksOf (text: string): string[] {
  const networks = partsOf(text)
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong !== undefined) throw new ConfigError(`DISPATCH_ALLOWED_NETWORKS has "${wrong}"; each part must be a network such as 10.0.0.0/8 or fd00::/8.`)
  return networks
}

/** `10.0.0.2,fd00::/8`: networks and single addresses. */
function proxiesOf (text: string): string[] {
  const proxies = partsOf(text)
  const wrong = proxies.find((proxy) => readNetwork(proxy) === undefined)
  if (wrong !== undefined) throw new ConfigError(`DISPATCH_TRUSTED_PROXIES has "${wrong}"; each part must be the address or network of a proxy, such as 10.0.0.2 or fd00::/8.`)
  return proxies
}

function partsOf (text: string): string[] {
  return text.split(',').map((part) => part.trim()).filter((part) => part !== '')
}

function limitOf (env: NodeJS.ProcessEnv, name: string, otherwise: string): number {
  const text = env[name] ?? otherwise
  if (!/^\d{1,6}$/.test(text)) throw new ConfigError(`${name} is "${text}"; it must be a whole number of calls in a minute, or 0 for no limit.`)
  return Number(text)
}

/** It may hold a password: the message does not repeat it. */
function databaseUrlOf (text: string): string {
  if (/^postgres(ql)?:\/\//.test(text)) return text
  throw new ConfigError('DATABASE_URL is not the URL of a PostgreSQL server; it must be like postgres://user:password@host:5432/database.')
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

/** `invoicing=2`, several with commas between them. */
function pricesOf (text: string): Record<string, number> {
  return Object.fromEntries(text.split(',').filter((part) => part !== '').map((part) => {
    const [, service = '', price] = /^\s*([a-z]+)\s*=\s*(\d{1,6})\s*$/.exec(part) ?? []
    if (!isServiceName(service)) throw new ConfigError(`DISPATCH_PRICES has "${part}"; each part must be one of the services ${serviceNames.join(', ')} and whole credits, such as invoicing=1.`)
    return [service, Number(price)] as const
  }))
}
