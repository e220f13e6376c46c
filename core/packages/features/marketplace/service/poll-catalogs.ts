import type { Log } from '@dispatch/common'
import { runEvery } from '@dispatch/queue'
import type { Marketplace } from './marketplace.ts'

/** Milliseconds between two polls of the catalogs. */
const pollEvery = 3_600_000

type Needs = { marketplace: Marketplace, catalogLocations: readonly unknown[], log: Log, now: () => Date }

/**
 * Reads the catalogs now, and then every hour, so that what they revoke stops in time. Nothing is upgraded by it. Undefined where no
 * catalog is configured.
 */
export function pollCatalogs ({ marketplace, catalogLocations, log, now }: Needs): AsyncDisposable | undefined {
  if (catalogLocations.length === 0) return undefined
  const polling = runEvery(pollEvery, async () => {
    const read = await marketplace.refresh({ author: null, at: now() })
    for (const { address, problem, notice, revoked = [] } of read) {
      if (problem !== undefined) log.warn({ address, ...problem }, 'a catalog was not read')
      for (const { message, ...facts } of revoked) log.warn({ address, ...facts }, message)
      if (notice !== undefined) log.warn({ address, notice }, 'a catalog needs a newer one')
    }
  }, (err) => {
    log.warn({ err }, 'the catalogs could not be read')
  })
  return { [Symbol.asyncDispose]: polling.close }
}
