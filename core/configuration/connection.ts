import type { JsonObject, Problem } from '@dispatch/common'
import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Envelope, Keyring } from '../access/keyring.ts'
import type { Log } from '../host/call/log.ts'
import { RequestFailure } from '../host/call/request-outcome.ts'
import type { Connection } from '../host/http/connection.ts'
import type { Network } from '../host/http/network.ts'
import { usableFor } from '../host/http/oauth.ts'
import { askForToken, clientSignIn, type IssuedToken } from '../host/http/token-endpoint.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import { clientDigest, clientOf, type Connect, connectOf } from '../host/manifest/connect.ts'
import type { StoredConfiguration } from '../store/configuration/configurations.ts'
import { claimRenewal, type ConnectionRef, type ConnectionRow, endRenewal, expireToken, readConnection, refuseConnection, storeRenewed,
  type TokenRef } from '../store/configuration/connections.ts'
import type { Database } from '../store/db/database.ts'
import type { SealedTokens } from '../store/db/schema.ts'

/** Why a configuration that a person connects (`connect` of its provider) cannot sign in; undefined where it can. */
export function connectionProblem (
  { code, manifest }: Pick<InstalledProvider, 'code' | 'manifest'>,
  { userId, settings: { plain }, sandbox, connection }: StoredConfiguration
): Problem | undefined {
  const connect = connectOf(manifest, plain)
  if (connect === undefined) return undefined
  const path = '/connection'
  const again = `open the address that GET /api/v1/${userId === null ? 'company' : 'my'}/providers/${code}/connect answers.`
  if (connection?.client !== clientDigest(connect, { settings: manifest.settings, sandbox }, plain)) {
    return { path, code: 'not_connected', message: `It is not connected with an account at the vendor: ${again}` }
  }
  const { refusal } = connection
  if (refusal === null) return undefined
  return { path, code: 'connection_ended', message: `The vendor has ended its connection (${refusal}); to connect it again, ${again}` }
}

/** What tokens of a connection are sealed for. */
const contextOf = ({ companyId, account }: ConnectionRef): string => `${companyId}|connection|${account}`

type Sealing = Pick<Keyring, 'seal' | 'open'>

/** Seals a secret of a connection. */
export function sealFor (keyring: Sealing, ref: ConnectionRef, secret: string): Envelope {
  return keyring.seal(secret, contextOf(ref))
}

export function openFor (keyring: Sealing, ref: ConnectionRef, envelope: Envelope): string {
  return keyring.open(envelope, contextOf(ref)).toString()
}

/** The tokens of an answer, sealed; without a new refresh token the earlier one stays. */
export function sealTokens (keyring: Sealing, ref: ConnectionRef, { value, refreshToken }: IssuedToken, earlier?: Envelope): SealedTokens {
  const refresh = refreshToken === undefined ? earlier : sealFor(keyring, ref, refreshToken)
  return { access: sealFor(keyring, ref, value), ...(refresh !== undefined && { refresh }) }
}

type Options = { database: Database, keyring: Sealing, network: Pick<Network, 'transport'>, log: Log }

/** A configuration that is called: its provider, its settings with their secrets. */
type Called = { companyId: number, provider: InstalledProvider, configuration: StoredConfiguration, settings: JsonObject }

/**
 * The sign-in of a connected configuration; undefined where it signs in with its settings. Every call reads the tokens anew: they are the
 * same in all processes. One process at a time renews them, the others wait for it.
 */
export function connectionOf (options: Options, called: Called): Connection | undefined {
  const { companyId, provider, configuration: { account }, settings } = called
  const connect = connectOf(provider.manifest, settings)
  if (connect === undefined) return undefined
  const ref = { companyId, account }
  const connected = { ...called, connect, ref }
  /** The version of each token that this call has used. */
  const versions = new Map<string, number>()
  return {
    token: () =>
      unlessUnreadable(async () => {
        const { version, ...token } = await tokenOf(options, connected)
        versions.set(hash('sha256', token.value), version)
        return token
      }),
    async drop (value) {
      const version = versions.get(hash('sha256', value))
      if (version !== undefined) await unlessUnreadable(() => expireToken(options.database, { ...ref, version }))
    }
  }
}

/** A request whose sign-in could not be read has not been sent. */
async function unlessUnreadable<Value> (read: () => Promise<Value>): Promise<Value> {
  return read().catch((cause: unknown) => {
    throw cause instanceof RequestFailure
      ? cause
      : new RequestFailure('not done', 'The connection with the vendor could not be read.', { cause, ours: true })
  })
}

type Connected = Called & { connect: Connect, ref: ConnectionRef }
type Token = { value: string, cached: boolean, version: number }

/** Milliseconds in which another process should have renewed a token, and between two looks at it. */
const [waitsFor, looksEvery] = [20_000, 200]

async function tokenOf (options: Options, connected: Connected): Promise<Token> {
  const { database, keyring } = options
  const { ref, provider, configuration } = connected
  const until = performance.now() + waitsFor
  for (;;) {
    const row = await readConnection(database, ref)
    const problem = connectionProblem(provider, { ...configuration, ...stateOf(row) })
    if (problem !== undefined) throw refused(problem)
    if (row === undefined) throw new TypeError('What is not connected has a problem.')
    if (row.usable) return { value: openFor(keyring, ref, row.tokens.access), cached: true, version: row.version }
    if (!row.renewing && await claimRenewal(database, { ...ref, version: row.version })) return await renew(options, connected, row)
    if (performance.now() > until) throw new RequestFailure('not done', 'Another process has not renewed the access token yet.')
    await pause(looksEvery)
  }
}

function stateOf (row: ConnectionRow | undefined): Pick<StoredConfiguration, 'connection'> {
  return row === undefined ? {} : { connection: { client: row.client, refusal: row.refusal, connectedAt: new Date(0) } }
}

function refused ({ code, message }: Pick<Problem, 'code' | 'message'>): RequestFailure {
  return new RequestFailure('refused', message, { word: 'authentication_error', code })
}

/** Renews a token that this process has claimed. */
async function renew (options: Options, { connect, ref, settings, provider }: Connected, row: ConnectionRow): Promise<Token> {
  const { database, keyring, network, log } = options
  const token: TokenRef = { ...ref, version: row.version }
  const { refresh } = row.tokens
  if (refresh === undefined) return await ended(database, token, 'the access token has expired, and there is none to renew it')
  const form = clientSignIn(clientOf(connect, settings), { grant_type: 'refresh_token', refresh_token: openFor(keyring, ref, refresh) })
  const issued = await askForToken(network.transport, new URL(connect.tokenUrl), form).catch(async (error: unknown) => {
    if (error instanceof RequestFailure && error.facts.code === 'invalid_grant') return await ended(database, token, error.message)
    await endRenewal(database, token)
    throw error instanceof RequestFailure && error.verdict === 'doubtful'
      ? new RequestFailure('not done', error.message, { cause: error })
      : error
  })
  const renewed = { tokens: sealTokens(keyring, ref, issued, refresh), usableFor: usableFor(issued.lifetime) }
  await storeSurely(() => storeRenewed(database, token, renewed)).catch((err: unknown) => {
    log.error({ err, companyId: ref.companyId, provider: provider.code },
      'a renewed token could not be stored: if the vendor takes the earlier one no more, the provider must be connected again')
  })
  return { value: issued.value, cached: false, version: row.version + 1 }
}

async function ended (database: Database, token: TokenRef, why: string): Promise<never> {
  await refuseConnection(database, token, why)
  throw refused({ code: 'connection_ended', message: `The vendor has ended the connection (${why}): it must be connected again.` })
}

/** Milliseconds between the tries to store a token: many vendors have forgotten the earlier one already. */
const storesAgainAfter = [200, 500, 1_000, 2_000, 4_000]

async function storeSurely (store: () => Promise<unknown>): Promise<void> {
  for (const delay of storesAgainAfter) {
    const stored = await store().then(() => true, () => false)
    if (stored) return
    await pause(delay)
  }
  await store()
}
