import { type Decimal, decimalOf, type Json, type JsonObject, minorDigits, Money, roundedTo } from '@dispatch/common'
import { amount, listField, objectField, textField } from '../model/fields.ts'
import type { AllowanceCharge, Tax } from '../model/model.ts'
import { grossOf, readAdjustments, readTax } from '../read/lines.ts'

/**
 * The data of an invoice that is no e-invoice, for its page: allowances and charges that are a percentage get their amounts, and an invoice
 * with several rates gets its tax by rate (`taxes`), which adds up to its tax. What the data say themselves stays.
 */
export function plainPageDataOf (given: unknown, usual: string | undefined): unknown {
  const data = withSingles(given as JsonObject)
  const digits = minorDigits(textField(data, 'currency') ?? usual ?? '')
  const adjusted = isAdjusted(data) ? withAmounts(data, digits) : data
  return adjusted['taxes'] === undefined && adjusted['taxAmount'] !== undefined ? withTaxes(adjusted, digits) : adjusted
}

/**
 * The data as templates read them, where a field may hold one or a list: the first account with the others beside it, and the ids of a
 * party as one text.
 */
export function withSingles (data: JsonObject): JsonObject {
  const parties = ['seller', 'customer'].filter((party) => Array.isArray(objectField(data, party)['id']))
  const { bankDetails } = data
  if (parties.length === 0 && !Array.isArray(bankDetails)) return data
  const [first, ...others] = listField(data, 'bankDetails')
  return {
    ...data,
    ...Object.fromEntries(parties.map((party) => [party, withOneId(objectField(data, party))])),
    ...(first === undefined ? {} : { bankDetails: first, otherAccounts: [...others, ...listField(data, 'otherAccounts')] })
  }
}

function withOneId (party: JsonObject): JsonObject {
  return { ...party, id: { id: listField(party, 'id').flatMap((one) => textField(one, 'id') ?? []).join(', ') } }
}

function isAdjusted (data: JsonObject): boolean {
  return [data, ...listField(data, 'lines')].some(({ allowances, charges }) => allowances !== undefined || charges !== undefined)
}

function withAmounts (data: JsonObject, digits: number): JsonObject {
  const tax = (): Tax => ({ category: '', rate: undefined })
  const lines = listField(data, 'lines').map((line) => {
    const [quantity, price, priceQuantity] = [amount(line, 'quantity'), amount(line, 'unitPrice'), amount(line, 'priceQuantity')]
    return withAdjustments(line, readAdjustments(line, { at: '', base: () => grossOf({ quantity, price, priceQuantity }), digits, tax }),
      digits)
  })
  const whole = (): Decimal => sum(lines.map((line) => amount(line, 'total') ?? zero))
  return withAdjustments({ ...data, lines }, readAdjustments(data, { at: '', base: whole, digits, tax }), digits)
}

/** The invoice or the line, with the amounts of its allowances and charges. */
export function withAdjustments (data: JsonObject, read: readonly AllowanceCharge[], digits: number): JsonObject {
  if (read.length === 0) return data
  const amounts = Map.groupBy(read, ({ kind }) => kind)
  const lists = ([['allowances', 'allowance'], ['charges', 'charge']] as const).filter(([list]) => Array.isArray(data[list]))
  return {
    ...data,
    ...Object.fromEntries(lists.map(([list, kind]) => [
      list,
      listField(data, list).map((one, index) => ({ ...one, ...amountOf(amounts.get(kind)?.[index]?.amount, digits) }))
    ]))
  }
}

function amountOf (value: Decimal | undefined, digits: number): { amount?: string } {
  return value === undefined ? {} : { amount: roundedTo(value, digits).toFixed(digits) }
}

const zero = new Money(0)
const hundred = new Money(100)

function sum (amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((so, one) => so.add(one), zero)
}

type Part = { rate: Decimal | undefined, amount: Decimal, reason: string | undefined }

/** With the tax by rate, or with the rate of the whole where there is one alone. Unchanged where a rate is not known. */
function withTaxes (data: JsonObject, digits: number): JsonObject {
  const adjusted = [...listField(data, 'allowances'), ...listField(data, 'charges')]
  const written = new Set([...listField(data, 'lines'), ...adjusted].map((one) => textField(one, 'taxRate') ?? textField(data, 'taxRate')))
  const [only] = written
  if (written.size === 1 && only !== undefined) return withRate(data, only)
  const groups = Map.groupBy(partsOf(data, digits), ({ rate }) => rate?.toFixed())
  const taxes = groups.has(undefined) ? [] : [...groups.values()].map((parts) => taxOf(parts, data, digits))
  const first = taxes[0]
  if (taxes.length < 2) return first === undefined ? data : withRate(data, first.rate.toFixed())
  const lines = listField(data, 'lines').length
  const fitted = fit(taxes, roundedTo(amount(data, 'taxAmount') ?? zero, digits), { digits, lines })
  return fitted === undefined ? data : {
    ...data,
    taxes: fitted.map(({ rate, base, amount: tax, reason }) => ({
      rate: rate.toFixed(),
      base: base.toFixed(digits),
      amount: tax.toFixed(digits),
      ...(reason === undefined ? {} : { reason })
    }))
  }
}

function withRate (data: JsonObject, rate: Json): JsonObject {
  return data['taxRate'] === undefined && decimalOf(rate) !== undefined ? { ...data, taxRate: rate } : data
}

/** What is taxed: the lines, and the allowances and charges on the whole. */
function partsOf (data: JsonObject, digits: number): Part[] {
  const part = (one: JsonObject, value: Decimal | undefined): Part => ({
    rate: readTax(one, data).rate,
    amount: roundedTo(value ?? zero, digits),
    reason: textField(one, 'taxExemptionReason')
  })
  return [
    ...listField(data, 'lines').map((line) => part(line, amount(line, 'total'))),
    ...listField(data, 'allowances').map((one) => part(one, amount(one, 'amount')?.neg())),
    ...listField(data, 'charges').map((one) => part(one, amount(one, 'amount')))
  ]
}

type RateTax = { rate: Decimal, base: Decimal, amount: Decimal, reason: string | undefined }

/** The tax of one rate. Where prices include it, the base is what is left of them. */
function taxOf (parts: readonly Part[], data: JsonObject, digits: number): RateTax {
  const [rate, whole] = [parts[0]?.rate ?? zero, sum(parts.map((part) => part.amount))]
  const isInclusive = data['pricesIncludeTax'] === true
  const tax = roundedTo(whole.mul(rate).div(isInclusive ? rate.add(hundred) : hundred), digits)
  const reason = parts.find((part) => part.reason !== undefined)?.reason ??
    (rate.isZero() ? textField(data, 'taxExemptionReason') : undefined)
  return { rate, base: isInclusive ? whole.sub(tax) : whole, amount: tax, reason }
}

/**
 * The taxes with the sum that the invoice says: tax that was rounded for each line differs by up to a minor unit for each, which the
 * largest one takes. Undefined where the difference is larger.
 */
function fit (taxes: readonly RateTax[], whole: Decimal, { digits, lines }: { digits: number, lines: number }): RateTax[] | undefined {
  const left = whole.sub(sum(taxes.map((tax) => tax.amount)))
  const largest = taxes.reduce((so, tax) => tax.amount.abs().gt(so.amount.abs()) ? tax : so)
  const max = new Money(10).pow(-digits).mul(lines)
  return left.abs().gt(max) ? undefined : taxes.map((tax) => tax === largest ? { ...tax, amount: tax.amount.add(left) } : tax)
}
