import { type Decimal, grossAmount, type JsonObject, Money, type Priced, roundedTo, shareOf } from '@dispatch/common'
import { amount, identifierField, listField, textField } from '../model/fields.ts'
import type { AllowanceCharge, EInvoiceLine, Tax } from '../model/model.ts'
import { isLineType, withGroupSums } from '../model/sub-lines.ts'
import { readPeriod } from './period.ts'

const zero = new Money(0)
const one = new Money(1)

/** The lines, with amounts of so many decimals. VAT facts that they leave out come from the invoice. */
export function readLines (data: JsonObject, digits: number): readonly EInvoiceLine[] {
  return withGroupSums(listField(data, 'lines').map((line, index) => readLine(line, index, { invoice: data, digits })))
}

function readLine (data: JsonObject, index: number, { invoice, digits }: { invoice: JsonObject, digits: number }): EInvoiceLine {
  const at = `/lines/${index}`
  const tax = readTax(data, invoice)
  const [parent, type] = [textField(data, 'parentLine'), textField(data, 'lineType')]
  const quantities = { priceQuantity: amount(data, 'priceQuantity'), grossPriceQuantity: amount(data, 'grossPriceQuantity') }
  const { priceQuantity } = quantities
  const { price, grossPrice, priceDiscount } = readPrice(data, quantities)
  const [quantity, name, stated] = [amount(data, 'quantity'), textField(data, 'name'), amount(data, 'total')]
  const gross = (): Decimal => grossOf({ quantity, price, priceQuantity })
  const adjustments = readAdjustments(data, { at, base: gross, digits, tax: () => tax })
  return {
    at,
    id: textField(data, 'id') ?? String(index + 1),
    parent,
    type: isLineType(type) ? type : parent === undefined ? undefined : 'DETAIL',
    name: name ?? textField(data, 'description'),
    description: name === undefined ? undefined : textField(data, 'description'),
    note: textField(data, 'note'),
    quantity,
    unit: textField(data, 'unit') ?? 'C62',
    price,
    grossPrice,
    priceDiscount,
    ...quantities,
    stated,
    net: stated ?? roundedTo(adjustments.length === 0 ? gross() : gross().add(sumOfAdjustments(adjustments)), digits),
    tax,
    adjustments,
    period: readPeriod(data),
    orderLine: textField(data, 'orderLine'),
    accounting: textField(data, 'accountingReference'),
    object: identifierField(data, 'object'),
    sellerItemId: textField(data, 'sellerItemId'),
    buyerItemId: textField(data, 'buyerItemId'),
    standardItemId: identifierField(data, 'standardItemId'),
    classifications: listField(data, 'classifications').map((given) => ({
      code: textField(given, 'code') ?? '',
      list: textField(given, 'list') ?? '',
      version: textField(given, 'version')
    })),
    origin: textField(data, 'origin'),
    attributes: listField(data, 'attributes').map((given) => ({
      name: textField(given, 'name') ?? '',
      value: textField(given, 'value') ?? ''
    }))
  }
}

/** BT-146 = BT-148 − BT-147: two of them give the third, where they are prices of the same quantity. */
function readPrice (
  data: JsonObject,
  quantities: Pick<EInvoiceLine, 'priceQuantity' | 'grossPriceQuantity'>
): Pick<EInvoiceLine, 'price' | 'grossPrice' | 'priceDiscount'> {
  const [price, grossPrice, priceDiscount] = [amount(data, 'unitPrice'), amount(data, 'grossPrice'), amount(data, 'priceDiscount')]
  if (!hasLikePrices(quantities)) return { price, grossPrice, priceDiscount }
  const net = price ?? grossPrice?.sub(priceDiscount ?? zero)
  const gross = grossPrice ?? (priceDiscount === undefined ? undefined : net?.add(priceDiscount))
  return { price: net, grossPrice: gross, priceDiscount: priceDiscount ?? (net === undefined ? undefined : gross?.sub(net)) }
}

/** Whether the gross price is for as many as the price (BT-149): only then they can be compared. */
export function hasLikePrices ({ priceQuantity = one, grossPriceQuantity = priceQuantity }: Pick<
  EInvoiceLine,
  'priceQuantity' | 'grossPriceQuantity'
>): boolean {
  return grossPriceQuantity === priceQuantity || grossPriceQuantity.eq(priceQuantity)
}

/** The price of the goods before allowances and charges, not rounded; 0 as long as the line has no quantity or price. */
export function grossOf (line: PossiblyPriced): Decimal {
  const priced = pricedOf(line)
  return priced === undefined ? zero : grossAmount(priced)
}

/** What the amount of a line is computed from; undefined as long as the line has no quantity or price. */
export function pricedOf ({ quantity, price, priceQuantity }: PossiblyPriced): Priced | undefined {
  return quantity === undefined || price === undefined ? undefined : { quantity, price, priceQuantity }
}

type PossiblyPriced = Pick<EInvoiceLine, 'quantity' | 'price' | 'priceQuantity'>

/**
 * A rate above 0 is the standard or a reduced rate of its country, unless the data give another category. Exempt supplies have the rate 0.
 */
export function readTax (data: JsonObject, invoice: JsonObject): Tax {
  const own = amount(data, 'taxRate') ?? amount(invoice, 'taxRate')
  const category = textField(data, 'taxCategory') ?? textField(invoice, 'taxCategory') ?? (own?.gt(0) === true ? 'S' : '')
  if (category === 'O') return { category, rate: amount(data, 'taxRate') }
  const isFree = ['Z', 'E', 'AE', 'K', 'G'].includes(category)
  return { category, rate: isFree ? amount(data, 'taxRate') ?? zero : own }
}

/** `base`: the whole that a percentage applies to. `digits`: the decimals of amounts. */
type Setting = { at: string, base: () => Decimal, digits: number, tax: (data: JsonObject) => Tax }

/** The allowances, then the charges. A percentage without an amount applies to its own base amount, else to the whole. */
export function readAdjustments (data: JsonObject, { at, base: whole, digits, tax }: Setting): AllowanceCharge[] {
  return ([['allowances', 'allowance'], ['charges', 'charge']] as const).flatMap(([list, kind]) =>
    listField(data, list).map((given, index) => {
      const percent = amount(given, 'percent')
      const base = amount(given, 'base') ?? (percent === undefined ? undefined : roundedTo(whole(), digits))
      const computed = percent === undefined || base === undefined ? undefined : shareOf(base, percent, digits)
      return {
        at: `${at}/${list}/${index}`,
        kind,
        amount: amount(given, 'amount') ?? computed,
        percent,
        base,
        reason: textField(given, 'reason'),
        reasonCode: textField(given, 'reasonCode'),
        tax: tax(given)
      }
    })
  )
}

/** Charges minus allowances. */
export function sumOfAdjustments (adjustments: readonly AllowanceCharge[]): Decimal {
  return adjustments.reduce((sum, { kind, amount = zero }) => kind === 'charge' ? sum.add(amount) : sum.sub(amount), zero)
}
