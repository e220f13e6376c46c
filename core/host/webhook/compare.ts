import { hash, timingSafeEqual } from 'node:crypto'

/** The seconds by which a signed time may differ from ours where a verifier does not say otherwise. */
export const usualTolerance = 300

/** Whether a signed time, a whole number of its unit since 1970, differs from `at` by `tolerance` seconds at most. */
export function isNear (
  time: string | undefined,
  { unit = 'seconds', tolerance = usualTolerance }: { unit?: 'seconds' | 'milliseconds', tolerance?: number },
  at: Date
): boolean {
  if (time === undefined || !/^\d{1,16}$/.test(time)) return false
  const milliseconds = Number(time) * (unit === 'seconds' ? 1000 : 1)
  return Math.abs(milliseconds - at.getTime()) <= tolerance * 1000
}

/** Whether two byte strings are equal. The time depends neither on the place of a difference nor on the lengths. */
export function isSame (given: Uint8Array, expected: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
