import type { Log } from '@dispatch/common'
import type { Called, Connections } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { type ConnectedClient, connectionFor, revokeTokens } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import type { Network } from '@dispatch/vendor-io'
import { readConnection } from '../store/connections.ts'
import type { Clients } from './clients.ts'
import { openFor, type Sealing } from './sealing.ts'

/** Ends tokens at their vendors (RFC 7009). What cannot be ended is told to the operator: nobody waits for it. */
export type Revoking = Pick<Connections, 'revocation'> & {
  revoke: (of: ConnectedClient, tokens: { access: string, refresh?: string }, provider: string) => Promise<void>
}

type Options = { database: Database, keyring: Sealing, network: Pick<Network, 'transport'>, log: Log, clients: Clients }

export const revoking = token<Revoking>('revoking')

/** Ends tokens at vendors. It throws nothing: what cannot be ended is logged. */
export function createRevoking ({ database, keyring, network, log, clients }: Options): Revoking {
  const left = (provider: string) => (err: unknown): void => log.warn({ err, provider }, 'a token is left valid at a vendor')
  const revoke: Revoking['revoke'] = (of, tokens, provider) => revokeTokens(network.transport, of, tokens).catch(left(provider))

  /** What is needed to end the tokens, read before they are forgotten. */
  async function prepare ({ companyId, provider, configuration, settings }: Called): Promise<(() => Promise<void>) | undefined> {
    const { account, sandbox } = configuration
    const desired = connectionFor(provider.manifest, configuration)
    if (desired?.connect.revocationUrl === undefined) return undefined
    const ref = { companyId, account }
    const row = await readConnection(database, ref)
    // Tokens of another client are of no use to this one.
    if (row?.client !== desired.client) return undefined
    const { access, refresh } = row.tokens
    const { connect } = desired
    const tokens = { access: openFor(keyring, ref, access), ...(refresh !== undefined && { refresh: openFor(keyring, ref, refresh) }) }
    const client = await clients.of({ manifest: provider.manifest, sandbox }, connect, settings)
    return () => revoke({ connect, client, facts: row.facts }, tokens, provider.code)
  }

  return {
    revoke,
    revocation: (called) =>
      prepare(called).catch((error: unknown) => {
        left(called.provider.code)(error)
        return undefined
      })
  }
}
