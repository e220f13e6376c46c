import type { AuditAuthor } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { type Host, offeredTo } from '@dispatch/host'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import type { Connections } from './connections.ts'
import { type Serving, servingIn } from './serving.ts'
import type { Subscribing } from './subscribing.ts'
import { configurationFaults, openConfiguration } from './vault.ts'

type Needs = {
  configurations: Pick<Configurations, 'latest' | 'remove'>
  connections: Pick<Connections, 'revocation'>
  host: Host
  keyring: Keyring
  now: () => Date
  subscribing: Pick<Subscribing, 'end'>
}

/**
 * Removes a configuration, after its webhooks are taken back at the vendor, and ends its tokens there. Throws `not_found` where there is
 * none, and what the vendor refuses; `force` removes it nevertheless.
 */
export async function removeConfiguration (
  { configurations, connections, host, keyring, now, subscribing }: Needs,
  { owner, code, author, force }: { owner: Owner, code: string, author: AuditAuthor, force: boolean }
): Promise<void> {
  const { companyId } = owner
  const { configurations: all } = await configurations.latest(companyId)
  const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner.userId)
  const provider = offeredTo(host, companyId).find(code)
  const serving = stored === undefined || provider === undefined ? undefined : servingIn(keyring, companyId, provider, stored)
  if (serving !== undefined && stored?.subscriptions !== undefined) {
    await subscribing.end(owner, serving.provider, serving.configuration).catch((error: unknown) => {
      if (!force) throw error
    })
  }
  const revoke = serving === undefined || stored?.connection === undefined
    ? undefined
    : await revocationOf({ connections, keyring }, companyId, serving)
  if (!await configurations.remove(owner, code, { author, at: now() })) {
    throw new DispatchError('not_found', `There is no configuration of a provider "${code}" here.`)
  }
  await revoke?.()
}

/** What ends the tokens of a configuration at its vendor. Settings that cannot be opened any more end none. */
async function revocationOf (
  { connections, keyring }: Pick<Needs, 'connections' | 'keyring'>,
  companyId: number,
  { provider, configuration }: Serving
): ReturnType<Connections['revocation']> {
  if (configurationFaults(keyring, companyId, provider, configuration).length > 0) return undefined
  const settings = openConfiguration(keyring, companyId, configuration)
  return await connections.revocation({ companyId, provider, configuration, settings })
}
