import { at, dayOf, isCurrency, isPlainAddress, type Json, type JsonObject, minorDigits, type Problem } from '@dispatch/common'
import { isBic, isIban } from '@dispatch/documents'
import { currencyOf } from '@dispatch/einvoice'
import { checkInvoicedCountry, checkPostalCode } from '../address.ts'
import { type PlacedRate, ratesOf, readAmounts, readRates } from '../amounts.ts'
import type { Findings } from '../service.ts'
import { checkSums, isFraction, readAs } from './invoice-sums.ts'

type Invoice = { data: JsonObject, template: { currency?: string, documentType?: string }, today: string }

/** The business rules of invoices, for those invoice fields that the data has. */
export function checkInvoice (invoice: Invoice): Findings {
  const { data, template } = invoice
  const currency = at(data, '/currency') ?? currencyOf(template.currency)
  const code = typeof currency === 'string' ? currency : undefined
  const digits = minorDigits(code ?? '')
  const amounts = readAmounts(data, digits)
  const rates = ratesOf(amounts)
  const [due, words] = [checkOwnDueDate(invoice), checkWords(data, rates)]
  const exemption = template.documentType === 'QUOTE' ? [] : checkExemption(data, rates)
  const mentions = ['INVOICE', 'CREDIT'].includes(template.documentType ?? '') ? checkFrenchMentions(data) : []
  const sums = checkSums(amounts, { currency: code, digits })
  return {
    warnings: [...due.warnings ?? [], ...words.warnings, ...exemption, ...mentions, ...sums.warnings],
    problems: [
      ...due.problems ?? [],
      ...words.problems,
      ...checkCurrency(currency),
      ...sums.problems
    ]
  }
}

/** The rules of an e-invoice besides those of EN 16931, which allows a due date before the issue date for prepaid invoices. */
export function checkEInvoiceWords ({ data, today }: Pick<Invoice, 'data' | 'today'>): Findings {
  const { problems, warnings } = checkWords(data, readRates(data))
  return { problems, warnings: [...asWarnings(checkOwnDueDate({ data, today })), ...warnings] }
}

/** Turns the problems of findings into warnings. */
export function asWarnings ({ problems = [], warnings = [] }: Findings): Problem[] {
  return [...problems, ...warnings]
}

/** The rules of every invoice that concern neither dates nor sums: its customer and its bank account. */
function checkWords (data: JsonObject, rates: readonly PlacedRate[]): { problems: Problem[], warnings: Problem[] } {
  return { problems: checkCustomer(data), warnings: [...checkCustomerPostalCode(data), ...checkAccount(data), ...checkRates(rates)] }
}

function checkOwnDueDate ({ data, today }: Pick<Invoice, 'data' | 'today'>): Findings {
  return checkDueDate(at(data, '/dueDate'), '/template/data/dueDate', { data, today })
}

/** Warns about a rate below 1, because rates are in percent: 0.2 may mean 20 %. */
function checkRates (rates: readonly PlacedRate[]): Problem[] {
  return rates.flatMap(({ at: place, rate }) =>
    rate === undefined || !isFraction(rate) ? [] : [{
      path: `/template/data${place}`,
      code: 'small_rate',
      message: readAs(rate)
    }]
  )
}

/** The countries of the European Union, whose invoices say why no VAT is due (Directive 2006/112/EC, article 226, 11 and 11a). */
const union = new Set('AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '))

/** Warns about a rate of 0 without the reason. Legal notices (`statements`) may be the reason, and goods may have a rate of 0 (Z). */
function checkExemption (data: JsonObject, [whole, ...lines]: readonly PlacedRate[]): Problem[] {
  const country = at(data, '/seller/country')
  if (typeof country !== 'string' || !union.has(country)) return []
  const isSaid = (place: string): boolean =>
    ['taxExemptionReason', 'taxExemptionCode'].some((field) => typeof at(data, `${place}/${field}`) === 'string') ||
    at(data, `${place}/taxCategory`) === 'Z'
  const free = lines.some(({ at: place, rate = whole?.rate }) => rate?.isZero() === true && !isSaid(place.slice(0, -'/taxRate'.length)))
  if (!free || isSaid('') || at(data, '/statements') !== undefined || at(data, '/taxes') !== undefined) return []
  return [{
    path: '/template/data/taxExemptionReason',
    code: 'exemption_reason_missing',
    message: 'An invoice with a tax rate of 0 says why no VAT is due, such as a reverse charge or an exemption: give taxExemptionReason.'
  }]
}

/** Warns about what French law wants on an invoice between companies, which have VAT numbers (CGI, annexe II, article 242 nonies A). */
function checkFrenchMentions (data: JsonObject): Problem[] {
  const isFrench = ['seller', 'customer'].every((party) =>
    at(data, `/${party}/country`) === 'FR' && at(data, `/${party}/vatId`) !== undefined
  )
  if (!isFrench) return []
  const mentions = [
    { place: '/customer/registration', isSaid: at(data, '/customer/registration') !== undefined, message: 'the SIREN of its customer' },
    {
      place: '/operationNature',
      isSaid: (at(data, '/operationNature') ?? at(data, '/businessProcess')) !== undefined,
      message: 'whether it is about goods, services or both'
    }
  ]
  return mentions.filter(({ isSaid }) => !isSaid).map(({ place, message }) => ({
    path: `/template/data${place}`,
    code: 'mention_missing',
    message: `An invoice between French companies says ${message}.`
  }))
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

function checkCustomer (data: JsonObject): Problem[] {
  const path = '/template/data/customer'
  const [name, email] = [at(data, '/customer/name'), at(data, '/customer/email')]
  const problems: Problem[] = []
  if (typeof name !== 'string' || name.trim() === '') {
    problems.push({ path: `${path}/name`, code: 'required', message: 'The customer needs a name.' })
  }
  if (typeof email === 'string' && !isPlainAddress(email)) {
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
