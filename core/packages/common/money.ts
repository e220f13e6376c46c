import { Decimal } from 'decimal.js'

export type { Decimal }

/** Enough digits for any sum of money. The default of 20 digits would round large quantities × prices. */
export const Money = Decimal.clone({ precision: 40 })

const decimalForm = /^-?\d{1,30}(\.\d{1,30})?$/

/** A finite number, or a text with one, with at most 30 digits on each side of the point. */
export function isDecimal (value: unknown): value is number | string {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && decimalForm.test(value)
}

/** A number or a decimal string as a decimal; undefined for any other value (the data schema says which values must be numbers). */
export function decimalOf (value: unknown): Decimal | undefined {
  return isDecimal(value) ? new Money(withoutNoise(value)) : undefined
}

/** A double has 15 decimal digits for certain, so a number that was written with at most 15 has no more characters than this. */
const shortest = 17

/** The largest relative error that one or two operations on doubles leave. */
const noise = 2 ** -51

/** The number without the error of binary arithmetic: 0.1 + 0.2, which is 0.30000000000000004, is read as 0.3. Texts are exact. */
export function withoutNoise (value: number | string): number | string {
  if (typeof value === 'string' || String(value).length < shortest) return value
  const short = Number(value.toPrecision(15))
  return Math.abs(value - short) <= Math.abs(value) * noise ? short : value
}

/** Rounded to so many decimals; a half is rounded away from zero, as amounts are printed. */
export function roundedTo (amount: Decimal, digits: number): Decimal {
  return amount.toDecimalPlaces(digits, Money.ROUND_HALF_UP)
}
