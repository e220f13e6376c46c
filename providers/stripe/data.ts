import { at, Money, refused, type Json } from '@dispatch/core/provider'
import type { Call, Request } from './settings.ts'

/** The text or number at a pointer of the data, as a text. */
export function text (data: Json, pointer: string): string | undefined {
  const value = at(data, pointer)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** The texts that there are, one below the other. */
export function joined (...texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((one) => one !== undefined).join('\n') || undefined
}

/** A day or a time of the data in Unix time, some seconds later. */
export function seconds (date: string | undefined, later = 0): number | undefined {
  return date === undefined ? undefined : Math.floor(Date.parse(date) / 1000) + later
}

type Amount = InstanceType<typeof Money>

/** Decimals of currencies that have not two: https://stripe.com/docs/currencies (ISK and UGX are written with two). */
const decimals = { 0: 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF', 3: 'BHD JOD KWD OMR TND' }
const digits = new Map(Object.entries(decimals).flatMap(([count, codes]) => codes.split(' ').map((code) => [code, Number(count)])))

/** A number or decimal text of the data, exactly. */
function decimal (data: Json, pointer: string, missing?: number): Amount {
  const value = at(data, pointer) ?? missing
  if (typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))) return new Money(value)
  throw refused('invalid_amount', `There is no number at ${pointer} of the data.`)
}

/** An amount in minor units, exactly: what is less than one stands behind the point. */
function minor (amount: Amount, { data }: Request): Amount {
  return amount.mul(new Money(10).pow(digits.get(text(data, '/currency') ?? '') ?? 2))
}

/** The total of the data, in minor units. */
export function totalOf (request: Request): number {
  const total = minor(decimal(request.data, '/total'), request).toNumber()
  if (!Number.isSafeInteger(total)) throw refused('invalid_amount', 'The total is not a whole number of minor units.')
  return total
}

/** The lines of the data as Stripe takes them: a quantity with decimals becomes one of the line's total. */
export function linesOf (request: Request, { settings: { taxRates = [] } }: Call): { description: string, quantity: string, unit_amount_decimal: string, tax_rates: string[] }[] {
  const [lines, shared] = [at(request.data, '/lines'), decimal(request.data, '/taxRate', 0)]
  return (Array.isArray(lines) ? lines as readonly Json[] : []).map((line) => {
    const [quantity, unitPrice, description = ''] = [decimal(line, '/quantity'), decimal(line, '/unitPrice'), text(line, '/description')]
    const rate = decimal(line, '/taxRate', shared.toNumber())
    const tax_rates = taxRates.filter(({ percent }) => rate.eq(percent)).map(({ id }) => id).slice(0, 1)
    if (tax_rates.length === 0 && !rate.isZero()) throw refused('unknown_tax_rate', `The settings have no tax rate of ${rate.toFixed()} %.`)
    if (quantity.isInteger() && !quantity.isNegative()) return { description, quantity: quantity.toFixed(), unit_amount_decimal: minor(unitPrice, request).toFixed(), tax_rates }
    return { description: `${description} (${quantity.toFixed()} × ${unitPrice.toFixed()})`, quantity: '1', unit_amount_decimal: minor(decimal(line, '/total'), request).toFixed(), tax_rates }
  })
}
