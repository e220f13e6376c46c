import type { Bucket } from '@dispatch/files'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { ConfigError } from './config-error.ts'

type Environment = 'development' | 'production'

/** Where documents are kept in a bucket, of `s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.com`. */
export function storageOf (env: NodeJS.ProcessEnv, environment: Environment): { storage?: Bucket } {
  const text = env['DISPATCH_STORAGE']
  return text === undefined ? {} : { storage: bucketOf({ variable: 'DISPATCH_STORAGE', text }, env, environment) }
}

/** Where the data keys of companies are kept: in a folder, or in a bucket. */
export type KeysPlace = { folder: string } | { bucket: Bucket }

/** Apart from the documents: whoever copies these must not copy the keys along. */
export function keysOf (
  env: NodeJS.ProcessEnv,
  environment: Environment,
  { dataDirectory, storage }: { dataDirectory: string, storage?: Bucket }
): { dataKeys?: KeysPlace } {
  const text = env['DISPATCH_KEYS']
  if (text === undefined) return {}
  if (!text.startsWith('s3://')) {
    if (!isAbsolute(text)) throw new ConfigError(`DISPATCH_KEYS is "${text}"; it must be an absolute path, or like s3://bucket/folder.`)
    const folder = resolve(text)
    const files = join(dataDirectory, 'files')
    if (!isApart(`${folder}${sep}`, `${files}${sep}`)) throw together(files)
    return { dataKeys: { folder } }
  }
  const bucket = bucketOf({ variable: 'DISPATCH_KEYS', text }, env, environment)
  if (bucket.name === storage?.name && bucket.endpoint === storage.endpoint && !isApart(bucket.prefix, storage.prefix)) {
    throw together('DISPATCH_STORAGE')
  }
  return { dataKeys: { bucket } }
}

/** Neither of two folders is in the other. */
function isApart (one: string, other: string): boolean {
  return !one.startsWith(other) && !other.startsWith(one)
}

function together (documents: string): ConfigError {
  return new ConfigError(`DISPATCH_KEYS is not apart from the documents in ${documents}: a backup of these would hold the keys, too.`)
}

type Setting = { variable: string, text: string }

function bucketOf (setting: Setting, env: NodeJS.ProcessEnv, environment: Environment): Bucket {
  const { text } = setting
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(address.host) || address.username !== '') {
    throw wrong(setting)
  }
  const given = optionsOf(setting, address)
  const endpoint = given.endpoint === undefined ? {} : { endpoint: endpointOf(setting, given.endpoint, environment) }
  const prefix = address.pathname.replace(/^\/+|\/+$/g, '')
  return {
    name: address.host,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: given.region ?? 'us-east-1',
    ...endpoint,
    // The servers beside Amazon's seldom have a host for each bucket.
    pathStyle: (given.style ?? ('endpoint' in endpoint ? 'path' : 'host')) === 'path',
    ...encryptionOf(setting, given),
    ...credentialsOf(env)
  }
}

const options = ['region', 'endpoint', 'style', 'encryption', 'kms-key'] as const

type Options = Partial<Record<typeof options[number], string>>

function optionsOf ({ variable }: Setting, { searchParams }: URL): Options {
  const unknown = [...searchParams.keys()].find((name) => !options.some((known) => known === name))
  if (unknown !== undefined) throw new ConfigError(`${variable} has "${unknown}"; its options are ${options.join(', ')}.`)
  const { style, encryption, ...given }: Options = Object.fromEntries(searchParams)
  return {
    ...given,
    ...oneOf(variable, ['style', style], ['path', 'host']),
    ...oneOf(variable, ['encryption', encryption], ['AES256', 'aws:kms'])
  }
}

type Given = [name: string, value: string | undefined]

function oneOf (variable: string, [name, value]: Given, values: readonly string[]): Options {
  if (value === undefined) return {}
  if (!values.includes(value)) throw new ConfigError(`${variable} has ${name}=${value}; it must be ${values.join(' or ')}.`)
  return { [name]: value }
}

function endpointOf ({ variable }: Setting, text: string, environment: Environment): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address?.protocol === 'https:' || (address?.protocol === 'http:' && environment === 'development')) return text
  throw new ConfigError(`${variable} has endpoint=${text}; it must be an https:// address, in development http:// too.`)
}

function encryptionOf ({ variable }: Setting, { encryption, 'kms-key': keyId }: Options): Pick<Bucket, 'encryption'> {
  if (keyId !== undefined && encryption !== 'aws:kms') throw new ConfigError(`${variable} has a kms-key; it needs encryption=aws:kms.`)
  if (encryption === undefined) return {}
  return { encryption: { algorithm: encryption === 'AES256' ? 'AES256' : 'aws:kms', ...keyId === undefined ? {} : { keyId } } }
}

function credentialsOf (env: NodeJS.ProcessEnv): Pick<Bucket, 'credentials'> {
  const [accessKeyId, secretAccessKey] = [env['DISPATCH_S3_ACCESS_KEY_ID'], env['DISPATCH_S3_SECRET_ACCESS_KEY']]
  if (accessKeyId === undefined && secretAccessKey === undefined) return {}
  if (accessKeyId !== undefined && secretAccessKey !== undefined) return { credentials: { accessKeyId, secretAccessKey } }
  throw new ConfigError('DISPATCH_S3_ACCESS_KEY_ID and DISPATCH_S3_SECRET_ACCESS_KEY belong together: one of them is not set.')
}

/** The address may hold credentials, so the message does not repeat it. */
function wrong ({ variable }: Setting): ConfigError {
  return new ConfigError(`${variable} is no address of a bucket like s3://bucket/folder?region=eu-central-1; it names no credentials.`)
}
