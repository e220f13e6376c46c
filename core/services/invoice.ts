import { Decimal } from 'decimal.js'
import validator from 'validator'
import type { Problem } from '../contract/errors.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { at } from './data.ts'
import type { Findings } from './service.ts'

/** Enough for any sum of money: the default of 20 digits would round large quantities × prices. */
const Money = Decimal.clone({ precision: 40 })

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
  const half = minorUnit(currency).div(2)
  const dates = checkDates(invoice)
  return {
    problems: [
      ...dates.problems,
      ...checkCurrency(currency),
      ...checkLines(data, half),
      ...checkSubtotal(data, half),
      ...checkTax(data, half),
      ...checkTotal(data, half),
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
  return [{ path: '/template/data/currency', code: 'unknown_currency', message: `"${currency}" is not an ISO 4217 currency code, such as EUR.` }]
}

function checkLines (data: JsonObject, half: Decimal): Problem[] {
  return lines(data).flatMap((line, index) => {
    const [quantity, unitPrice, total] = [decimal(line['quantity']), decimal(line['unitPrice']), decimal(line['total'])]
    if (quantity === undefined || unitPrice === undefined || total === undefined) return []
    return differs(`/template/data/lines/${index}/total`, 'line_total', 'quantity × unit price', total, quantity.mul(unitPrice), half)
  })
}

function checkSubtotal (data: JsonObject, half: Decimal): Problem[] {
  const subtotal = decimal(at(data, '/subtotal'))
  const sum = sumOf(data, (line) => decimal(line['total']))
  return subtotal === undefined || sum === undefined ? [] : differs('/template/data/subtotal', 'subtotal', 'the sum of the line totals', subtotal, sum, half)
}

/** The tax of the document's one rate, or of the rates of its lines where they carry their own. */
function checkTax (data: JsonObject, half: Decimal): Problem[] {
  const taxAmount = decimal(at(data, '/taxAmount'))
  const documentRate = decimal(at(data, '/taxRate'))
  if (taxAmount === undefined) return []
  const ownRates = lines(data).some((line) => decimal(line['taxRate']) !== undefined)
  const expected = ownRates
    ? sumOf(data, (line) => percent(decimal(line['total']), decimal(line['taxRate']) ?? documentRate))
    : percent(decimal(at(data, '/subtotal')) ?? sumOf(data, (line) => decimal(line['total'])), documentRate)
  const oneUnitPerLine = half.mul(2).mul(Math.max(1, lines(data).length))
  return expected === undefined ? [] : differs('/template/data/taxAmount', 'tax_amount', ownRates ? 'the sum of line totals × their rates' : 'subtotal × tax rate', taxAmount, expected, oneUnitPerLine)
}

function checkTotal (data: JsonObject, half: Decimal): Problem[] {
  const [subtotal, tax, total] = [decimal(at(data, '/subtotal')), decimal(at(data, '/taxAmount')), decimal(at(data, '/total'))]
  return subtotal === undefined || tax === undefined || total === undefined ? [] : differs('/template/data/total', 'total', 'subtotal + tax', total, subtotal.add(tax), half)
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
    return [{ path: `${path}/country`, code: 'unknown_country', message: `"${country}" is not an ISO 3166-1 alpha-2 country code, such as FR.` }]
  }
  // Countries without a known form (or without postal codes at all) are not checked.
  const form = validator.isPostalCodeLocales.find((known) => known === country)
  if (typeof postalCode !== 'string' || form === undefined || validator.isPostalCode(postalCode, form)) return []
  return [{ path: `${path}/postalCode`, code: 'format', message: `"${postalCode}" is not a postal code of ${country}.` }]
}

function differs (path: string, code: string, rule: string, given: Decimal, expected: Decimal, tolerance: Decimal): Problem[] {
  if (given.sub(expected).abs().lte(tolerance)) return []
  return [{ path, code, message: `${given.toFixed()} is not ${rule}, which is ${expected.toFixed()}.` }]
}

function lines (data: JsonObject): readonly JsonObject[] {
  const found = at(data, '/lines')
  return Array.isArray(found) ? found.filter((line: Json) => typeof line === 'object' && line !== null && !Array.isArray(line)) as JsonObject[] : []
}

/** The sum over all lines, or undefined when there are none or one has no value. */
function sumOf (data: JsonObject, value: (line: JsonObject) => Decimal | undefined): Decimal | undefined {
  const all = lines(data)
  let sum = new Money(0)
  for (const line of all) {
    const term = value(line)
    if (term === undefined) return undefined
    sum = sum.add(term)
  }
  return all.length === 0 ? undefined : sum
}

function percent (base: Decimal | undefined, rate: Decimal | undefined): Decimal | undefined {
  return base === undefined || rate === undefined ? undefined : base.mul(rate).div(100)
}

const decimalForm = /^-?\d{1,20}(\.\d{1,10})?$/

/** A number or decimal string as a decimal; anything else is none (the data schema says what must be one). */
function decimal (value: Json | undefined): Decimal | undefined {
  if (typeof value === 'number') return new Money(value)
  return typeof value === 'string' && decimalForm.test(value) ? new Money(value) : undefined
}

/** The day of an ISO 8601 date or time, which compare as text. */
function day (value: Json | undefined): string | undefined {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? value.slice(0, 10) : undefined
}

const currencies = new Set(Intl.supportedValuesOf('currency'))
const minorUnits = new Map<Json | undefined, Decimal>()

/** One minor unit of a currency: 0.01 for EUR, 1 for JPY. Unknown ones count as two digits. */
function minorUnit (currency: Json | undefined): Decimal {
  const known = typeof currency === 'string' && currencies.has(currency) ? currency : 'EUR'
  const unit = minorUnits.get(known) ?? new Money(10).pow(-(new Intl.NumberFormat('en', { style: 'currency', currency: known }).resolvedOptions().maximumFractionDigits ?? 2))
  minorUnits.set(known, unit)
  return unit
}
