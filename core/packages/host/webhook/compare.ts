import { hash, timingSafeEqual } from 'node:crypto'
import type { SignedTime } from './language.ts'

/** The seconds by which a signed time may differ from ours where a verifier does not say otherwise. */
export const usualTolerance = 300

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

/** Whether a signed time (a whole number of its unit since 1970, or an instant of ISO 8601) is within `tolerance` seconds of `at`. */
export function isNear (
  time: string | undefined,
  { unit = 'seconds', tolerance = usualTolerance }: Omit<SignedTime, 'at'>,
  at: Date
): boolean {
  const milliseconds = unit === 'iso' ? instantOf(time) : numberOf(time, unit)
  return milliseconds !== undefined && Math.abs(milliseconds - at.getTime()) <= tolerance * 1000
}

function numberOf (time: string | undefined, unit: 'seconds' | 'milliseconds'): number | undefined {
  if (time === undefined || !/^\d{1,16}$/.test(time)) return undefined
  return Number(time) * (unit === 'seconds' ? 1000 : 1)
}

function instantOf (time: string | undefined): number | undefined {
  const milliseconds = time !== undefined && instant.test(time) ? Date.parse(time) : NaN
  return Number.isNaN(milliseconds) ? undefined : milliseconds
}

/** Whether two byte strings are equal. The time depends neither on the place of a difference nor on the lengths. */
export function isSame (given: Uint8Array, expected: Uint8Array): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))
}
