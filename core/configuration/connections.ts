import type { JsonObject, Problem } from '@dispatch/common'
import { connectionFor, type InstalledProvider, lackingFacts } from '@dispatch/host'
import type { Connection } from '@dispatch/vendor-io'
import type { ListConnections, StoredConfiguration } from '../store/configuration/configurations.ts'

/** A configuration that is called: its provider, its settings with their secrets. */
export type Called = { companyId: number, provider: InstalledProvider, configuration: StoredConfiguration, settings: JsonObject }

/** What the core asks of the feature that connects configurations with accounts at their vendors (`connect` of their providers). */
export type Connections = {
  list: ListConnections
  /** The sign-in for one call; undefined where a configuration signs in with its settings. */
  signIn: (called: Called) => Connection | undefined
  /**
   * What ends the tokens of a configuration at its vendor, once the configuration is removed; undefined where there is nothing to end. A
   * vendor that cannot be asked is told to the operator.
   */
  revocation: (called: Called) => Promise<(() => Promise<void>) | undefined>
  /** Where the vendor of a provider sends the browser back to. */
  redirectUri: (code: string) => string
}

/** Why a configuration that a person connects cannot sign in; undefined where it can. */
export function connectionProblem (
  { code, manifest }: Pick<InstalledProvider, 'code' | 'manifest'>,
  configuration: StoredConfiguration
): Problem | undefined {
  const { userId, connection } = configuration
  const desired = connectionFor(manifest, configuration)
  if (desired === undefined) return undefined
  const path = '/connection'
  const again = `open the address that GET /api/v1/${userId === null ? 'company' : 'my'}/providers/${code}/connect answers.`
  if (connection?.client !== desired.client) {
    return { path, code: 'not_connected', message: `It is not connected with an account at the vendor: ${again}` }
  }
  const [lacking] = lackingFacts(desired.connect, connection.facts)
  if (lacking !== undefined) {
    return { path, code: 'not_connected', message: `It was connected before "${lacking}" of the account was asked for: ${again}` }
  }
  const { refusal } = connection
  if (refusal === null) return undefined
  return { path, code: 'connection_ended', message: `The vendor has ended its connection (${refusal}); to connect it again, ${again}` }
}
