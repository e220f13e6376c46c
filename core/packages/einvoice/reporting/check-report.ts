import { dayOf, decimalOf, Money, type Problem } from '@dispatch/common'
import type { EReport, PaidInvoice, ReportedInvoice, ReportedParty, ReportedPayment, ReportedSales } from './report.ts'
import { salesCategories } from './report.ts'

/** A rule about a part of a report: its id, what would be right, and the places below the part that break it. */
type Rule<Part> = { id: string, message: string, broken: (part: Part) => readonly string[] }

function rule<Part> (id: string, at: string, message: string, holds: (part: Part) => boolean): Rule<Part> {
  return { id, message, broken: (part) => holds(part) ? [] : [at] }
}

/** Of several values, each with its place. */
function ruleOfEach<Part, Value> (
  id: string,
  message: string,
  values: (part: Part) => readonly (readonly [at: string, value: Value | undefined])[],
  holds: (value: Value) => boolean
): Rule<Part> {
  return { id, message, broken: (part) => values(part).flatMap(([at, value]) => value === undefined || holds(value) ? [] : [at]) }
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const types = words('261 380 381 384 386 389 393 396 471 472 473 500 501 502 503')
const processes = words('B1 S1 M1 B2 S2 M2 B4 S4 M4 S5 S6 B7 S7')
const corrections = words('384 471 472 473')
const credits = words('261 381 396 502 503')
const schemes = words('0002 0223 0227 0228 0229')
const categories = words('S E AE K G O Z')
const taxPoints = words('5 29 72 3 35 432')
/** The rates of VAT in France and overseas, in percent. */
const rates = '0 0.9 1.05 1.75 2.1 5.5 7 8.5 9.2 9.6 10 13 19.6 20 20.6'.split(' ').map((rate) => new Money(rate))

const isPlain = (text: string): boolean => /^[A-Za-z0-9 \-+_/]+$/.test(text) && text.trim() === text && !text.includes('  ')
const isNumber = (text: string): boolean => text.length <= 35 && isPlain(text)
/** Whether VAT is taken at a rate in France. */
export const isRate = (text: string): boolean => rates.some((rate) => decimalOf(text)?.eq(rate))
const isCountry = (text: string): boolean => /^[A-Z]{2}$/.test(text)
const isCurrency = (text: string): boolean => /^[A-Z]{3}$/.test(text)
const isReportedDay = (text: string): boolean => dayOf(text) === text && text >= '2000' && text < '2100'

/** A number with so many decimals at most, and 19 digits. */
function hasDigits (text: string, decimals: number, isSigned = true): boolean {
  return new RegExp(`^${isSigned ? '-?' : ''}\\d+(\\.\\d{1,${decimals}})?$`).test(text) && text.replaceAll(/\D/g, '').length <= 19
}

/** A number of the kind that its scheme says. */
function fits ({ id, scheme }: NonNullable<ReportedParty['id']>): boolean {
  if (scheme === '0002' || scheme === '0229') return /^\d{9}$/.test(id)
  return scheme === '0228' ? /^\d{9,10}$/.test(id) : id.length <= 18
}

/** Whether a sum is that of its parts, but for a cent for each. */
function isSum (sum: string, parts: readonly string[]): boolean {
  const added = parts.reduce((so, part) => so.add(part), new Money(0))
  return added.sub(sum).abs().lte(new Money('0.01').mul(parts.length))
}

const days = 'A day is written YYYY-MM-DD, from 2000 to 2099.'
const amounts = 'An amount has two decimals and 19 digits at most.'
const rateMessage = 'The rate is one of the French ones.'

const head: readonly Rule<EReport>[] = [
  rule('G1.104', '/id', 'The id of a report has 50 letters, digits, single spaces and - + _ / at most (TT-1).',
    ({ id }) => id.length <= 50 && isPlain(id)),
  rule('G7.53', '/issued', 'The time of a report is written YYYY-MM-DDThh:mm:ss, from 2000 to 2099 (TT-3).',
    ({ issued }) => /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d/.test(issued)),
  rule('G6.22', '/sender/id', 'The platform is named by its number of four characters (TT-8).', ({ sender }) => sender.id.length === 4),
  rule('G6.26', '/declarant/siren', 'Whose report it is, is named by a SIREN of nine digits (TT-13).',
    ({ declarant }) => /^\d{9}$/.test(declarant.siren)),
  ruleOfEach('G1.09', days, ({ period }) => [['/period/start', period.start], ['/period/end', period.end]], isReportedDay),
  rule('G6.25', '/period/end', 'The last day of the period is after the first.', ({ period }) => period.end > period.start)
]

const invoiceRules: readonly Rule<ReportedInvoice>[] = [
  ruleOfEach('G1.05', 'The number of an invoice has 35 letters, digits, single spaces and - + _ / at most (TT-19, TT-30).',
    ({ number, preceding }) => [['/number', number], ...preceding.map((one, index) => [`/preceding/${index}/number`, one.number] as const)],
    isNumber),
  ruleOfEach('G1.09', days, ({ date, dueDate, preceding, delivery, period }) => [
    ['/date', date],
    ['/dueDate', dueDate],
    ['/delivery/date', delivery?.date],
    ['/period/start', period?.start],
    ['/period/end', period?.end],
    ...preceding.map((one, index) => [`/preceding/${index}/date`, one.date] as const)
  ], isReportedDay),
  rule('G1.01', '/type', `The type of an invoice is one of ${[...types].join(', ')} (TT-21).`, ({ type }) => types.has(type)),
  rule('G1.02', '/process', `The frame of an invoice is one of ${[...processes].join(', ')} (TT-28).`,
    ({ process }) => processes.has(process)),
  rule('G1.60', '/type', 'A deposit (386, 500, 503) is not the final invoice after one (B4, S4, M4).',
    ({ process, type }) => !(['B4', 'S4', 'M4'].includes(process) && ['386', '500', '503'].includes(type))),
  ruleOfEach('P1.11', `The code of the tax point is one of ${[...taxPoints].join(', ')} (TT-24).`,
    ({ taxPointCode }) => [['/taxPointCode', taxPointCode]], (code: string) => taxPoints.has(code)),
  rule('G6.21', '/taxes', 'VATEX-FR-CNWVAT is for credit notes.',
    ({ taxes, type }) => ['261', '381', '396'].includes(type) || !taxes.some(({ reasonCode }) => reasonCode === 'VATEX-FR-CNWVAT')),
  rule('G1.32', '/preceding', 'A correction names the one invoice that it corrects, and its date.',
    ({ type, preceding }) => !corrections.has(type) || (preceding.length === 1 && preceding[0]?.date !== undefined)),
  rule('G1.32', '/preceding', 'A credit note names the invoice that it is about, and its date.',
    ({ type, preceding }) => !credits.has(type) || preceding.some(({ date }) => date !== undefined)),
  rule('G6.28', '/customer/id', 'The customer of an invoice between two countries is named by an id (TT-36).',
    ({ customer }) => customer.id !== undefined),
  ...(['seller', 'customer'] as const).flatMap((which): Rule<ReportedInvoice>[] => [
    rule('G2.19', `/${which}/id`,
      'An id is a SIREN (0002), a VAT number (0223), a name (0227), or a number of New Caledonia (0228) or Tahiti ' +
        '(0229).', (given) => {
      const { id } = given[which]
      return id === undefined || (schemes.has(id.scheme ?? '') && fits(id))
    }),
    rule('G2.33', `/${which}/vatId`, 'Who is named by a SIREN or a VAT number has a VAT number (TT-34, TT-38).', (given) => {
      const { id, vatId } = given[which]
      return !['0002', '0223'].includes(id?.scheme ?? '') || vatId !== undefined
    }),
    ruleOfEach('G2.01', 'A country is a code of two letters.', (given) => [[`/${which}/country`, given[which].country]], isCountry)
  ]),
  ruleOfEach('G2.01', 'A country is a code of two letters.', ({ delivery }) => [['/delivery/country', delivery?.country]], isCountry),
  rule('G1.102', '/seller/vatId', 'An invoice without VAT (E) has the VAT number of the seller or of its representative.',
    ({ taxes, seller, representative }) =>
      !taxes.some(({ category }) => category === 'E') || seller.vatId !== undefined || representative !== undefined),
  rule('G6.25', '/period/end', 'The last day of a period is after the first.',
    ({ period }) => period?.start === undefined || period.end === undefined || period.end > period.start),
  ruleOfEach('G1.10', 'A currency is a code of three letters.', ({ currency }) => [['/currency', currency]], isCurrency),
  ruleOfEach('G2.31', `The category of VAT is one of ${[...categories].join(', ')}.`, ({ taxes, adjustments }) => [
    ...taxes.map(({ category }, index) => [`/taxes/${index}/category`, category] as const),
    ...adjustments.map(({ category }, index) => [`/adjustments/${index}/category`, category] as const)
  ], (category: string) => categories.has(category)),
  ruleOfEach('G1.24', rateMessage, ({ taxes, adjustments }) => [
    ...taxes.map(({ rate }, index) => [`/taxes/${index}/rate`, rate] as const),
    ...adjustments.map(({ rate }, index) => [`/adjustments/${index}/rate`, rate] as const)
  ], isRate),
  ruleOfEach('G1.40', 'An exemption (E) has a code and a reason.',
    ({ taxes }) => taxes.map((one, index) => [`/taxes/${index}/reason`, one] as const),
    ({ category, reason, reasonCode }: ReportedInvoice['taxes'][number]) =>
      category !== 'E' || (reason !== undefined && reasonCode !== undefined)),
  ruleOfEach('G1.14', amounts, ({ base, tax, taxes, adjustments }) => [
    ['/base', base],
    ['/tax', tax],
    ...taxes.flatMap((one, index) => [[`/taxes/${index}/base`, one.base], [`/taxes/${index}/amount`, one.amount]] as const),
    ...adjustments.map(({ amount }, index) => [`/adjustments/${index}/amount`, amount] as const)
  ], (amount: string) => hasDigits(amount, 2)),
  rule('G1.53', '/base', 'The sum without VAT is that of its rates.',
    ({ currency, base, taxes }) => currency !== 'EUR' || isSum(base, taxes.map((one) => one.base))),
  rule('G1.53', '/tax', 'The VAT is that of its rates.',
    ({ currency, tax, taxes }) => currency !== 'EUR' || isSum(tax, taxes.map(({ amount }) => amount))),
  ruleOfEach('G1.15', 'A quantity has four decimals and 19 digits at most.',
    ({ lines }) => lines.map(({ quantity }, index) => [`/lines/${index}/quantity`, quantity] as const),
    (quantity: string) => hasDigits(quantity, 4)),
  ruleOfEach('G1.16', 'A price has six decimals and 19 digits at most, and no sign.',
    ({ lines }) => lines.map(({ price }, index) => [`/lines/${index}/price`, price] as const),
    (price: string) => hasDigits(price, 6, false))
]

const salesRules: readonly Rule<ReportedSales>[] = [
  ruleOfEach('G1.09', days, ({ date }) => [['/date', date]], isReportedDay),
  rule('G1.68', '/category', `The category of sales is one of ${Object.keys(salesCategories).join(', ')} (TT-81).`,
    ({ category }) => Object.hasOwn(salesCategories, category)),
  ruleOfEach('G1.10', 'A currency is a code of three letters.', ({ currency }) => [['/currency', currency]], isCurrency),
  ruleOfEach('G1.24', rateMessage, ({ taxes }) => taxes.map(({ rate }, index) => [`/taxes/${index}/rate`, rate] as const), isRate),
  ruleOfEach('G1.14', amounts, ({ base, tax, taxes }) => [
    ['/base', base],
    ['/tax', tax],
    ...taxes.flatMap((one, index) => [[`/taxes/${index}/base`, one.base], [`/taxes/${index}/amount`, one.amount]] as const)
  ], (amount: string) => hasDigits(amount, 2)),
  rule('G1.53', '/base', 'The sum without VAT is that of its rates.', ({ base, taxes }) => isSum(base, taxes.map((one) => one.base))),
  rule('G1.53', '/tax', 'The VAT is that of its rates.', ({ tax, taxes }) => isSum(tax, taxes.map(({ amount }) => amount)))
]

const paymentRules: readonly Rule<ReportedPayment>[] = [
  ruleOfEach('G1.09', days, ({ date }) => [['/date', date]], isReportedDay),
  ruleOfEach('G1.24', rateMessage, ({ parts }) => parts.map(({ rate }, index) => [`/parts/${index}/rate`, rate] as const), isRate),
  ruleOfEach('G1.16', 'What came in has six decimals and 19 digits at most, and no sign.',
    ({ parts }) => parts.map(({ amount }, index) => [`/parts/${index}/amount`, amount] as const),
    (amount: string) => hasDigits(amount, 6, false))
]

const paidRules: readonly Rule<PaidInvoice>[] = [
  ruleOfEach('G1.05', 'The number of an invoice has 35 letters, digits, single spaces and - + _ / at most (TT-91).',
    ({ number }) => [['/number', number]], isNumber),
  ruleOfEach('G1.09', days, ({ date }) => [['/date', date]], isReportedDay),
  ...paymentRules.map(({ id, message, broken }): Rule<PaidInvoice> => ({
    id,
    message,
    broken: ({ payment }) => broken(payment).map((at) => `/payment${at}`)
  }))
]

function problemsOf<Part> (rules: readonly Rule<Part>[], part: Part, at: string): Problem[] {
  return rules.flatMap(({ id, message, broken }) => broken(part).map((place) => ({ path: at + place, code: id, message })))
}

const each = <Part>(rules: readonly Rule<Part>[], parts: readonly Part[], at: string): Problem[] =>
  parts.flatMap((part, index) => problemsOf(rules, part, `${at}/${index}`))

/** The ids of all rules, each once. */
export const reportRuleIds: readonly string[] = [
  ...new Set([...head, ...invoiceRules, ...salesRules, ...paidRules, ...paymentRules].map(({ id }) => id))
]

/** The rules that one part of a report breaks, each with its place in the part. */
export const checkParts = {
  invoice: (part: ReportedInvoice): Problem[] => problemsOf(invoiceRules, part, ''),
  sales: (part: ReportedSales): Problem[] => problemsOf(salesRules, part, ''),
  paid: (part: PaidInvoice): Problem[] => problemsOf(paidRules, part, ''),
  payment: (part: ReportedPayment): Problem[] => problemsOf(paymentRules, part, '')
} as const

/** The rules of the tax authority that a report breaks (the G and P rules of Flux 10, version 1.0), each with its place in it. */
export function checkReport (report: EReport): Problem[] {
  return [
    ...problemsOf(head, report, ''),
    ...(report.kind === 'transactions'
      ? [...each(invoiceRules, report.invoices, '/invoices'), ...each(salesRules, report.days, '/days')]
      : [...each(paidRules, report.invoices, '/invoices'), ...each(paymentRules, report.days, '/days')])
  ]
}

/** A report that cannot be written, with the rules that it breaks. */
export class BrokenReport extends Error {
  override name = 'BrokenReport'
  readonly problems: readonly Problem[]

  constructor (problems: readonly Problem[]) {
    super(`The report breaks ${problems.length} rules: ${problems.slice(0, 3).map(({ code, path }) => `${code} at ${path}`).join(', ')}`)
    this.problems = problems
  }
}
