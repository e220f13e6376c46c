import { type JsonObject, type Log, logWith } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { CallContext, InstalledProvider } from '@dispatch/host'
import type { KeepDocument, Network } from '@dispatch/vendor-io'
import { createHash } from 'node:crypto'
import type { Owner, StoredConfiguration } from '../store/configuration/configurations.ts'
import { adapterState } from '../store/vendor/provider-state.ts'
import type { Connections } from './connections.ts'
import { scopeOf } from './vault.ts'

export type OwnCalls = {
  connections: Pick<Connections, 'signIn'>
  network: Network
  database: Database
  log: Log
  now: () => Date
  newId: () => string
}

/** A configuration that is called about itself, with its opened settings. */
type Called = { companyId: number, provider: InstalledProvider, configuration: StoredConfiguration, settings: JsonObject }

/** What a call takes that is about something received: our reference of it, and where a file is kept. */
type About = { reference?: string, keep?: KeepDocument }

/** The context of a call that is about a configuration, and about no dispatch: it has no checkpoint, and reads no documents. */
export function ownCallContext (
  { connections, network, database, log, now, newId }: OwnCalls,
  called: Called,
  { reference = newId(), keep }: About = {}
): CallContext {
  const { companyId, provider, configuration, settings } = called
  const none = (): Promise<never> => Promise.reject(new TypeError('A call about a configuration has no documents and no checkpoint.'))
  const connection = connections.signIn(called)
  return {
    settings,
    requestSettings: {},
    sandbox: configuration.sandbox,
    reference,
    idempotencyKey: reference,
    log: logWith(log, { companyId, provider: provider.code }),
    state: adapterState(database, { companyId, userId: configuration.userId }, provider),
    now,
    resources: {
      network,
      account: `${companyId}|${provider.code}|${scopeOf(configuration)}`,
      documents: { read: none, keep: keep ?? none },
      checkpoint: { save: none },
      ...(connection !== undefined && { connection })
    }
  }
}

/** For what an answer to a call of a configuration counts. Settings with their secrets are in it as a digest alone. */
export function keyOf (
  { userId }: Pick<Owner, 'userId'>,
  { digest }: InstalledProvider,
  { sandbox, connection }: StoredConfiguration,
  requested: unknown
): string {
  const about = [userId, digest, sandbox, connection?.client, connection?.connectedAt, requested]
  return createHash('sha256').update(JSON.stringify(about)).digest('base64')
}
