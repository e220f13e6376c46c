import { decimalOf, isRecord, type Json, type JsonObject, minorDigits, Money, roundedTo, textOf } from '@dispatch/common'
import type { Requested } from './places.ts'
import type { Part } from './spellings.ts'

/** An invoice over two of something, in a currency. */
export type Priced = { currency: string, price: Json }

/** The first one is plain. JSON numbers as programs compute them, and currencies with two, no and three decimals. */
export const priced: readonly [Priced, ...Priced[]] = [
  { currency: 'EUR', price: 4321.25 },
  { currency: 'EUR', price: 10.1 + 20.2 },
  { currency: 'EUR', price: 98_765_432.1 },
  { currency: 'EUR', price: '54321.5' },
  { currency: 'JPY', price: 1_234_567 },
  { currency: 'KWD', price: 765.5 },
  { currency: 'KWD', price: '765.432' }
]

const sums = ['allowances', 'charges', 'prepaidAmount', 'roundingAmount', 'amountDue', 'taxes', 'pricesIncludeTax']
const ofLine = ['allowances', 'charges', 'priceQuantity', 'grossPrice', 'priceDiscount', 'total']

/** What a fixture asks, with one line of this price, and the sums that follow; undefined where it has no line with a price. */
export function pricedAs (requested: Requested, { currency, price }: Priced): Requested | undefined {
  const { data } = requested
  const lines = isRecord(data) ? (data as JsonObject)['lines'] : undefined
  const [line] = Array.isArray(lines) ? lines as readonly Json[] : []
  if (!isRecord(data) || !isRecord(line) || line['unitPrice'] === undefined) return undefined
  const unit = amountOf(price)
  const digits = minorDigits(currency)
  const net = roundedTo(unit.mul(2), digits)
  const tax = roundedTo(net.mul(amountOf(line['taxRate'] ?? data['taxRate'] ?? 0)).div(100), digits)
  const given = { subtotal: net, taxAmount: tax }
  return {
    ...requested,
    data: {
      ...without(data, sums),
      ...Object.fromEntries(Object.entries(given).flatMap(([name, sum]) => data[name] === undefined ? [] : [[name, sum.toFixed()]])),
      currency,
      lines: [{
        ...without(line, ofLine),
        quantity: 2,
        unitPrice: price,
        ...(line['total'] !== undefined && { total: net.toFixed() })
      }],
      total: net.add(tax).toFixed()
    }
  }
}

/** The amounts that may reach the vendor: the price of one, and the total. */
export function amountsOf ({ currency, price }: Priced, { data }: Requested): Part[] {
  return [
    { at: '/data/lines/0/unitPrice', kind: 'amount', currency, expected: amountOf(price).toFixed() },
    { at: '/data/total', kind: 'amount', currency, expected: textOf(data ?? null, '/total') ?? '' }
  ]
}

function amountOf (value: Json): InstanceType<typeof Money> {
  return decimalOf(value) ?? new Money(0)
}

function without (object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}
