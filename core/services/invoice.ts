import { dayOf, isCurrency, type Json, type JsonObject, minorDigits, Money, type Problem } from '@dispatch/common'
import { isBic, isIban } from '@dispatch/documents'
import type { Decimal } from 'decimal.js'
import isEmail from 'validator/lib/isEmail.js'
import { checkInvoicedCountry, checkPostalCode } from './address.ts'
import { type Amounts, decimalAt, type LineAmounts, readAmounts, sumOf } from './amounts.ts'
import { at } from './data.ts'
import type { Findings } from './service.ts'

type Invoice = { data: JsonObject, template: { currency?: string }, today: string }

/**
 * The business rules of invoices, for those invoice fields that the data has. All sums are decimal. Tolerance for rounding: half a minor
 * unit on line totals, the subtotal and the total; one minor unit per line on the tax.
 */
export function checkInvoice (invoice: Invoice): Findings {
  const { data, template } = invoice
  const currency = at(data, '/currency') ?? literalCurrency(template)
  const half = halfUnit(currency)
  const amounts = readAmounts(data)
  const [due, words] = [checkOwnDueDate(invoice), checkWords(data)]
  return {
    warnings: [...due.warnings ?? [], ...words.warnings],
    problems: [
      ...due.problems ?? [],
      ...words.problems,
      ...checkCurrency(currency),
      ...checkLines(amounts, half),
      ...checkSubtotal(amounts, half),
      ...checkTax(amounts, half),
      ...checkTotal(amounts, half),
      ...checkDue(data, amounts, half)
    ]
  }
}

/** The rules of an e-invoice besides those of EN 16931, which allows a due date before the issue date for prepaid invoices. */
export function checkEInvoiceWords ({ data, today }: Pick<Invoice, 'data' | 'today'>): Findings {
  const { problems, warnings } = checkWords(data)
  return { problems, warnings: [...asWarnings(checkOwnDueDate({ data, today })), ...warnings] }
}

/** Turns the problems of findings into warnings. */
export function asWarnings ({ problems = [], warnings = [] }: Findings): Problem[] {
  return [...problems, ...warnings]
}

/** The rules of every invoice that concern neither dates nor sums: its customer and its bank account. */
function checkWords (data: JsonObject): { problems: Problem[], warnings: Problem[] } {
  return { problems: checkCustomer(data), warnings: [...checkCustomerPostalCode(data), ...checkAccount(data), ...checkRates(data)] }
}

function checkOwnDueDate ({ data, today }: Pick<Invoice, 'data' | 'today'>): Findings {
  return checkDueDate(at(data, '/dueDate'), '/template/data/dueDate', { data, today })
}

/** Warns about a rate below 1, because rates are in percent: 0.2 may mean 20 %. */
function checkRates (data: JsonObject): Problem[] {
  const { lines, taxRate } = readAmounts(data)
  const rates = [{ at: '/taxRate', rate: taxRate }, ...lines.map(({ taxRate: rate }, index) => ({ at: `/lines/${index}/taxRate`, rate }))]
  return rates.flatMap(({ at: place, rate }) =>
    rate === undefined || !isFraction(rate) ? [] : [{
      path: `/template/data${place}`,
      code: 'small_rate',
      message: readAs(rate)
    }]
  )
}

function isFraction (rate: Decimal): boolean {
  return rate.gt(0) && rate.lt(1)
}

/** Warns about an invalid account number, to which nobody can pay. The document still shows it. */
function checkAccount (data: JsonObject): Problem[] {
  const isWrong = (field: string, is: (text: string) => boolean): boolean => {
    const text = at(data, `/bankDetails/${field}`)
    return typeof text === 'string' && text.trim() !== '' && !is(text)
  }
  const path = '/template/data/bankDetails'
  return [
    ...isWrong('iban', isIban)
      ? [{
        path: `${path}/iban`,
        code: 'bad_iban',
        message: 'Expected an IBAN with correct check digits; without it, the document has no payment code.'
      }]
      : [],
    ...isWrong('bic', isBic)
      ? [{
        path: `${path}/bic`,
        code: 'bad_bic',
        message: 'Expected a BIC of 8 or 11 characters; without it, the document has no payment code.'
      }]
      : []
  ]
}

/** The currency. In a template it may be an expression: then it is in the data. */
function literalCurrency ({ currency }: Invoice['template']): string | undefined {
  return currency !== undefined && isCurrency(currency) ? currency : undefined
}

/** Checks a due date, which stands at the path, against the date of the data. */
export function checkDueDate (dueDate: Json | undefined, path: string, { data, today }: Pick<Invoice, 'data' | 'today'>): Findings {
  const [date, due] = [dayOf(at(data, '/date')), dayOf(dueDate)]
  if (due === undefined) return {}
  if (date !== undefined && due < date) {
    return { problems: [{ path, code: 'due_date_before_date', message: `The due date ${due} is before the date ${date}.` }] }
  }
  return due < today ? { warnings: [{ path, code: 'due_date_in_the_past', message: `The due date ${due} is in the past.` }] } : {}
}

function checkCurrency (currency: Json | undefined): Problem[] {
  if (typeof currency !== 'string' || isCurrency(currency)) return []
  return [{ path: '/template/data/currency', code: 'unknown_currency', message: 'Not an ISO 4217 currency code, such as EUR.' }]
}

function checkLines ({ lines }: Amounts, half: Decimal): Problem[] {
  return lines.flatMap(({ quantity, unitPrice, priceQuantity, adjustment, total }, index) => {
    if (quantity === undefined || unitPrice === undefined || adjustment === undefined || total === undefined ||
      priceQuantity?.isZero() === true) return []
    const expected = quantity.mul(unitPrice).div(priceQuantity ?? 1).add(adjustment)
    return differs(`/template/data/lines/${index}/total`, 'line_total',
      adjustment.isZero() ? 'quantity × unit price' : 'quantity × unit price, less allowances, plus charges', total, expected, half)
  })
}

function checkSubtotal ({ lines, subtotal }: Amounts, half: Decimal): Problem[] {
  const sum = sumOf(lines, totalOf)
  return subtotal === undefined || sum === undefined
    ? []
    : differs('/template/data/subtotal', 'subtotal', 'the sum of the line totals', subtotal, sum, half)
}

/** The tax of the document's one rate, or of the rates of its lines where they carry their own. */
function checkTax ({ lines, subtotal, taxRate: documentRate, taxAmount, adjustment }: Amounts, half: Decimal): Problem[] {
  // Allowances and charges of the whole document have their own tax rates, which the rules of e-invoices check.
  if (taxAmount === undefined || adjustment?.isZero() !== true) return []
  const ownRates = lines.some(({ taxRate }) => taxRate !== undefined)
  const hundredfold = ownRates
    ? sumOf(lines, ({ total, taxRate = documentRate }) => product(total, taxRate))
    : product(subtotal ?? sumOf(lines, totalOf), documentRate)
  const oneUnitPerLine = half.mul(2 * Math.max(1, lines.length))
  if (hundredfold === undefined) return []
  const found = differs('/template/data/taxAmount', 'tax_amount', ownRates ? 'the sum of line totals × their rates' : 'subtotal × tax rate',
    taxAmount, hundredfold.div(100), oneUnitPerLine)
  // The rate may be the mistake: then the problem is enough, without a warning.
  const small = [documentRate, ...lines.map(({ taxRate }) => taxRate)].find((rate) => rate !== undefined && isFraction(rate))
  return small === undefined ? found : found.map((problem) => ({ ...problem, message: `${problem.message} ${readAs(small)}` }))
}

/** How a rate below one is read. */
function readAs (rate: Decimal): string {
  return `${rate.toFixed()} is read as ${rate.toFixed()} %: 20 means 20 %.`
}

const totalOf = ({ total }: LineAmounts): Decimal | undefined => total

function product (amount: Decimal | undefined, rate: Decimal | undefined): Decimal | undefined {
  return amount === undefined || rate === undefined ? undefined : amount.mul(rate)
}

/** The subtotal. If the data have none, it is the sum of the lines. */
function checkTotal ({ lines, subtotal = sumOf(lines, totalOf), taxAmount, total, adjustment }: Amounts, half: Decimal): Problem[] {
  if (subtotal === undefined || taxAmount === undefined || total === undefined || adjustment === undefined) return []
  return differs('/template/data/total', 'total', adjustment.isZero() ? 'subtotal + tax' : 'subtotal − allowances + charges + tax', total,
    subtotal.add(adjustment).add(taxAmount), half)
}

/** The amount due, if the data have all that it is computed from. Without a prepaid or a rounding amount, that amount is 0. */
function checkDue (data: JsonObject, { total }: Amounts, half: Decimal): Problem[] {
  const [due, prepaid, rounding] = ['/amountDue', '/prepaidAmount', '/roundingAmount'].map((place) => decimalAt(data, place))
  if (total === undefined || due === undefined || (prepaid === undefined && rounding === undefined)) return []
  return differs('/template/data/amountDue', 'amount_due', 'total − prepaid + rounding', due, total.sub(prepaid ?? 0).add(rounding ?? 0),
    half)
}

function checkCustomer (data: JsonObject): Problem[] {
  const path = '/template/data/customer'
  const [name, email] = [at(data, '/customer/name'), at(data, '/customer/email')]
  const problems: Problem[] = []
  if (typeof name !== 'string' || name.trim() === '') {
    problems.push({ path: `${path}/name`, code: 'required', message: 'The customer needs a name.' })
  }
  if (typeof email === 'string' && !isEmail.default(email)) {
    problems.push({ path: `${path}/email`, code: 'format', message: 'Not a valid e-mail address.' })
  }
  return [...problems, ...checkInvoicedCountry(at(data, '/customer/country'), path)]
}

/** Warns about a postal code that its country does not have. The invoice is still valid. */
function checkCustomerPostalCode (data: JsonObject): Problem[] {
  return asWarnings(
    checkPostalCode({ country: at(data, '/customer/country'), postalCode: at(data, '/customer/postalCode') }, '/template/data/customer')
  )
}

function differs (path: string, code: string, rule: string, given: Decimal, expected: Decimal, tolerance: Decimal): Problem[] {
  if (given.eq(expected) || given.sub(expected).abs().lte(tolerance)) return []
  return [{ path, code, message: `${given.toFixed()} is not ${rule}, which is ${expected.toFixed()}.` }]
}

const halves = new Map<number, Decimal>()

/** Half a minor unit of a currency: 0.005 for EUR, 0.5 for JPY. */
function halfUnit (currency: Json | undefined): Decimal {
  const digits = minorDigits(typeof currency === 'string' ? currency : '')
  const half = halves.get(digits) ?? new Money(10).pow(-digits).div(2)
  halves.set(digits, half)
  return half
}
