import { pointer, type Problem } from '@dispatch/common'
import { type Facts, isDeclared, type OAuthClient } from '@dispatch/vendor-io'
import { RequestFailure } from '@dispatch/vendor-io/outcome'
import { hash } from 'node:crypto'
import { Type } from 'typebox'
import { hostsOf } from '../settings/hosts.ts'
import { destinationNames, type SettingsSchema } from '../settings/settings-schema.ts'
import { type Fact, factFaults, FactsSchema } from './facts.ts'

/** The addresses of a vendor at which an account is connected. `refreshUrl`: where it is not the `tokenUrl`. */
type Addresses = {
  authorizationUrl: string
  tokenUrl: string
  refreshUrl?: string
  /** Where tokens end that are used no more (RFC 7009). */
  revocationUrl?: string
}

/**
 * How a person connects a configuration with an account at the vendor: OAuth 2 with an authorization code (RFC 6749, 4.1) and PKCE
 * (RFC 7636). `clientId` and `clientSecret` name the settings with the client that was registered at the vendor; with
 * `client: 'operator'` it is the one that the operator of the service has registered for all companies. `parameters` are further
 * fields of the vendor's page, such as `{ access_type: 'offline' }`. `facts` are what the vendor says of the account. The URLs are on hosts
 * of the manifest; `{name}` in them is the setting of that name, or a fact that is known by then. `sandbox` has the addresses that a
 * configuration of the vendor's test environment has in their place. With `when` it is for configurations whose settings have these values.
 */
export type Connect<Setting extends string = string, Name extends string = string> =
  & Addresses
  & {
    when?: Readonly<Partial<Record<Setting, string>>>
    sandbox?: Readonly<Partial<Addresses>>
    scope?: string
    clientAuth?: OAuthClient['clientAuth']
    parameters?: Readonly<Record<string, string>>
    facts?: Readonly<Record<Name, Fact>>
  }
  & ({ clientId: Setting, clientSecret?: Setting, client?: never } | { client: 'operator', clientId?: never, clientSecret?: never })

/** What stands for a setting or a fact in a URL. */
const placeholder = /\{([^{}]+)\}/g

const Https = Type.String({
  pattern: '^https://([^\\s/?#@{}]|\\{[^\\s{}/]+\\})+(/([^\\s?#{}]|\\{[^\\s{}]+\\})*)?$',
  description: 'an https URL without a query'
})

const addresses = { authorizationUrl: Https, tokenUrl: Https, refreshUrl: Type.Optional(Https), revocationUrl: Type.Optional(Https) }
const closed = { additionalProperties: false }

const Way = Type.Object({
  ...addresses,
  when: Type.Optional(Type.Record(Type.String(), Type.String())),
  sandbox: Type.Optional(Type.Partial(Type.Object(addresses), closed)),
  scope: Type.Optional(Type.String({ minLength: 1 })),
  client: Type.Optional(Type.Literal('operator')),
  clientId: Type.Optional(Type.String()),
  clientSecret: Type.Optional(Type.String()),
  clientAuth: Type.Optional(Type.Enum(['basic', 'body'])),
  parameters: Type.Optional(Type.Record(Type.String(), Type.String())),
  facts: Type.Optional(FactsSchema)
}, { ...closed, dependentRequired: { clientSecret: ['clientId'] } })

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

type Declared = { hosts: readonly string[], settings: SettingsSchema, sandbox?: { kind: string } }

/** The ways of a manifest to connect. */
export function waysOf ({ connect = [] }: { connect?: Connect | readonly Connect[] }): readonly Connect[] {
  return 'tokenUrl' in connect ? [connect] : connect
}

/** The names of all facts of a manifest. */
export function factNames (manifest: { connect?: Connect | readonly Connect[] }): string[] {
  return [...new Set(waysOf(manifest).flatMap(({ facts = {} }) => Object.keys(facts)))]
}

/** The problems of a manifest's `connect` beyond its shape. */
export function connectProblems ({ connect = [], ...declared }: { connect?: Connect | readonly Connect[] } & Declared): Problem[] {
  return 'tokenUrl' in connect
    ? wayProblems(connect, declared, '/connect')
    : connect.flatMap((way, index) => wayProblems(way, declared, `/connect/${index}`))
}

function wayProblems (way: Connect, declared: Declared, path: string): Problem[] {
  const { settings: { properties } } = declared
  const { client, clientId, clientSecret, parameters = {}, when = {}, facts = {}, sandbox } = way
  const at = (name: string, code: string, message: string): Problem => ({ path: `${path}/${name}`, code, message })
  const isThere = (name: string): boolean => Object.hasOwn(properties, name)
  const isSecret = (name: string): boolean => properties[name]?.['x-secret'] === true
  const named = { clientId, clientSecret, ...Object.fromEntries(Object.keys(when).map((name) => [`when/${name}`, name])) }
  const unknown = Object.entries(named).flatMap(([field, name]) =>
    name === undefined || isThere(name) ? [] : [at(field, 'unknown_setting', `There is no setting "${name}".`)]
  )
  return [
    ...addressProblems(way, way, declared, path),
    ...sandbox === undefined ? [] : addressProblems(sandbox, way, declared, `${path}/sandbox`),
    ...sandbox === undefined || declared.sandbox?.kind === 'configuration'
      ? []
      : [at('sandbox', 'no_sandbox', 'Only a configuration of its own has other addresses: `sandbox: { kind: \'configuration\' }`.')],
    ...unknown,
    ...(client === undefined) === (clientId === undefined)
      ? [at('clientId', 'client', 'Name the setting with the client id, or say `client: \'operator\'`: one of the two.')]
      : [],
    ...clientId !== undefined && isThere(clientId) && isSecret(clientId)
      ? [at('clientId', 'secret', 'The client id stands in the address of the vendor\'s page: it is no Secret().')]
      : [],
    ...clientSecret !== undefined && isThere(clientSecret) && !isSecret(clientSecret)
      ? [at('clientSecret', 'not_secret', 'The client secret must be a Secret().')]
      : [],
    ...factFaults(facts, Object.keys(properties), `${path}/facts`),
    ...Object.keys(parameters).filter((name) => hostFields.includes(name)).map((name) => ({
      path: pointer(`${path}/parameters`, name),
      code: 'reserved',
      message: `The host sets "${name}".`
    }))
  ]
}

const addressNames = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'revocationUrl'] as const

/** The problems of addresses: each leads to a declared host, whatever stands in its places. */
function addressProblems (
  given: Partial<Addresses>,
  { facts = {} }: Connect,
  { hosts, settings: { properties } }: Declared,
  path: string
): Problem[] {
  return addressNames.flatMap((name) => {
    const url = given[name]
    if (url === undefined) return []
    const at = (code: string, message: string): Problem => ({ path: `${path}/${name}`, code, message })
    const known = Object.entries(facts).flatMap(([fact, { redirect }]) => isKnown(name, redirect !== undefined) ? [fact] : [])
    const filled = namesIn(url)
    return [
      ...filled.filter((one) => properties[one]?.['x-secret'] === true).map((one) =>
        at('secret', `"${one}" is a secret, which may not stand in a URL.`)
      ),
      ...filled.filter((one) => !Object.hasOwn(properties, one) && !known.includes(one)).map((one) =>
        Object.hasOwn(facts, one)
          ? at('unknown_fact', `The fact "${one}" is not known yet when this address is asked.`)
          : at('unknown_setting', `There is no setting "${one}".`)
      ),
      ...namesIn(hostIn(url)).filter((one) => isFree(properties[one])).map((one) =>
        at('unbounded', `"${one}" may be any text: a setting in a host has declared choices, or is a Host().`)
      ),
      ...hostsFor(hostIn(url), properties).filter((host) => !mayBe(host, hosts)).map((host) =>
        at('host_not_declared', `"${host}" is not in "hosts", ${hosts.length === 0 ? 'which is empty' : `which has ${hosts.join(', ')}`}.`)
      )
    ]
  })
}

/** The person is sent to the page before anything is known; the redirect comes before the token. */
function isKnown (address: typeof addressNames[number], fromRedirect: boolean): boolean {
  return address === 'tokenUrl' ? fromRedirect : address !== 'authorizationUrl'
}

function namesIn (url: string): string[] {
  return [...url.matchAll(placeholder)].map(([, name = '']) => name)
}

function hostIn (url: string): string {
  return /^https:\/\/([^/:]*)/.exec(url)?.[1] ?? ''
}

/** The hosts that a host becomes with each value of its settings, where these are in the form: what else stands in a place stays. */
function hostsFor (host: string, properties: SettingsSchema['properties']): string[] {
  const name = namesIn(host).find((one) => choicesOf(properties[one]).length > 0)
  if (name === undefined) return [host]
  return choicesOf(properties[name]).flatMap((choice) => hostsFor(host.replaceAll(`{${name}}`, choice), properties))
}

/** The texts that a setting may be, where its form has them. */
function choicesOf (field: object | undefined): readonly string[] {
  const { anyOf, enum: listed } = (field ?? {}) as { anyOf?: readonly { const?: unknown }[], enum?: readonly unknown[] }
  const all = listed ?? anyOf?.map((choice) => choice.const) ?? []
  return all.every((value) => typeof value === 'string') ? all : []
}

function isFree (field: SettingsSchema['properties'][string] | undefined): boolean {
  return field !== undefined && field['x-destination'] !== true && choicesOf(field).length === 0
}

/** Whether a host with places is declared, or can become one that is. */
function mayBe (host: string, hosts: readonly string[]): boolean {
  if (!host.includes('{')) return isDeclared(host, hosts)
  const parts = host.split(placeholder).map((part, index) => index % 2 === 0 ? RegExp.escape(part) : '[a-z0-9.*-]+')
  const fits = new RegExp(`^${parts.join('')}$`)
  return isDeclared(host, hosts) || hosts.some((declared) => fits.test(declared))
}

/** The hosts to which the secret of the operator's client may go, as the manifest names them. */
export function clientHosts (manifest: { connect?: Connect | readonly Connect[] }): string[] {
  const ways = waysOf(manifest).filter(({ client }) => client === 'operator')
  const urls = ways.flatMap(({ sandbox = {}, ...way }) =>
    [way, sandbox].flatMap(({ tokenUrl, refreshUrl, revocationUrl }: Partial<Addresses>) => [tokenUrl, refreshUrl, revocationUrl])
  )
  return [...new Set(urls.flatMap((url) => url === undefined ? [] : [hostIn(url)]))].sort()
}

/** The client of a configuration at the vendor; `app` is the operator's. */
export function clientOf (connect: Connect, settings: Readonly<Record<string, unknown>>, app?: OAuthClient): OAuthClient {
  const { clientAuth } = connect
  const { clientId, clientSecret } = connect.client === 'operator'
    ? app ?? { clientId: '' }
    : { clientId: textOf(settings[connect.clientId]), clientSecret: settings[connect.clientSecret ?? ''] }
  return {
    clientId,
    ...(typeof clientSecret === 'string' && { clientSecret }),
    ...(clientAuth !== undefined && { clientAuth })
  }
}

/** A way to connect with the settings of a configuration in its addresses, in which facts still have their places. */
export type ConnectOf = Connect & { hostsWith: (facts: Facts) => string[] }

/**
 * How a configuration is connected: by the first way that is for its settings, with its URLs filled in. `client` is the digest of that for
 * which tokens are issued: with another client, at another place, or for another destination of requests, they are of no use. Undefined
 * where it signs in with its settings alone.
 */
export function connectionFor (
  { connect = [], settings: form, hosts }: { connect?: Connect | readonly Connect[], settings: SettingsSchema, hosts: readonly string[] },
  { settings: { plain }, sandbox }: { settings: { plain: Readonly<Record<string, unknown>> }, sandbox: boolean }
): { connect: ConnectOf, client: string } | undefined {
  const way = waysOf({ connect }).find(({ when = {} }) => Object.entries(when).every(([name, value]) => plain[name] === value))
  if (way === undefined) return undefined
  const given = { ...way, ...sandbox && way.sandbox }
  const texts = Object.fromEntries(Object.keys(form.properties).map((name) => [name, textOf(plain[name])]))
  const filled = Object.fromEntries(addressNames.flatMap((name) => given[name] === undefined ? [] : [[name, fill(given[name], texts)]]))
  const connected = { ...given, ...filled, hostsWith: (facts: Facts) => hostsOf(hosts, { ...facts, ...plain }) }
  const destinations = destinationNames(form).map((name) => plain[name] ?? null)
  const clientId = way.clientId === undefined ? null : textOf(plain[way.clientId])
  return { connect: connected, client: hash('sha256', JSON.stringify([connected.tokenUrl, clientId, sandbox, ...destinations])) }
}

/** A URL with these texts in their places: in the path whatever they are, in the host only as what a host can be. */
function fill (url: string, texts: Readonly<Record<string, string>>): string {
  const host = hostIn(url)
  const within = (part: string, write: (text: string) => string): string =>
    part.replaceAll(placeholder, (place, name: string) => Object.hasOwn(texts, name) ? write(texts[name] ?? '') : place)
  const begin = 'https://'.length + host.length
  return `https://${within(host, (text) => /^[a-z0-9.-]+$/.test(text) ? text : '')}${within(url.slice(begin), encodeURIComponent)}`
}

/**
 * An address of a connection with what is known of its account. Throws a {@link RequestFailure} where it would lead to a host that the
 * manifest does not declare.
 */
export function addressOf ({ hostsWith, facts: declared = {} }: ConnectOf, url: string, facts: Facts = {}): URL {
  const known = Object.fromEntries(Object.keys(declared).map((name) => [name, facts[name] ?? '']))
  const address = URL.parse(fill(url, known))
  if (address !== null && isDeclared(address.hostname, hostsWith(known))) return address
  throw new RequestFailure('not done',
    `Its settings, or what the vendor says of the account, lead to "${address?.host ?? url}", which is ` +
      'no host of the manifest.', { ours: true })
}

/** What is wrong with the facts of an account as somebody gives them: a configuration has all that are declared, in their form. */
export function factProblems (
  manifest: Parameters<typeof connectionFor>[0],
  plain: Readonly<Record<string, unknown>>,
  { facts = {}, sandbox }: { facts: Facts | undefined, sandbox: boolean }
): Problem[] {
  const { facts: declared = {} } = connectionFor(manifest, { settings: { plain }, sandbox })?.connect ?? {}
  const problem = (name: string, code: string, message: string): Problem => ({ path: pointer('/facts', name), code, message })
  return [
    ...Object.keys(declared).filter((name) => !Object.hasOwn(facts, name)).map((name) => problem(name, 'required', 'Give this fact.')),
    ...Object.keys(facts).filter((name) => !Object.hasOwn(declared, name)).map((name) =>
      problem(name, 'unknown_fact', 'The provider declares no such fact.')
    )
  ]
}

/** The facts that a way declares and a connection does not have: it was made before they were asked for. */
export function lackingFacts ({ facts: declared = {} }: Connect, facts: Facts): string[] {
  return Object.keys(declared).filter((name) => !Object.hasOwn(facts, name))
}
