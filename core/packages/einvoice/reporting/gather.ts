import { type Decimal, type JsonObject, Money, type Problem, roundedTo } from '@dispatch/common'
import { isUnionCountry } from '../model/country.ts'
import { frenchProcess, isFrenchProcess } from '../model/french.ts'
import type { EInvoiceModel, Text } from '../model/model.ts'
import { isCounted } from '../model/sub-lines.ts'
import { isOneGroup, type Totals, totalsOf } from '../model/totals.ts'
import { modelOf } from '../read/read.ts'
import { checkParts, isRate } from './check-report.ts'
import { categoryOf, foreignId, isTaxedWhenInvoiced, isTaxedWhenPaid, type Nature, operationOf, rateText, sirenOf } from './operation.ts'
import { dayInFrance } from './periods.ts'
import type { PaidInvoice, PaymentsReport, ReportedInvoice, ReportedPayment, ReportedSales, ReportPeriod, SalesCategory,
  TransactionsReport } from './report.ts'

/**
 * An invoice that was sent. `sent`: on which day (YYYY-MM-DD). `data`: in the words of `dispatch:invoice`; undefined where they are no
 * longer kept.
 */
export type SentInvoice = {
  id: string
  number?: string
  sent?: string
  data: JsonObject | undefined
  isCreditNote?: boolean
  /** It was refused, or taken back. */
  isVoid?: boolean
  payments: readonly { at: Date, amounts?: readonly { rate: string, amount: string }[] }[]
}

/**
 * Why something of an invoice is not in a report. What has to be reported and cannot be, somebody must mend (`needed`); the rest is told
 * otherwise, or needs no report.
 */
const reasons = {
  data_gone: { needed: true, message: 'Its data are no longer kept: report it at the platform itself.' },
  unreadable: { needed: true, message: 'Its data have no number, no day, or no French seller.' },
  nature_unknown: { needed: true, message: 'It does not say whether it is about goods or services (operationNature).' },
  nature_mixed: { needed: true, message: 'It is about goods and services, and does not say how much is of which.' },
  margin: { needed: true, message: 'It is under a margin scheme, and does not say how much the margin is.' },
  other_currency: { needed: true, message: 'It is not in euros, and its sums in euros are not in its data.' },
  customer_unidentified: { needed: true, message: 'Its customer is a business without the number that names it: in France a SIREN.' },
  refund: { needed: true, message: 'Money was given back, which the format of payments cannot say.' },
  broken_rules: { needed: true, message: 'It breaks rules of the tax authority.' },
  domestic: { needed: false, message: 'Its customer is a French business: its platform reports it.' },
  out_of_scope: { needed: false, message: 'Its seller says that it is out of scope.' },
  exempt: { needed: false, message: 'It is exempt (CGI 261 A to E), of which nothing is reported.' },
  other_seller: { needed: false, message: 'Somebody else is its seller.' },
  void: { needed: false, message: 'It was refused or taken back.' },
  duplicate: { needed: false, message: 'It was sent more than once, and counts once.' },
  goods: { needed: false, message: 'It is about goods, of which no payments are reported.' },
  taxed_when_invoiced: { needed: false, message: 'Its VAT was due when it was issued.' },
  not_taxed: { needed: false, message: 'No French VAT is due with its payment.' }
} as const
export type LeftReason = keyof typeof reasons

/** Something that is not in a report. `of`: the id of the invoice; `problems`: the rules that it breaks. */
export type LeftOut = { of: string, number?: string, reason: LeftReason, needed: boolean, message: string, problems?: readonly Problem[] }

/**
 * `counted`: the ids of the invoices in it; `assumed`: of these, those whose customers abroad are taken for consumers, because nothing says
 * that they are businesses.
 */
export type Gathered<Report> = Report & { left: readonly LeftOut[], assumed: readonly string[], counted: readonly string[] }

export type Gathering = { siren: string, period: ReportPeriod, usualNature?: Nature }

type Sent = AsyncIterable<SentInvoice> | Iterable<SentInvoice>
type Readable = { sent: SentInvoice, invoice: EInvoiceModel, totals: Totals, nature: Nature | undefined }

/** What is to be reported of the invoices of a period, as they are when it is asked. */
export async function gatherTransactions (sent: Sent, { siren, period, usualNature }: Gathering): Promise<Gathered<TransactionsReport>> {
  const left: LeftOut[] = []
  const invoices: ReportedInvoice[] = []
  const sales: Sale[] = []
  const assumed: string[] = []
  const counted: string[] = []
  const dated = readable(sent, { siren, usualNature, isMeant: (day) => isIn(period, day) }, left)
  for await (const one of dated) {
    const found = one.operation.as === 'invoice' ? reportedInvoice(one, siren) : salesOf(one)
    if ('reason' in found) {
      left.push(leftOut(one.sent, found.reason, found.problems))
      continue
    }
    counted.push(one.sent.id)
    if (one.operation.isAssumed === true) assumed.push(one.sent.id)
    if ('invoice' in found) invoices.push(found.invoice)
    else sales.push(...found.sales)
  }
  return { kind: 'transactions', invoices, days: byDay(sales), left, assumed, counted }
}

/** What is to be reported of the payments of a period, as they are known when it is asked. */
export async function gatherPayments (sent: Sent, { siren, period, usualNature }: Gathering): Promise<Gathered<PaymentsReport>> {
  const left: LeftOut[] = []
  const invoices: PaidInvoice[] = []
  const paid: Payment[] = []
  const counted: string[] = []
  for await (const one of readable(paidIn(period, sent), { siren, usualNature }, left)) {
    const { sent, invoice: { number = '', date = '' }, operation } = one
    const found = paymentsOf(one, period)
    if ('reason' in found) {
      left.push(leftOut(sent, found.reason))
      continue
    }
    const single = found.map(({ date: day, parts }): PaidInvoice => ({ number, date, payment: { date: day, parts } }))
    const problems = single.flatMap((payment) => checkParts.paid(payment))
    if (problems.length > 0) {
      left.push(leftOut(sent, 'broken_rules', problems))
      continue
    }
    counted.push(sent.id)
    if (operation.as === 'invoice') invoices.push(...single)
    else paid.push(...found.flatMap(({ date, parts }) => parts.map((part) => ({ date, ...part }))))
  }
  return { kind: 'payments', invoices, days: paymentsByDay(paid), left, assumed: [], counted }
}

/** Those with payments in a period. */
async function* paidIn (period: ReportPeriod, sent: Sent): AsyncGenerator<SentInvoice, void> {
  for await (const one of sent) {
    if (one.payments.some(({ at }) => isIn(period, dayInFrance(at)))) yield one
  }
}

function isIn ({ start, end }: ReportPeriod, day: string): boolean {
  return start <= day && day <= end
}

function leftOut ({ id, number }: SentInvoice, reason: LeftReason, problems?: readonly Problem[]): LeftOut {
  return { of: id, ...(number !== undefined && { number }), reason, ...reasons[reason], ...(problems !== undefined && { problems }) }
}

type Counted = Readable & { operation: { as: 'invoice' | 'sale', isAssumed?: true } }

/** `isMeant`: whether invoices of a day count; all of them unless given. */
type Readability = { siren: string, usualNature: Nature | undefined, isMeant?: (day: string) => boolean }

/** The invoices that count, each once; why the others do not is noted. */
async function* readable (
  sent: Sent,
  { siren, usualNature, isMeant = () => true }: Readability,
  left: LeftOut[]
): AsyncGenerator<Counted, void> {
  const seen = new Set<string>()
  for await (const one of sent) {
    if (one.data === undefined) {
      // Its own day is not known any more.
      if (one.sent === undefined || isMeant(one.sent)) left.push(leftOut(one, 'data_gone'))
      continue
    }
    const found = read(one, one.data, usualNature)
    const { invoice } = found
    const seller = sirenOf(invoice.seller)
    if (invoice.number === undefined || invoice.date === undefined || seller === undefined) {
      if (isMeant(invoice.date ?? one.sent ?? '')) left.push(leftOut(one, 'unreadable'))
      continue
    }
    if (!isMeant(invoice.date)) continue
    const key = JSON.stringify([invoice.number, invoice.type, invoice.date])
    const operation = operationOf(invoice)
    const reason = seller !== siren ? 'other_seller' : one.isVoid === true ? 'void' : seen.has(key) ? 'duplicate' : undefined
    if (reason !== undefined || operation.as === 'none') {
      left.push(leftOut(one, reason ?? (operation.as === 'none' ? operation.because : 'unreadable')))
      continue
    }
    seen.add(key)
    yield { ...found, operation }
  }
}

function read (sent: SentInvoice, data: JsonObject, usualNature: Nature | undefined): Readable {
  const type = sent.isCreditNote === true && data['type'] === undefined ? { type: '381' } : {}
  // French frames are in no profile of Peppol, and the sums are the same in all.
  const invoice = modelOf({ ...data, ...type, eInvoiceProfile: 'EN16931' }, { format: 'CII', currency: 'EUR' })
  const given = data['operationNature']
  const nature = given === 'GOODS' || given === 'SERVICES' || given === 'MIXED' ? given : natureIn(invoice.businessProcess) ?? usualNature
  return { sent, invoice, totals: totalsOf(invoice), nature }
}

/** BT-23 begins with what the invoice is about. */
function natureIn (process: Text): Nature | undefined {
  return isFrenchProcess(process) ? ({ B: 'GOODS', S: 'SERVICES', M: 'MIXED' } as const)[process?.[0] ?? ''] : undefined
}

type Unreported = { reason: LeftReason, problems?: readonly Problem[] }

function reportedInvoice ({ invoice, totals, nature }: Readable, siren: string): { invoice: ReportedInvoice } | Unreported {
  const { seller, customer, type, number = '', date = '', currency, delivery, period, taxRepresentative } = invoice
  const { businessProcess, precedingInvoices, prepaid } = invoice
  const process = isFrenchProcess(businessProcess)
    ? businessProcess
    : frenchProcess({ nature, type, isAfterAnother: precedingInvoices.length > 0, prepaid, total: () => totals.total })
  if (process === undefined) return { reason: 'nature_unknown' }
  const id = foreignId(customer)
  if (id === undefined) return { reason: 'customer_unidentified' }
  const tax = currency === 'EUR'
    ? totals.tax
    : invoice.taxCurrency === 'EUR'
    ? invoice.taxCurrencyAmount
    : totals.tax.isZero()
    ? totals.tax
    : undefined
  if (tax === undefined) return { reason: 'other_currency' }
  const reported: ReportedInvoice = {
    number,
    date,
    type,
    currency,
    ...present({ dueDate: invoice.dueDate, taxPointCode: invoice.taxPointCode, representative: taxRepresentative?.vatId }),
    notes: invoice.notes.flatMap(({ code, text }) => code !== undefined && reportedNotes.has(code) ? [{ code, text }] : []),
    process,
    preceding: precedingInvoices.map(({ number, date }) => ({ number, ...present({ date }) })),
    seller: {
      id: { id: siren, scheme: '0002' },
      ...present({ vatId: seller.vatId, country: seller.address.country })
    },
    customer: { id, ...present({ vatId: customer.vatId, country: customer.address.country }) },
    ...(delivery !== undefined && { delivery: present({ date: delivery.date, country: delivery.address.country }) }),
    ...(period !== undefined && { period: present({ start: period.start, end: period.end }) }),
    adjustments: invoice.adjustments.map(({ kind, amount = zero, tax: { category, rate } }) => ({
      isCharge: kind === 'charge',
      amount: amount.toFixed(2),
      category,
      ...present({ rate: rate && rateText(rate) })
    })),
    base: totals.base.toFixed(2),
    tax: tax.toFixed(2),
    taxes: totals.taxes.map(({ category, rate = zero, base, amount, exemption }) => ({
      base: base.toFixed(2),
      amount: amount.toFixed(2),
      category,
      rate: rateText(isOneGroup(category) ? zero : rate),
      ...present({ reason: exemption?.reason, reasonCode: exemption?.code })
    })),
    lines: invoice.lines.filter(isCounted).map(({ name, quantity, unit, price }) => ({
      ...present({
        name,
        quantity: quantity?.toDecimalPlaces(4).toFixed(),
        price: price?.isNegative() === true ? undefined : price?.toDecimalPlaces(6).toFixed()
      }),
      ...(quantity !== undefined && { unit })
    }))
  }
  const problems = checkParts.invoice(reported)
  return problems.length === 0 ? { invoice: reported } : { reason: 'broken_rules', problems }
}

/** The legal notes that a report has: on discounts, on a group of taxpayers, on what is paid for recycling. */
const reportedNotes = new Set(['AAB', 'TXD', 'BLU'])

type Sale = { date: string, of: string, category: SalesCategory, rate: string, base: Decimal, amount: Decimal }

function salesOf ({ sent: { id: of }, invoice, totals, nature }: Readable):
  | { sales: Sale[] }
  | Unreported
{
  const { date = '', currency, isCreditNote, delivery, customer } = invoice
  const country = delivery?.address.country ?? customer.address.country ?? ''
  if (currency !== 'EUR') return { reason: 'other_currency' }
  if (nature === undefined) return { reason: 'nature_unknown' }
  if (nature === 'MIXED') return { reason: 'nature_mixed' }
  const sales: Sale[] = []
  let isExempt = false
  for (const group of totals.taxes) {
    const category = categoryOf(group, nature)
    if (category === 'margin') return { reason: 'margin' }
    isExempt ||= category === 'exempt'
    if (category === 'exempt') continue
    const { base, amount, rate = zero } = group
    const signed = (sum: Decimal): Decimal => isCreditNote ? sum.neg() : sum
    // VAT of another country of the union (one-stop shop): none of it is French (CGI 258 A, 259 B).
    const isForeign = !isRate(rateText(rate)) && isUnionCountry(country) && country !== 'FR'
    const taxed = isForeign
      ? { category: 'TNT1' as const, rate: rateText(zero), amount: zero }
      : { category, rate: rateText(isOneGroup(group.category) ? zero : rate), amount: signed(amount) }
    sales.push({ date, of, base: signed(base), ...taxed })
  }
  if (sales.length === 0) return { reason: isExempt ? 'exempt' : 'unreadable' }
  const problems = byDay(sales).flatMap((day) => checkParts.sales(day))
  return problems.length === 0 ? { sales } : { reason: 'broken_rules', problems }
}

function byDay (sales: readonly Sale[]): ReportedSales[] {
  const days = Map.groupBy(sales, ({ date, category }) => `${date} ${category}`)
  return [...days].toSorted(([one], [other]) => one < other ? -1 : 1).flatMap(([, members]) => {
    const [first] = members
    if (first === undefined) return []
    const taxes = [...Map.groupBy(members, ({ rate }) => rate)].map(([rate, parts]) => ({
      rate,
      base: sum(parts.map(({ base }) => base)),
      amount: sum(parts.map(({ amount }) => amount))
    }))
    return [{
      date: first.date,
      currency: 'EUR',
      category: first.category,
      base: sum(taxes.map(({ base }) => base)).toFixed(2),
      tax: sum(taxes.map(({ amount }) => amount)).toFixed(2),
      count: new Set(members.map(({ of }) => of)).size,
      taxes: taxes.map(({ rate, base, amount }) => ({ rate, base: base.toFixed(2), amount: amount.toFixed(2) }))
    }]
  })
}

type Payment = { date: string, rate: string, amount: string }

/**
 * What came in during a period for the services of an invoice, of which VAT is due with the payment. One without amounts is of all that was
 * to be paid, but for what came in before it.
 */
function paymentsOf ({ sent: { payments }, invoice, totals, nature }: Readable, period: ReportPeriod): ReportedPayment[] | Unreported {
  if (isTaxedWhenInvoiced(invoice)) return { reason: 'taxed_when_invoiced' }
  if (nature === undefined) return { reason: 'nature_unknown' }
  if (nature === 'GOODS') return { reason: 'goods' }
  if (nature === 'MIXED') return { reason: 'nature_mixed' }
  if (invoice.currency !== 'EUR') return { reason: 'other_currency' }
  const whole = dueByRate(totals)
  const open = new Map(whole)
  const rest = () =>
    [...open].filter(([rate, amount]) => amount.mul(whole.get(rate) ?? zero).gt(0)).map(([rate, amount]) => ({
      rate,
      amount: amount.toFixed(2)
    }))
  const found = payments.flatMap(({ at, amounts }): ReportedPayment[] => {
    const date = dayInFrance(at)
    const parts = (amounts ?? rest()).map(({ rate, amount }) => ({ rate: rateText(new Money(rate)), amount }))
      .filter(({ rate }) => whole.has(rate))
    for (const { rate, amount } of parts) open.set(rate, (open.get(rate) ?? zero).sub(new Money(amount)))
    return parts.length === 0 || !isIn(period, date) ? [] : [{ date, parts }]
  })
  if (found.length === 0) return { reason: 'not_taxed' }
  const isBack = invoice.isCreditNote || found.some(({ parts }) => parts.some(({ amount }) => new Money(amount).isNegative()))
  return isBack ? { reason: 'refund' } : found
}

/**
 * What is to be paid, by the rate of VAT that is due with it. What was prepaid was reported with its own invoice: it is taken off in
 * proportion, and the last rate has what rounding leaves. Where nothing is due any more, it was paid before it was sent, and is its own.
 */
function dueByRate ({ taxes, total, due }: Totals): Map<string, Decimal> {
  const isWhole = due.equals(total) || due.isZero() || total.isZero()
  const amounts = new Map<string, Decimal>()
  let left = due
  for (const [index, group] of taxes.entries()) {
    const whole = group.base.add(group.amount)
    const amount = isWhole ? whole : index === taxes.length - 1 ? left : roundedTo(whole.mul(due).div(total), 2)
    left = left.sub(amount)
    const rate = rateText(isOneGroup(group.category) ? zero : group.rate ?? zero)
    if (isTaxedWhenPaid(group)) amounts.set(rate, (amounts.get(rate) ?? zero).add(amount))
  }
  return amounts
}

function paymentsByDay (paid: readonly Payment[]): ReportedPayment[] {
  return [...Map.groupBy(paid, ({ date }) => date)].toSorted(([one], [other]) => one < other ? -1 : 1).map(([date, members]) => ({
    date,
    parts: [...Map.groupBy(members, ({ rate }) => rate)].map(([rate, parts]) => ({
      rate,
      amount: sum(parts.map(({ amount }) => new Money(amount))).toFixed(2)
    }))
  }))
}

const zero = new Money(0)

function sum (amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((so, amount) => so.add(amount), zero)
}

/** The values that are there. */
function present<Name extends string> (given: Readonly<Record<Name, string | undefined>>): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {}
  for (const name in given) {
    const text = given[name]
    if (text !== undefined) found[name] = text
  }
  return found
}
