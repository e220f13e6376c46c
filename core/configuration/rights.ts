import { type Actor, mayUse, requireEveryService, requireService } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Host } from '@dispatch/host'
import type { Owner } from '../store/configuration/configurations.ts'

type Permitted = Pick<Actor, 'services' | 'role' | 'key'>

/** The services that a provider offers. Undefined for one that is not installed. */
function offeredBy (host: Host, code: string): string[] | undefined {
  const provider = host.find(code)
  return provider && Object.keys(provider.manifest.services)
}

/** Whether the actor may read the configuration of a provider: they may use something that it offers. */
export function mayRead (actor: Permitted, host: Host, code: string): boolean {
  return offeredBy(host, code)?.some((service) => mayUse(actor, service)) ?? actor.services.includes('*')
}

/**
 * Throws `forbidden` unless the actor may change a configuration of a provider. The company's counts for all that the provider offers, so
 * that they need all of it; their own counts for what they may use.
 */
export function requireConfigurable (actor: Permitted, host: Host, { userId }: Owner, code: string): void {
  const offered = offeredBy(host, code)
  if (userId === null) {
    if (offered === undefined) requireEveryService(actor)
    for (const service of offered ?? []) requireService(actor, service)
  } else if (!mayRead(actor, host, code)) {
    throw new DispatchError('forbidden',
      `This user may use nothing that the provider "${code}" offers: ask an admin of the company for it.`, { reason: 'needs_service' })
  }
}
