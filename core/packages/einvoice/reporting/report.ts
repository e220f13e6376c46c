import type { Identifier } from '../model/model.ts'

/**
 * A report of a French business about what its platform does not know from e-invoices (e-reporting, Flux 10 of the tax authority). Days are
 * YYYY-MM-DD; amounts and rates are decimals. TT numbers are those of the format.
 */
export type EReport = ReportHead & (TransactionsReport | PaymentsReport)

export type ReportHead = {
  /** TT-1: no other report has it. */
  id: string
  /** TT-4: the first report of a period (IN), or one in the place of those before it (RE). */
  type: 'IN' | 'RE'
  /** TT-3: when it was made, ISO 8601 without an offset. */
  issued: string
  /** TG-3: the platform that hands it on, by its number of four characters (0238). */
  sender: { id: string, name: string }
  /** TG-5: whose report it is, as a seller or as a buyer. */
  declarant: { siren: string, name: string, role: 'SE' | 'BY' }
  period: ReportPeriod
}

/** First and last day. */
export type ReportPeriod = { start: string, end: string }

/** What is reported in a period. A report is of one kind (G6.29). */
export const reportKinds = ['transactions', 'payments'] as const
export type ReportKind = typeof reportKinds[number]

/** Invoices between businesses of two countries (10.1), and sales to consumers by day (10.3). */
export type TransactionsReport = { kind: 'transactions', invoices: readonly ReportedInvoice[], days: readonly ReportedSales[] }
/** Payments of such invoices (10.2), and of sales to consumers by day (10.4). */
export type PaymentsReport = { kind: 'payments', invoices: readonly PaidInvoice[], days: readonly ReportedPayment[] }

/** TG-8. */
export type ReportedInvoice = {
  number: string
  date: string
  type: string
  currency: string
  dueDate?: string
  taxPointCode?: string
  notes: readonly { code: string, text: string }[]
  /** TT-28. */
  process: string
  preceding: readonly { number: string, date?: string }[]
  seller: ReportedParty
  customer: ReportedParty
  /** TT-122: the VAT number of the seller's tax representative. */
  representative?: string
  delivery?: { date?: string, country?: string }
  period?: { start?: string, end?: string }
  adjustments: readonly { isCharge: boolean, amount: string, category: string, rate?: string }[]
  /** TT-51, in the currency of the invoice; TT-52, in euros. */
  base: string
  tax: string
  taxes: readonly ReportedTax[]
  lines: readonly ReportedLine[]
}

/** `id`: 0002 is a SIREN, 0223 a VAT number of the EU, 0227 a name outside of it, 0228 and 0229 numbers in the Pacific. */
export type ReportedParty = { id?: Identifier, vatId?: string, country?: string }
export type ReportedTax = { base: string, amount: string, category: string, rate: string, reason?: string, reasonCode?: string }
export type ReportedLine = { name?: string, quantity?: string, unit?: string, price?: string }

/** TG-31: the sales of a day in a category. */
export type ReportedSales = {
  date: string
  currency: string
  category: SalesCategory
  base: string
  tax: string
  count: number
  taxes: readonly { rate: string, base: string, amount: string }[]
}

/** TG-34: a payment of one invoice. */
export type PaidInvoice = { number: string, date: string, payment: ReportedPayment }

/** TG-35, TG-38: what came in on a day, VAT included, by rate, in euros. */
export type ReportedPayment = { date: string, parts: readonly { rate: string, amount: string }[] }

/** TT-81, and what each is. */
export const salesCategories = {
  TLB1: 'goods, with French VAT',
  TPS1: 'services, with French VAT',
  TNT1: 'not taxed in France',
  TMA1: 'under a margin scheme'
} as const
export type SalesCategory = keyof typeof salesCategories

/** TT-29. */
export const reportProfile = 'urn.cpro.gouv.fr:1p0:ereporting'
