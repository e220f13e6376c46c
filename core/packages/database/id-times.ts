import { randomUUID } from 'node:crypto'

/** An id of this time, which is in milliseconds since 1970: a UUIDv7, so that ids grow with time. */
export function idAt (milliseconds: number, random: string = randomUUID()): string {
  const time = Math.max(0, milliseconds).toString(16).padStart(12, '0').slice(-12)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

/** The time of an id. */
export function timeOf (id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
}

/** The lowest id of a time. */
export function firstIdOf (time: Date): string {
  return idAt(time.getTime(), '00000000-0000-0000-0000-000000000000')
}

/** By how many milliseconds the clock that made an id may differ from that of the database. */
export const idSkew = 3_600_000

/** The lowest UUIDv7 of a millisecond (RFC 9562, 5.7). With it the index of ids is read from there on. */
export function firstIdAt (milliseconds: number): string {
  const digits = Math.max(0, milliseconds).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`
}
