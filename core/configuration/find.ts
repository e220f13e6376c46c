import type { Keyring } from '../access/keyring.ts'
import { DispatchError } from '../contract/errors.ts'
import { type Host, offeredTo } from '../host/host.ts'
import type { Configurations, Owner } from '../store/configuration/configurations.ts'
import { whyNotInstalled } from './choose.ts'
import { type Serving, servingIn } from './serving.ts'

/** What an owner has configured of a provider, with the version that serves it; undefined where nothing. Throws `not_found`. */
export async function findServing (
  { configurations, host, keyring }: { configurations: Pick<Configurations, 'latest'>, host: Host, keyring: Keyring },
  { companyId, userId: owner }: Owner,
  code: string
): Promise<Serving | undefined> {
  const offered = offeredTo(host, companyId)
  const installed = offered.find(code)
  if (installed === undefined) throw new DispatchError('not_found', whyNotInstalled(offered, code))
  const { configurations: all } = await configurations.latest(companyId)
  const stored = all.find(({ providerCode, userId }) => providerCode === code && userId === owner)
  return stored && servingIn(keyring, companyId, installed, stored)
}
