import type { AuditAuthor } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import { type CheckView, DispatchError } from '@dispatch/contract'
import { callCheck, type Host } from '@dispatch/host'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import { connectionProblem } from './connections.ts'
import { findServing } from './find.ts'
import { ownCallContext, type OwnCalls } from './own-call.ts'
import type { Serving } from './serving.ts'
import { configurationFaults, openConfiguration } from './vault.ts'

/**
 * Asks a vendor whether the credentials of a configuration work, and keeps the answer with it and in the audit log. Throws `not_found`
 * when there is no such provider or configuration.
 */
export type CredentialCheck = (owner: Owner, code: string, author: AuditAuthor) => Promise<CheckView>

type Options = OwnCalls & { configurations: Configurations, host: Host, keyring: Keyring }

/**
 * Asks vendors whether they take the credentials of a configuration, and keeps their answer. Throws `not_found` where there is no
 * configuration.
 */
export function createCredentialCheck (options: Options): CredentialCheck {
  const { configurations, now } = options
  return async (owner, code, author) => {
    const serving = await findServing(options, owner, code)
    if (serving === undefined) throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here.`)
    const view = await check(options, owner, serving)
    await configurations.keepCheck(owner, serving.configuration, view.result, { author, at: now() })
    return view
  }
}

async function check (options: Options, { companyId }: Owner, { provider, configuration }: Serving): Promise<CheckView> {
  const { keyring } = options
  const [fault = connectionProblem(provider, configuration)] = configurationFaults(keyring, companyId, provider, configuration)
  if (fault !== undefined) return { result: 'failed', code: fault.code, message: `${fault.path} ${fault.message}`.trim() }
  const settings = openConfiguration(keyring, companyId, configuration)
  return await callCheck(provider, ownCallContext(options, { companyId, provider, configuration, settings }))
}
