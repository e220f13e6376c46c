import type { Bucket } from '@dispatch/files'
import { ConfigError } from './config-error.ts'

/** Where documents are kept in a bucket, of `s3://bucket/prefix?region=eu-central-1&endpoint=https://s3.example.com`. */
export function storageOf (env: NodeJS.ProcessEnv, environment: 'development' | 'production'): { storage?: Bucket } {
  const text = env['DISPATCH_STORAGE']
  if (text === undefined) return {}
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(address.host) || address.username !== '') throw wrong()
  const given = optionsOf(address)
  const endpoint = given.endpoint === undefined ? {} : { endpoint: endpointOf(given.endpoint, environment) }
  const prefix = address.pathname.replace(/^\/+|\/+$/g, '')
  return {
    storage: {
      name: address.host,
      prefix: prefix === '' ? '' : `${prefix}/`,
      region: given.region ?? 'us-east-1',
      ...endpoint,
      // The servers beside Amazon's seldom have a host for each bucket.
      pathStyle: (given.style ?? ('endpoint' in endpoint ? 'path' : 'host')) === 'path',
      ...encryptionOf(given),
      ...credentialsOf(env)
    }
  }
}

const options = ['region', 'endpoint', 'style', 'encryption', 'kms-key'] as const

type Options = Partial<Record<typeof options[number], string>>

function optionsOf ({ searchParams }: URL): Options {
  const unknown = [...searchParams.keys()].find((name) => !options.some((known) => known === name))
  if (unknown !== undefined) throw new ConfigError(`DISPATCH_STORAGE has "${unknown}"; its options are ${options.join(', ')}.`)
  const { style, encryption, ...given }: Options = Object.fromEntries(searchParams)
  return { ...given, ...oneOf('style', style, ['path', 'host']), ...oneOf('encryption', encryption, ['AES256', 'aws:kms']) }
}

function oneOf (name: string, value: string | undefined, values: readonly string[]): Options {
  if (value === undefined) return {}
  if (!values.includes(value)) throw new ConfigError(`DISPATCH_STORAGE has ${name}=${value}; it must be ${values.join(' or ')}.`)
  return { [name]: value }
}

function endpointOf (text: string, environment: 'development' | 'production'): string {
  const address = URL.canParse(text) ? new URL(text) : undefined
  if (address?.protocol === 'https:' || (address?.protocol === 'http:' && environment === 'development')) return text
  throw new ConfigError(`DISPATCH_STORAGE has endpoint=${text}; it must be an https:// address, in development http:// too.`)
}

function encryptionOf ({ encryption, 'kms-key': keyId }: Options): Pick<Bucket, 'encryption'> {
  if (keyId !== undefined && encryption !== 'aws:kms') throw new ConfigError('DISPATCH_STORAGE has a kms-key; it needs encryption=aws:kms.')
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
function wrong (): ConfigError {
  return new ConfigError('DISPATCH_STORAGE is no address of a bucket like s3://bucket/folder?region=eu-central-1; it names no credentials.')
}
