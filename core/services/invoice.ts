import type { Decimal } from 'decimal.js'
import validator from 'validator'
import type { Problem } from '../contract/errors.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { Money, readAmounts, sumOf, type Amounts, type LineAmounts } from './amounts.ts'
import { at } from './data.ts'
import type { Findings } from './service.ts'

type Invoice = {
  data: JsonObject
  fields: { dueDate?: string, sendByEmail?: boolean }
  at: (field: string) => string
  template: { currency?: string }
  today: string
}

/**
 * The business rules of the invoice vocabulary, on whatever of it the data has. All sums are decimal. Rounding is
 * allowed for: half a minor unit on line totals, the subtotal and the total, one minor unit per line on the tax.
 */
export function checkInvoice (invoice: Invoice): Findings {
  const { data } = invoice
  const currency = at(data, '/currency') ?? literalCurrency(invoice.template)
  const half = halfUnit(currency)
  const amounts = readAmounts(data)
  const dates = checkDates(invoice)
  return {
    problems: [
      ...dates.problems,
      ...checkCurrency(currency),
      ...checkLines(amounts, half),
      ...checkSubtotal(amounts, half),
      ...checkTax(amounts, half),
      ...checkTotal(amounts, half),
      ...checkCustomer(invoice)
    ],
    warnings: dates.warnings
  }
}

/** A template's currency may also be an expression: then the data has it. */
function literalCurrency ({ currency }: Invoice['template']): string | undefined {
  return currency !== undefined && currencies.has(currency) ? currency : undefined
}

function checkDates ({ data, fields, at: where, today }: Invoice): Findings {
  const findings: Findings = { problems: [], warnings: [] }
  const date = day(at(data, '/date'))
  const dueDates: [string, string | undefined][] = [['/template/data/dueDate', day(at(data, '/dueDate'))], [where('dueDate'), day(fields.dueDate)]]
  for (const [path, due] of dueDates) {
    if (due === undefined) continue
    if (date !== undefined && due < date) findings.problems.push({ path, code: 'due_date_before_date', message: `The due date ${due} is before the date ${date}.` })
    else if (due < today) findings.warnings.push({ path, code: 'due_date_in_the_past', message: `The due date ${due} is in the past.` })
  }
  return findings
}

function checkCurrency (currency: Json | undefined): Problem[] {
  if (typeof currency !== 'string' || currencies.has(currency)) return []
  return [{ path: '/template/data/currency', code: 'unknown_currency', message: 'Not an ISO 4217 currency code, such as EUR.' }]
}

function checkLines ({ lines }: Amounts, half: Decimal): Problem[] {
  return lines.flatMap(({ quantity, unitPrice, total }, index) => {
    if (quantity === undefined || unitPrice === undefined || total === undefined) return []
    return differs(`/template/data/lines/${index}/total`, 'line_total', 'quantity × unit price', total, quantity.mul(unitPrice), half)
  })
}

function checkSubtotal ({ lines, subtotal }: Amounts, half: Decimal): Problem[] {
  const sum = sumOf(lines, totalOf)
  return subtotal === undefined || sum === undefined ? [] : differs('/template/data/subtotal', 'subtotal', 'the sum of the line totals', subtotal, sum, half)
}

/** The tax of the document's one rate, or of the rates of its lines where they carry their own. */
function checkTax ({ lines, subtotal, taxRate: documentRate, taxAmount }: Amounts, half: Decimal): Problem[] {
  if (taxAmount === undefined) return []
  const ownRates = lines.some(({ taxRate }) => taxRate !== undefined)
  const hundredfold = ownRates
    ? sumOf(lines, ({ total, taxRate = documentRate }) => product(total, taxRate))
    : product(subtotal ?? sumOf(lines, totalOf), documentRate)
  const oneUnitPerLine = half.mul(2 * Math.max(1, lines.length))
  return hundredfold === undefined ? [] : differs('/template/data/taxAmount', 'tax_amount', ownRates ? 'the sum of line totals × their rates' : 'subtotal × tax rate', taxAmount, hundredfold.div(100), oneUnitPerLine)
}

const totalOf = ({ total }: LineAmounts): Decimal | undefined => total

function product (amount: Decimal | undefined, rate: Decimal | undefined): Decimal | undefined {
  return amount === undefined || rate === undefined ? undefined : amount.mul(rate)
}

/** A subtotal that the data leave out is the sum of the lines. */
function checkTotal ({ lines, subtotal = sumOf(lines, totalOf), taxAmount, total }: Amounts, half: Decimal): Problem[] {
  return subtotal === undefined || taxAmount === undefined || total === undefined ? [] : differs('/template/data/total', 'total', 'subtotal + tax', total, subtotal.add(taxAmount), half)
}

function checkCustomer ({ data, fields }: Invoice): Problem[] {
  const customer = '/template/data/customer'
  const [name, email] = [at(data, '/customer/name'), at(data, '/customer/email')]
  const problems: Problem[] = []
  if (typeof name !== 'string' || name.trim() === '') problems.push({ path: `${customer}/name`, code: 'required', message: 'The customer needs a name.' })
  if (fields.sendByEmail === true && email === undefined) problems.push({ path: `${customer}/email`, code: 'required', message: 'The customer needs an e-mail address, because sendByEmail is true.' })
  if (typeof email === 'string' && !validator.isEmail(email)) problems.push({ path: `${customer}/email`, code: 'format', message: 'Not a valid e-mail address.' })
  return [...problems, ...checkAddress(at(data, '/customer/country'), at(data, '/customer/postalCode'), customer)]
}

function checkAddress (country: Json | undefined, postalCode: Json | undefined, path: string): Problem[] {
  if (typeof country !== 'string') return []
  if (!validator.isISO31661Alpha2(country) || country !== country.toUpperCase()) {
    return [{ path: `${path}/country`, code: 'unknown_country', message: 'Not an ISO 3166-1 alpha-2 country code, such as FR.' }]
  }
  // Countries without a known form (or without postal codes at all) are not checked.
  const form = validator.isPostalCodeLocales.find((known) => known === country)
  if (typeof postalCode !== 'string' || form === undefined || validator.isPostalCode(postalCode, form)) return []
  return [{ path: `${path}/postalCode`, code: 'format', message: `Not a postal code of ${country}.` }]
}

function differs (path: string, code: string, rule: string, given: Decimal, expected: Decimal, tolerance: Decimal): Problem[] {
  if (given.eq(expected) || given.sub(expected).abs().lte(tolerance)) return []
  return [{ path, code, message: `${given.toFixed()} is not ${rule}, which is ${expected.toFixed()}.` }]
}

/** The day of an ISO 8601 date or time, which compare as text. */
function day (value: Json | undefined): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? value.slice(0, 10) : undefined
}

const currencies = new Set(Intl.supportedValuesOf('currency'))
const halfUnits = new Map<Json | undefined, Decimal>()

/** Half a minor unit of a currency: 0.005 for EUR, 0.5 for JPY. Unknown ones count as two digits. */
function halfUnit (currency: Json | undefined): Decimal {
  const known = typeof currency === 'string' && currencies.has(currency) ? currency : 'EUR'
  const half = halfUnits.get(known) ?? new Money(10).pow(-(new Intl.NumberFormat('en', { style: 'currency', currency: known }).resolvedOptions().maximumFractionDigits ?? 2)).div(2)
  halfUnits.set(known, half)
  return half
}
