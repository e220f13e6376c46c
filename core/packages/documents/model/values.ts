import type { Decimal } from './document.ts'

const decimal = /^-?\d{1,30}(\.\d{1,30})?$/

/** A finite number, or a text with one, with at most 30 digits on each side of the point. */
export function isDecimal (value: unknown): value is Decimal {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && decimal.test(value)
}
