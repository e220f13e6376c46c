import type { Problem } from '@dispatch/common'
import { ForbiddenAddress } from '../outcome/forbidden-address.ts'
import type { Guard } from './guard.ts'
import { chosenHosts } from './target.ts'

/**
 * The problem of a destination (a host or a URL) that is itself an address which is never called. A name is judged when it is called, by
 * the addresses that it has then. `what` is sent there, such as "Callbacks".
 */
export function addressProblems (
  guard: Pick<Guard, 'check'>,
  destination: unknown,
  { path, what }: { path: string, what: string }
): Problem[] {
  return chosenHosts([destination]).flatMap((host) => {
    try {
      guard.check(host)
      return []
    } catch (error) {
      if (!(error instanceof ForbiddenAddress)) throw error
      const message = `${what} are sent to public addresses alone, and ${host} is none: give the public name of the receiver.`
      return [{ path, code: 'address_not_public', message }]
    }
  })
}
