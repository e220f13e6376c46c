import type { Exchange } from '../fixtures/fixture.ts'
import type { ReceivedRequest } from '../vendor/requests.ts'
import { isMeant } from './compare.ts'

/** The index of a request in the exchange: the first matching one that has not come yet, else the last matching one. */
export function indexIn (
  exchange: Exchange,
  request: ReceivedRequest,
  before: readonly { index: number | undefined }[]
): number | undefined {
  const alike = exchange.flatMap(({ expect }, index) => isMeant(expect, request) ? [index] : [])
  return alike.find((index) => before.every((earlier) => earlier.index !== index)) ?? alike.at(-1)
}
