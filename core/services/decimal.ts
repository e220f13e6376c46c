import type { Json } from '../contract/json.ts'

/** A decimal number, exactly: `units` × 10^-`places`. Nothing here rounds. */
export type Decimal = { readonly units: bigint, readonly places: number }

export const zero: Decimal = { units: 0n, places: 0 }

const form = /^-?\d{1,20}(\.\d{1,10})?$/

/** A JSON number, or a text of up to 20 digits and 10 decimal places; anything else is none. */
export function decimal (value: Json | undefined): Decimal | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? fromNumber(value) : undefined
  return typeof value === 'string' && form.test(value) ? fromDigits(value) : undefined
}

/** The shortest decimal that reads as this double: what stood in the JSON. */
function fromNumber (value: number): Decimal {
  if (Number.isSafeInteger(value)) return { units: BigInt(value), places: 0 }
  const [digits = '', exponent = '0'] = String(value).split('e')
  return shift(fromDigits(digits), Number(exponent))
}

function fromDigits (text: string): Decimal {
  const point = text.indexOf('.')
  if (point < 0) return { units: BigInt(text), places: 0 }
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), places: text.length - point - 1 }
}

export function plus (a: Decimal, b: Decimal): Decimal {
  const places = Math.max(a.places, b.places)
  return { units: unitsAt(a, places) + unitsAt(b, places), places }
}

export function minus (a: Decimal, b: Decimal): Decimal {
  return plus(a, { units: -b.units, places: b.places })
}

export function times (a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, places: a.places + b.places }
}

/** The number × 10^`exponent`. */
export function shift ({ units, places }: Decimal, exponent: number): Decimal {
  const moved = places - exponent
  return moved >= 0 ? { units, places: moved } : { units: units * powerOfTen(-moved), places: 0 }
}

/** Whether the numbers are at most `tolerance` apart. */
export function isNear (a: Decimal, b: Decimal, tolerance: Decimal): boolean {
  const { units, places } = minus(a, b)
  return minus({ units: units < 0n ? -units : units, places }, tolerance).units <= 0n
}

/** The digits, without zeros at the end. */
export function printDecimal ({ units, places }: Decimal): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0')
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${digits.slice(0, digits.length - places)}${fraction === '' ? '' : `.${fraction}`}`
}

function unitsAt ({ units, places }: Decimal, wanted: number): bigint {
  return places === wanted ? units : units * powerOfTen(wanted - places)
}

/** The small powers are needed over and over. */
const powersOfTen = Array.from({ length: 32 }, (_, exponent) => 10n ** BigInt(exponent))

function powerOfTen (exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}
