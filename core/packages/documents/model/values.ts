import type { Decimal } from './document.ts'

const decimal = /^-?\d{1,30}(\.\d{1,30})?$/
const day = /^\d{4}-\d{2}-\d{2}$/
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

/** A finite number, or a text with one, with at most 30 digits on each side of the point. */
export function isDecimal (value: unknown): value is Decimal {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && decimal.test(value)
}

/** A date of the calendar (YYYY-MM-DD) or a time (RFC 3339). */
export function isDate (value: unknown): value is string {
  if (typeof value !== 'string' || !(day.test(value) || time.test(value))) return false
  // `new Date` would turn 30 February into a day of March.
  const midnight = new Date(`${value.slice(0, 10)}T00:00:00Z`)
  return !Number.isNaN(Date.parse(value)) && midnight.toISOString().startsWith(value.slice(0, 10))
}
