import type { Keyring } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { type Host, type InstalledProvider, offeredTo } from '@dispatch/host'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import { whyNotInstalled } from './choose.ts'
import { type Serving, servingIn } from './serving.ts'

/** The provider with this code that is offered to the owner's company. Throws `not_found`. */
export function findInstalled ({ host }: { host: Host }, { companyId }: Owner, code: string): InstalledProvider {
  const offered = offeredTo(host, companyId)
  const installed = offered.find(code)
  if (installed === undefined) throw new DispatchError('not_found', whyNotInstalled(offered, code))
  return installed
}

/** What an owner has configured of a provider, with the version that serves it; undefined where nothing. Throws `not_found`. */
export async function findServing (
  { configurations, host, keyring }: { configurations: Pick<Configurations, 'latest'>, host: Host, keyring: Keyring },
  owner: Owner,
  code: string
): Promise<Serving | undefined> {
  const { companyId } = owner
  const installed = findInstalled({ host }, owner, code)
  const { configurations: all } = await configurations.latest(companyId)
  const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner.userId)
  return stored && servingIn(keyring, companyId, installed, stored)
}
