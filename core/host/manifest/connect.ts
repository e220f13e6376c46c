import { pointer, type Problem } from '@dispatch/common'
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import type { OAuthClient } from '../http/token-endpoint.ts'
import type { SettingsSchema } from '../settings/settings-schema.ts'

/**
 * How a person connects a configuration with an account at the vendor: OAuth 2 with an authorization code (RFC 6749, 4.1) and PKCE
 * (RFC 7636). `clientId` and `clientSecret` name the settings with the client that was registered at the vendor. `parameters` are further
 * fields of the vendor's page, such as `{ access_type: 'offline' }`. Both URLs are on hosts of the manifest.
 */
export type Connect<Setting extends string = string> = {
  authorizationUrl: string
  tokenUrl: string
  scope?: string
  clientId: Setting
  clientSecret?: Setting
  clientAuth?: OAuthClient['clientAuth']
  parameters?: Readonly<Record<string, string>>
}

const Https = Type.String({ format: 'uri', pattern: '^https://[^/?#@]+(/[^?#]*)?$', description: 'an https URL without a query' })

export const ConnectSchema = Type.Unsafe<Connect>(Type.Object({
  authorizationUrl: Https,
  tokenUrl: Https,
  scope: Type.Optional(Type.String({ minLength: 1 })),
  clientId: Type.String(),
  clientSecret: Type.Optional(Type.String()),
  clientAuth: Type.Optional(Type.Enum(['basic', 'body'])),
  parameters: Type.Optional(Type.Record(Type.String(), Type.String()))
}, { additionalProperties: false }))

/** The fields of the vendor's page that the host sets. */
const hostFields = ['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'code_challenge', 'code_challenge_method']

/** The problems of a manifest's `connect` beyond its shape. */
export function connectProblems (
  { connect, hosts, settings: { properties } }: { connect?: Connect, hosts: readonly string[], settings: SettingsSchema },
  isAllowed: (host: string) => boolean
): Problem[] {
  if (connect === undefined) return []
  const { clientId, clientSecret, parameters = {} } = connect
  const at = (name: string, code: string, message: string): Problem => ({ path: `/connect/${name}`, code, message })
  const places = (['authorizationUrl', 'tokenUrl'] as const).flatMap((name) => {
    const { hostname } = new URL(connect[name])
    const known = hosts.length === 0 ? 'which is empty' : `which has ${hosts.join(', ')}`
    return isAllowed(hostname) ? [] : [at(name, 'host_not_declared', `"${hostname}" is not in "hosts", ${known}.`)]
  })
  const isThere = (name: string): boolean => Object.hasOwn(properties, name)
  const unknown = Object.entries({ clientId, clientSecret }).flatMap(([field, name]) =>
    name === undefined || isThere(name) ? [] : [at(field, 'unknown_setting', `There is no setting "${name}".`)]
  )
  const isSecret = (name: string): boolean => properties[name]?.['x-secret'] === true
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
      path: pointer('/connect/parameters', name),
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
    clientId: clientIdOf(connect, settings),
    ...(typeof secret === 'string' && { clientSecret: secret }),
    ...(clientAuth !== undefined && { clientAuth })
  }
}

/** The client id of a configuration; it is in clear text. */
export function clientIdOf ({ clientId }: Connect, settings: Readonly<Record<string, unknown>>): string {
  const value = settings[clientId]
  return typeof value === 'string' ? value : ''
}

/** For what tokens were issued: with another client, or at another place, they are of no use. */
export function clientDigest (connect: Connect, settings: Readonly<Record<string, unknown>>, sandbox: boolean): string {
  return hash('sha256', JSON.stringify([connect.tokenUrl, clientIdOf(connect, settings), sandbox]))
}
