import { pointer, type Problem } from '@dispatch/common'
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import type { OAuthClient } from '../http/token-endpoint.ts'
import { destinationNames, type SettingsSchema } from '../settings/settings-schema.ts'

/**
 * How a person connects a configuration with an account at the vendor: OAuth 2 with an authorization code (RFC 6749, 4.1) and PKCE
 * (RFC 7636). `clientId` and `clientSecret` name the settings with the client that was registered at the vendor. `parameters` are further
 * fields of the vendor's page, such as `{ access_type: 'offline' }`. Both URLs are on hosts of the manifest; `{name}` in their path is the
 * setting of that name. With `when` it is for configurations whose settings have these values.
 */
export type Connect<Setting extends string = string> = {
  when?: Readonly<Partial<Record<Setting, string>>>
  authorizationUrl: string
  tokenUrl: string
  scope?: string
  clientId: Setting
  clientSecret?: Setting
  clientAuth?: OAuthClient['clientAuth']
  parameters?: Readonly<Record<string, string>>
}

/** What stands for a setting in the path of a URL. */
const placeholder = /\{([^{}]+)\}/g

const Https = Type.String({
  pattern: '^https://[^\\s/?#@{}]+(/([^\\s?#{}]|\\{[^\\s{}]+\\})*)?$',
  description: 'an https URL without a query'
})

const Way = Type.Object({
  when: Type.Optional(Type.Record(Type.String(), Type.String())),
  authorizationUrl: Https,
  tokenUrl: Https,
  scope: Type.Optional(Type.String({ minLength: 1 })),
  clientId: Type.String(),
  clientSecret: Type.Optional(Type.String()),
  clientAuth: Type.Optional(Type.Enum(['basic', 'body'])),
  parameters: Type.Optional(Type.Record(Type.String(), Type.String()))
}, { additionalProperties: false })

/** One way to connect, or several, each for other settings. */
export const ConnectSchema = Type.Unsafe<Connect | Connect[]>({
  type: ['object', 'array'],
  if: { type: 'array' },
  then: { items: Way, minItems: 1 },
  else: Way
})

function textOf (value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The fields of the vendor's page that the host sets. */
const hostFields = ['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'code_challenge_method']

type Declared = { hosts: readonly string[], settings: SettingsSchema }

/** The problems of a manifest's `connect` beyond its shape. */
export function connectProblems (
  { connect = [], ...declared }: { connect?: Connect | readonly Connect[] } & Declared,
  isAllowed: (host: string) => boolean
): Problem[] {
  return 'tokenUrl' in connect
    ? wayProblems(connect, declared, { isAllowed, path: '/connect' })
    : connect.flatMap((way, index) => wayProblems(way, declared, { isAllowed, path: `/connect/${index}` }))
}

function wayProblems (
  way: Connect,
  { hosts, settings: { properties } }: Declared,
  { isAllowed, path }: { isAllowed: (host: string) => boolean, path: string }
): Problem[] {
  const { clientId, clientSecret, parameters = {}, when = {} } = way
  const at = (name: string, code: string, message: string): Problem => ({ path: `${path}/${name}`, code, message })
  const isThere = (name: string): boolean => Object.hasOwn(properties, name)
  const isSecret = (name: string): boolean => properties[name]?.['x-secret'] === true
  const places = (['authorizationUrl', 'tokenUrl'] as const).flatMap((name) => {
    const { hostname } = new URL(way[name])
    const known = hosts.length === 0 ? 'which is empty' : `which has ${hosts.join(', ')}`
    const filled = [...way[name].matchAll(placeholder)].map(([, setting = '']) => setting)
    return [
      ...isAllowed(hostname) ? [] : [at(name, 'host_not_declared', `"${hostname}" is not in "hosts", ${known}.`)],
      ...filled.filter(isSecret).map((setting) => at(name, 'secret', `"${setting}" is a secret, which may not stand in a URL.`)),
      ...filled.filter((setting) => !isThere(setting)).map((setting) => at(name, 'unknown_setting', `There is no setting "${setting}".`))
    ]
  })
  const named = { clientId, clientSecret, ...Object.fromEntries(Object.keys(when).map((name) => [`when/${name}`, name])) }
  const unknown = Object.entries(named).flatMap(([field, name]) =>
    name === undefined || isThere(name) ? [] : [at(field, 'unknown_setting', `There is no setting "${name}".`)]
  )
  return [
    ...places,
    ...unknown,
    ...isThere(clientId) && isSecret(clientId)
      ? [at('clientId', 'secret', 'The client id stands in the address of the vendor\'s page: it is no Secret().')]
      : [],
    ...clientSecret !== undefined && isThere(clientSecret) && !isSecret(clientSecret)
      ? [at('clientSecret', 'not_secret', 'The client secret must be a Secret().')]
      : [],
    ...Object.keys(parameters).filter((name) => hostFields.includes(name)).map((name) => ({
      path: pointer(`${path}/parameters`, name),
      code: 'reserved',
      message: `The host sets "${name}".`
    }))
  ]
}

/** The client of a configuration at the vendor. */
export function clientOf (connect: Connect, settings: Readonly<Record<string, unknown>>): OAuthClient {
  const { clientSecret, clientAuth } = connect
  const secret = clientSecret === undefined ? undefined : settings[clientSecret]
  return {
    clientId: textOf(settings[connect.clientId]),
    ...(typeof secret === 'string' && { clientSecret: secret }),
    ...(clientAuth !== undefined && { clientAuth })
  }
}

/**
 * How a configuration is connected: by the first way that is for its settings, with its URLs filled in. `client` is the digest of that for
 * which tokens are issued: with another client, at another place, or for another destination of requests, they are of no use. Undefined
 * where it signs in with its settings alone.
 */
export function connectionFor (
  { connect = [], settings: form }: { connect?: Connect | readonly Connect[], settings: SettingsSchema },
  { settings: { plain }, sandbox }: { settings: { plain: Readonly<Record<string, unknown>> }, sandbox: boolean }
): { connect: Connect, client: string } | undefined {
  const way = [connect].flat().find(({ when = {} }) => Object.entries(when).every(([name, value]) => plain[name] === value))
  if (way === undefined) return undefined
  const filled = (url: string): string => url.replaceAll(placeholder, (_, name: string) => encodeURIComponent(textOf(plain[name])))
  const tokenUrl = filled(way.tokenUrl)
  const destinations = destinationNames(form).map((name) => plain[name] ?? null)
  return {
    connect: { ...way, authorizationUrl: filled(way.authorizationUrl), tokenUrl },
    client: hash('sha256', JSON.stringify([tokenUrl, textOf(plain[way.clientId]), sandbox, ...destinations]))
  }
}
