import { type Actor, type AuditAuthor, digestOf, makeSecret } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import { type Configurations, findServing, openConfiguration, type Owner, type Serving } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { authorizationUrl, type ConnectedClient, connectionFor, exchangeCode, factsOfRedirect, factsOfToken, type Host, redirectNames,
  type VendorTokens, waysOf } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import type { Network } from '@dispatch/vendor-io'
import { RequestFailure } from '@dispatch/vendor-io/outcome'
import type { ConnectView } from '../contract/connections.ts'
import { type ConnectionRef, deleteConnection, dropRequest, endRequest, findRequest, insertRequest, keepCode, returnRequest,
  type SealedRequest, storeConnection, takeRequest } from '../store/connections.ts'
import type { Clients } from './clients.ts'
import type { Revoking } from './revoking.ts'
import { openFor, sealFor, sealTokens } from './sealing.ts'

/** What a vendor appends to the address of the callback (RFC 6749, 4.1.2). `all`: every parameter, also those that it has beside these. */
export type VendorAnswer = {
  state?: string
  code?: string
  error?: string
  errorDescription?: string
  all: Readonly<Record<string, string>>
}

/** Where a person stands who has come back from the vendor. `confirmation` is for the user alone who has begun. */
export type Returned =
  | { came: 'confirmed', company: string, provider: string, confirmation: string }
  | { came: 'refused', company: string, provider: string, why: string }
  | { came: 'unknown' }

/**
 * Connects configurations with accounts at their vendors. The vendor sends the person's browser to an address that asks for no sign-in;
 * what it brings counts only once the user who began has confirmed it. So a link that somebody else opened connects nobody else's account.
 */
export type Connecting = {
  /**
   * The address of the vendor's page, for the browser of whoever has the account there. Throws `not_found`, `conflict`; and, as `confirm`,
   * `forbidden` to who acts as somebody else: the account would be connected in the other's name.
   */
  begin: (actor: Actor, owner: Owner, code: string) => Promise<ConnectView>
  /** Keeps what the vendor has sent the browser with. */
  arrive: (provider: string, answer: VendorAnswer) => Promise<Returned>
  /**
   * Exchanges the vendor's code for tokens. Throws `validation_failed` for a confirmation that is none of the user's, and
   * `authentication_error` or `provider_unavailable` as the vendor answers; after the last it can be confirmed again.
   */
  confirm: (actor: Actor, owner: Owner, code: string, confirmation: string, author: AuditAuthor) => Promise<void>
  /** Forgets the tokens, and ends them at a vendor that has an address for that. Throws `not_found` when there are none. */
  disconnect: (owner: Owner, code: string, author: AuditAuthor) => Promise<void>
}

export const connecting = token<Connecting>('connecting')

type Options = {
  configurations: Configurations
  host: Host
  keyring: Keyring
  network: Pick<Network, 'transport'>
  database: Database
  publicUrl: string
  now: () => Date
  clients: Clients
  revoking: Revoking
}

/** Where a vendor sends the browser back to: an address of its own for each provider (RFC 9700, 4.4). */
export function redirectUriOf (publicUrl: string, code: string): string {
  return `${publicUrl}/api/connect/${code}/callback`
}

async function find ({ configurations, host, keyring }: Options, owner: Owner, code: string): Promise<Connectable> {
  const serving = await findServing({ configurations, host, keyring }, owner, code)
  if (serving === undefined) {
    throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here: set one first.`)
  }
  const { provider, configuration } = serving
  const { manifest } = provider
  const found = connectionFor(manifest, configuration)
  if (found === undefined) {
    throw new DispatchError('conflict', `The provider "${code}" signs in with its settings here: there is nothing to connect.`)
  }
  return { ...found, provider, configuration, ref: { companyId: owner.companyId, account: configuration.account } }
}

/** What the vendor says of the account is not there, or in another form than the provider knows: the connection has to be begun again. */
async function unfit ({ database }: Options, ref: ConnectionRef, name: string, lacking: readonly string[]): Promise<DispatchError> {
  await endRequest(database, ref)
  const what = lacking.map((fact) => `"${fact}"`).join(' and ')
  return new DispatchError('authentication_error',
    `${name} has not said ${what} of the account, or not in a form that is expected: nothing is connected. Connect it again.`)
}

/** A code that the vendor has refused is of no use any more; where the vendor was not reached, it is tried again. */
async function giveUp ({ database }: Options, ref: ConnectionRef, confirmation: Buffer, error: unknown): Promise<VendorTokens> {
  if (!(error instanceof RequestFailure)) throw error
  const { message } = error
  if (error.verdict === 'refused') {
    await endRequest(database, ref)
    throw new DispatchError('authentication_error', `${message} Connect it again.`, { cause: error })
  }
  await returnRequest(database, ref, confirmation)
  throw new DispatchError('provider_unavailable', `${message} Confirm it again.`, { cause: error })
}

const begin = (options: Options): Connecting['begin'] => async (actor, owner, code) => {
  const { clients, keyring, database, publicUrl } = options
  const { userId } = ownActor(actor)
  const { connect, client, provider: { manifest }, configuration: { settings: { plain }, sandbox }, ref } = await find(options, owner, code)
  const known = { connect, client: await clients.of({ manifest, sandbox }, connect, plain) }
  const [state, verifier] = [makeSecret(), makeSecret()]
  const sealed = { verifier: sealFor(keyring, ref, verifier) }
  const expiresAt = await insertRequest(database, { ...ref, userId, state: digestOf(state), client, sealed })
  const redirectUri = redirectUriOf(publicUrl, code)
  const url = pageOf(known, { redirectUri, state, verifier })
  return { url, redirectUri, expiresAt: expiresAt.toISOString() }
}

const arrive = ({ database, host, keyring }: Options): Connecting['arrive'] => async (code, answer) => {
  const state = digestOf(answer.state ?? '')
  const request = await findRequest(database, state)
  if (request?.providerCode !== code) return { came: 'unknown' }
  const { company, sealed } = request
  const manifest = host.find(code)?.manifest
  const provider = manifest?.name ?? code
  if (answer.code === undefined) {
    await dropRequest(database, state)
    return { came: 'refused', company, provider, why: answer.errorDescription ?? answer.error ?? 'It gave no reason.' }
  }
  const confirmation = makeSecret()
  const names = redirectNames(waysOf(manifest ?? {}).map(({ facts = {} }) => facts))
  const reported = Object.fromEntries(Object.entries(answer.all).filter(([name]) => names.includes(name)))
  const withCode: SealedRequest = {
    ...sealed,
    code: sealFor(keyring, request, answer.code),
    ...(names.length > 0 && { told: sealFor(keyring, request, JSON.stringify(reported)) })
  }
  const kept = await keepCode(database, state, { sealed: withCode, confirmation: digestOf(confirmation) })
  return kept ? { came: 'confirmed', company, provider, confirmation } : { came: 'unknown' }
}

const confirm = (options: Options): Connecting['confirm'] => async (actor, owner, code, given, author) => {
  const { database, keyring, clients, network, publicUrl, revoking, now } = options
  const { userId } = ownActor(actor)
  const { connect, client, provider: { manifest }, configuration, ref } = await find(options, owner, code)
  const confirmation = digestOf(given)
  const taken = await takeRequest(database, { ...ref, userId, confirmation })
  if (taken?.sealed.code === undefined || taken.client !== client) {
    throw refusal('validation_failed', [{
      path: '/confirmation',
      code: 'not_valid',
      message: 'It is none that you were given within the last 10 minutes, or the settings have changed since: connect it again.'
    }])
  }
  const settings = openConfiguration(keyring, owner.companyId, configuration)
  const { facts: declared = {} } = connect
  const { told: reported, code: returned, verifier } = taken.sealed
  const query = reported === undefined ? {} : JSON.parse(openFor(keyring, ref, reported)) as Record<string, string>
  const { facts, lacking } = factsOfRedirect(declared, query)
  if (lacking.length > 0) throw await unfit(options, ref, manifest.name, lacking)
  const of = { connect, client: await clients.of({ manifest, sandbox: configuration.sandbox }, connect, settings), facts }
  const { usableFor, answer, ...tokens } = await exchangeCode(network.transport, of, {
    code: openFor(keyring, ref, returned),
    redirectUri: redirectUriOf(publicUrl, code),
    verifier: openFor(keyring, ref, verifier)
  }).catch((error: unknown) => giveUp(options, ref, confirmation, error))
  const found = factsOfToken(declared, answer)
  if (found.lacking.length > 0) {
    await revoking.revoke(of, tokens, code)
    throw await unfit(options, ref, manifest.name, found.lacking)
  }
  await storeConnection(database, ref, {
    client: taken.client,
    tokens: sealTokens(keyring, ref, tokens),
    facts: { ...facts, ...found.facts },
    usableFor,
    userId,
    providerCode: code
  }, { author, at: now() })
}

const disconnect = (options: Options): Connecting['disconnect'] => async (owner, code, author) => {
  const { keyring, revoking, database, now } = options
  const { provider, configuration, ref } = await find(options, owner, code)
  const settings = openConfiguration(keyring, owner.companyId, configuration)
  const revoke = await revoking.revocation({ companyId: owner.companyId, provider, configuration, settings })
  if (await deleteConnection(database, ref, code, { author, at: now() })) {
    await revoke?.()
    return
  }
  throw new DispatchError('not_found', `The configuration of the provider "${code}" is not connected.`)
}

/**
 * Connects configurations with accounts at vendors by OAuth, and ends that. Throws `not_found` without a configuration or connection,
 * `conflict` where a provider signs in otherwise, `authentication_error` where the vendor refuses and `provider_unavailable` where it does
 * not answer.
 */
export function createConnecting (options: Options): Connecting {
  return {
    begin: begin(options),

    arrive: arrive(options),

    confirm: confirm(options),

    disconnect: disconnect(options)
  }
}

type Connectable = NonNullable<ReturnType<typeof connectionFor>> & Pick<Serving, 'provider' | 'configuration'> & { ref: ConnectionRef }

/** The vendor's page. Throws `conflict` where its address leads elsewhere than the provider may call. */
function pageOf (of: ConnectedClient, request: Parameters<typeof authorizationUrl>[1]): string {
  try {
    return authorizationUrl(of, request)
  } catch (error) {
    throw error instanceof RequestFailure ? new DispatchError('conflict', error.message, { cause: error }) : error
  }
}

function ownActor (actor: Actor): Actor {
  if (actor.impersonatorId === undefined) return actor
  throw new DispatchError('forbidden', 'Only users themselves connect an account at a vendor: sign in as the one whose it is.')
}
