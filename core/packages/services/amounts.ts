import { at, type Decimal, decimalOf, grossAmount, isRecord, type Json, type JsonObject, Money, roundedTo, shareOf } from '@dispatch/common'

const zero = new Money(0)

/**
 * The numbers of an invoice, as far as its data has them: amounts in the minor unit of the currency, quantities, prices and rates as they
 * are. Rates are in percent.
 */
export type Amounts = {
  lines: readonly LineAmounts[]
  subtotal: Decimal | undefined
  taxRate: Decimal | undefined
  taxAmount: Decimal | undefined
  total: Decimal | undefined
  prepaid: Decimal | undefined
  rounding: Decimal | undefined
  due: Decimal | undefined
  adjustments: readonly Adjustment[]
  taxes: readonly TaxAmounts[]
  /** Whether the prices and totals of the lines, and what is added to them, are with tax. */
  pricesIncludeTax: boolean
  /** The amounts that are finer than the minor unit: they count, and are printed, as `rounded`. */
  finer: readonly { at: string, given: Decimal, rounded: Decimal }[]
}
/** `adjustment`: charges less allowances; undefined where one has no amount. */
export type LineAmounts = Record<'quantity' | 'unitPrice' | 'priceQuantity' | 'taxRate' | 'total' | 'adjustment', Decimal | undefined>
/** A charge on the whole, or an allowance, whose amount is negative. */
export type Adjustment = Record<'amount' | 'taxRate', Decimal | undefined>
/** The tax of one rate. */
export type TaxAmounts = Record<'rate' | 'base' | 'amount', Decimal | undefined>

/** Reads each number once, because creating decimals is the main cost of checking an invoice. `digits`: the decimals of amounts. */
export function readAmounts (data: JsonObject, digits: number): Amounts {
  const finer: { at: string, given: Decimal, rounded: Decimal }[] = []
  const money: ReadMoney = (object, name, place) => {
    const given = decimalOf(object[name])
    if (given === undefined || given.decimalPlaces() <= digits) return given
    const rounded = roundedTo(given, digits)
    finer.push({ at: `${place}/${name}`, given, rounded })
    return rounded
  }
  const reading = { digits, money }
  const lines = objectsOf(data['lines']).map((line, index) => readLine(line, `/lines/${index}`, reading))
  return {
    lines,
    subtotal: money(data, 'subtotal', ''),
    taxRate: decimalOf(data['taxRate']),
    taxAmount: money(data, 'taxAmount', ''),
    total: money(data, 'total', ''),
    prepaid: money(data, 'prepaidAmount', ''),
    rounding: money(data, 'roundingAmount', ''),
    due: money(data, 'amountDue', ''),
    adjustments: readAdjustments(data, '', reading, () => sumOf(lines, ({ total }) => total)),
    taxes: objectsOf(data['taxes']).map((tax, index) => ({
      rate: decimalOf(tax['rate']),
      base: money(tax, 'base', `/taxes/${index}`),
      amount: money(tax, 'amount', `/taxes/${index}`)
    })),
    pricesIncludeTax: data['pricesIncludeTax'] === true,
    finer
  }
}

type ReadMoney = (object: JsonObject, name: string, place: string) => Decimal | undefined
type Reading = { digits: number, money: ReadMoney }

function readLine (line: JsonObject, place: string, reading: Reading): LineAmounts {
  const [quantity, unitPrice, priceQuantity] = [decimalOf(line['quantity']), decimalOf(line['unitPrice']), decimalOf(line['priceQuantity'])]
  const gross = (): Decimal | undefined =>
    quantity === undefined || unitPrice === undefined ? undefined : grossAmount({ quantity, price: unitPrice, priceQuantity })
  return {
    quantity,
    unitPrice,
    priceQuantity,
    taxRate: decimalOf(line['taxRate']),
    total: reading.money(line, 'total', place),
    adjustment: line['allowances'] === undefined && line['charges'] === undefined
      ? zero
      : sumOf([nothing, ...readAdjustments(line, place, reading, gross)], ({ amount }) => amount)
  }
}

const nothing: Adjustment = { amount: zero, taxRate: undefined }

/** A percentage without an amount applies to its own `base`, else to the whole. */
function readAdjustments (data: JsonObject, place: string, { digits, money }: Reading, whole: () => Decimal | undefined): Adjustment[] {
  return kinds.flatMap(({ list, isCharge }) =>
    objectsOf(data[list]).map((given, index) => {
      const amount = money(given, 'amount', `${place}/${list}/${index}`) ??
        share(decimalOf(given['base']) ?? whole(), decimalOf(given['percent']), digits)
      return { amount: isCharge ? amount : amount?.neg(), taxRate: decimalOf(given['taxRate']) }
    })
  )
}

const kinds = [{ list: 'allowances', isCharge: false }, { list: 'charges', isCharge: true }] as const

function share (base: Decimal | undefined, percent: Decimal | undefined, digits: number): Decimal | undefined {
  return base === undefined || percent === undefined ? undefined : shareOf(base, percent, digits)
}

/** An item that is not an object has no amounts, but keeps its index. */
function objectsOf (list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list)
    ? list.map((item: Json) => isRecord(item) ? item : {})
    : []
}

/** A rate, with its place in the data. */
export type PlacedRate = { at: string, rate: Decimal | undefined }

/** The rates of the invoice and of its lines. */
export function ratesOf ({ taxRate, lines }: {
  taxRate: Decimal | undefined
  lines: readonly Pick<LineAmounts, 'taxRate'>[]
}): PlacedRate[] {
  return [
    { at: '/taxRate', rate: taxRate },
    ...lines.map(({ taxRate: rate }, index) => ({ at: `/lines/${index}/taxRate`, rate }))
  ]
}

/** The same where no other number is needed. */
export function readRates (data: JsonObject): PlacedRate[] {
  return ratesOf({
    taxRate: decimalOf(data['taxRate']),
    lines: objectsOf(data['lines']).map(({ taxRate }) => ({ taxRate: decimalOf(taxRate) }))
  })
}

/** The number or decimal text at a JSON pointer, exactly. */
export function decimalAt (data: Json, pointer: string): Decimal | undefined {
  return decimalOf(at(data, pointer))
}

/** The sum over all items, or undefined when there are none or one has no value. */
export function sumOf<Item> (items: readonly Item[], value: (item: Item) => Decimal | undefined): Decimal | undefined {
  let sum = zero
  for (const item of items) {
    const term = value(item)
    if (term === undefined) return undefined
    sum = sum.add(term)
  }
  return items.length === 0 ? undefined : sum
}
