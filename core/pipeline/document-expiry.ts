import type { ServiceName } from '@dispatch/services'
import type { Configurations } from '../store/configuration/configurations.ts'

const day = 24 * 3600 * 1000

/** How long a document is kept, in days. */
const kept = 30

/** When a file that comes with a request expires, as long as nobody knows for what it is. */
export function usualExpiry (time: Date): Date {
  return new Date(time.getTime() + kept * day)
}

/**
 * When a document of a dispatch expires that is made or received at `time`: sooner where its company keeps the data of one of its services
 * for less long. `services`: of its path.
 */
export async function documentExpiry (
  { configurations }: { configurations: Configurations },
  companyId: number,
  services: readonly ServiceName[],
  time: Date
): Promise<Date> {
  const { days, services: own } = await configurations.retentionOf(companyId)
  return new Date(time.getTime() + Math.min(kept, ...services.map((service) => own[service] ?? days ?? kept)) * day)
}
