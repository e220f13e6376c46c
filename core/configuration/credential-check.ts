import type { Keyring } from '../access/keyring.ts'
import { DispatchError } from '../contract/errors.ts'
import type { CheckView } from '../contract/response.ts'
import { callCheck } from '../host/call/check.ts'
import { type Log, logWith } from '../host/call/log.ts'
import type { Host } from '../host/host.ts'
import type { Network } from '../host/http/network.ts'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import type { Database } from '../store/db/database.ts'
import { type AuditAuthor, noteAudit } from '../store/tenants/audit.ts'
import { adapterState } from '../store/vendor/provider-state.ts'
import { connectionProblem, type Connections } from './connections.ts'
import { findServing } from './find.ts'
import type { Serving } from './serving.ts'
import { configurationFaults, openConfiguration, scopeOf } from './vault.ts'

/**
 * Asks a vendor whether the credentials of a configuration work, and notes it in the audit log. Throws `not_found` when there is no such
 * provider or configuration.
 */
export type CredentialCheck = (owner: Owner, code: string, author: AuditAuthor) => Promise<CheckView>

type Options = {
  configurations: Configurations
  connections: Pick<Connections, 'signIn'>
  host: Host
  keyring: Keyring
  network: Network
  database: Database
  log: Log
  now: () => Date
  newId: () => string
}

export function createCredentialCheck (options: Options): CredentialCheck {
  const { database, now } = options
  return async (owner, code, author) => {
    const serving = await findServing(options, owner, code)
    if (serving === undefined) throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here.`)
    const view = await check(options, owner, serving)
    const { companyId } = owner
    await database.company(companyId, (queries) =>
      noteAudit(queries, {
        companyId,
        author,
        action: 'configuration.checked',
        object: { kind: 'configuration', id: code },
        facts: { result: view.result },
        at: now()
      }))
    return view
  }
}

async function check (
  { connections, keyring, network, database, log, now, newId }: Options,
  { companyId }: Owner,
  { provider, configuration: stored }: Serving
): Promise<CheckView> {
  const [fault = connectionProblem(provider, stored)] = configurationFaults(keyring, companyId, provider, stored)
  if (fault !== undefined) return { result: 'failed', code: fault.code, message: `${fault.path} ${fault.message}`.trim() }
  const none = (): Promise<never> => Promise.reject(new TypeError('A check has no documents and no checkpoint.'))
  const reference = newId()
  const settings = openConfiguration(keyring, companyId, stored)
  const connection = connections.signIn({ companyId, provider, configuration: stored, settings })
  return await callCheck(provider, {
    settings,
    requestSettings: {},
    sandbox: stored.sandbox,
    reference,
    idempotencyKey: reference,
    log: logWith(log, { companyId, provider: provider.code }),
    state: adapterState(database, { companyId, userId: stored.userId }, provider),
    now,
    resources: {
      network,
      account: `${companyId}|${provider.code}|${scopeOf(stored)}`,
      documents: { read: none, keep: none },
      checkpoint: { save: none },
      ...(connection !== undefined && { connection })
    }
  })
}
