import { Decimal } from 'decimal.js'
import type { Json } from './json.ts'

/** Enough digits for any sum of money. The default of 20 digits would round large quantities × prices. */
export const Money = Decimal.clone({ precision: 40 })

const decimalForm = /^-?\d{1,20}(\.\d{1,10})?$/

/** A number or a decimal string as a decimal; undefined for any other value (the data schema says which values must be numbers). */
export function decimalOf (value: Json | undefined): Decimal | undefined {
  if (typeof value === 'number') return new Money(value)
  return typeof value === 'string' && decimalForm.test(value) ? new Money(value) : undefined
}
