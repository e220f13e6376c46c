import type { Log } from '@dispatch/common'
import { type Called, connectionProblem, type Connections, type StoredConfiguration } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { connectionFor, factsOfToken, refreshTokens, type VendorTokens } from '@dispatch/host'
import type { Facts, Network } from '@dispatch/vendor-io'
import { RequestFailure } from '@dispatch/vendor-io/outcome'
import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { claimRenewal, type ConnectionRef, type ConnectionRow, endRenewal, expireToken, readConnection, refuseConnection, storeRenewed,
  type TokenRef } from '../store/connections.ts'
import type { Clients } from './clients.ts'
import { openFor, type Sealing, sealTokens } from './sealing.ts'

type Options = { database: Database, keyring: Sealing, network: Pick<Network, 'transport'>, log: Log, clients: Clients }

/**
 * The sign-in of connected configurations. Every call reads the tokens anew: they are the same in all processes. One process at a time
 * renews them, the others wait for it.
 */
export function createSignIn (options: Options): Connections['signIn'] {
  return (called) => {
    const { companyId, provider, configuration } = called
    const { account } = configuration
    const connect = connectionFor(provider.manifest, configuration)?.connect
    if (connect === undefined) return undefined
    const ref = { companyId, account }
    const connected = { ...called, connect, ref }
    /** The version of each token that this call has used. */
    const versions = new Map<string, number>()
    return {
      facts: configuration.connection?.facts ?? {},
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
}

/** A request whose sign-in could not be read has not been sent. */
async function unlessUnreadable<Value> (read: () => Promise<Value>): Promise<Value> {
  return read().catch((cause: unknown) => {
    throw cause instanceof RequestFailure
      ? cause
      : new RequestFailure('not done', 'The connection with the vendor could not be read.', { cause, ours: true })
  })
}

type Connected = Called & { connect: NonNullable<ReturnType<typeof connectionFor>>['connect'], ref: ConnectionRef }
type Token = { value: string, cached: boolean, version: number }

/** Milliseconds in which another process should have renewed a token, and between two looks at it. */
const [waitsFor, pollInterval] = [20_000, 200]

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
    await pause(pollInterval)
  }
}

function stateOf (row: ConnectionRow | undefined): Pick<StoredConfiguration, 'connection'> {
  return row === undefined ? {} : { connection: { client: row.client, facts: row.facts, refusal: row.refusal, connectedAt: new Date(0) } }
}

function refused ({ code, message }: { code: string, message: string }): RequestFailure {
  return new RequestFailure('refused', message, { word: 'authentication_error', code })
}

/** Renews a token that this process has claimed. */
async function renew (
  options: Options,
  { connect, ref, settings, provider, configuration: { sandbox } }: Connected,
  row: ConnectionRow
): Promise<Token> {
  const { database, keyring, network, log, clients } = options
  const token: TokenRef = { ...ref, version: row.version }
  const { refresh } = row.tokens
  if (refresh === undefined) return await ended(database, token, 'the access token has expired, and there is none to renew it')
  const earlier = openFor(keyring, ref, refresh)
  const { facts } = row
  const refreshed = async (): Promise<VendorTokens> => {
    const client = await clients.of({ manifest: provider.manifest, sandbox }, connect, settings)
      .catch(unanswerable)
    return await refreshTokens(network.transport, { connect, client, facts }, earlier)
  }
  const issued = await refreshed().catch(async (error: unknown) => {
    if (error instanceof RequestFailure && error.facts.code === 'invalid_grant') return await ended(database, token, error.message)
    await endRenewal(database, token)
    throw error instanceof RequestFailure && error.verdict === 'uncertain'
      ? new RequestFailure('not done', error.message, { cause: error })
      : error
  })
  const { usableFor } = issued
  const renewed = { tokens: sealTokens(keyring, ref, issued, refresh), usableFor, ...changedFacts(connect, facts, issued) }
  await storeSurely(() => storeRenewed(database, token, renewed)).catch((err: unknown) => {
    log.error({ err, companyId: ref.companyId, provider: provider.code },
      'a renewed token could not be stored: if the vendor takes the earlier one no more, the provider must be connected again')
  })
  return { value: issued.access, cached: false, version: row.version + 1 }
}

/** Without its client a token cannot be renewed: the request that needs it has not been sent. */
function unanswerable (cause: unknown): never {
  throw new RequestFailure('not done', cause instanceof Error ? cause.message : 'There is no client.', { cause, ours: true })
}

/** A vendor may have moved the account. What it does not say, or not in the form that is declared, stays as it was. */
function changedFacts (
  { facts: declared = {} }: Connected['connect'],
  facts: Facts,
  { answer }: Pick<VendorTokens, 'answer'>
): { facts?: Facts } {
  const { facts: reported } = factsOfToken(declared, answer)
  return Object.entries(reported).some(([name, value]) => facts[name] !== value) ? { facts: { ...facts, ...reported } } : {}
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
