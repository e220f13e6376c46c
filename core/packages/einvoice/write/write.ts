import { isCurrency, type Json, type JsonObject } from '@dispatch/common'
import { listField } from '../model/fields.ts'
import type { EInvoiceLine, EInvoiceModel, TaxGroup } from '../model/model.ts'
import { profiles, reaches } from '../model/profiles.ts'
import { isCounted } from '../model/sub-lines.ts'
import { sayable } from '../model/terms.ts'
import { amountDigits, type Totals, totalsOf } from '../model/totals.ts'
import { modelOf, type Reading } from '../read/read.ts'
import { writeCii } from './cii.ts'
import { withAdjustments, withSingles } from './page.ts'
import { writeUbl } from './ubl.ts'

/**
 * An e-invoice as XML, its level of conformance as a Factur-X names it, and its data with all computed values for the page: an e-invoice
 * that is XML only has no page.
 */
export type EInvoice = { xml: string, conformance: string, data: () => JsonObject }

/**
 * The currency of a template whose data name none: the template's own, or the default in its expression. Undefined if there is neither; EUR
 * if the template does not mention a currency.
 */
export function currencyOf (named = 'EUR'): string | undefined {
  const [, fallback = named] = /\bdefault:\s*["']([A-Z]{3})["']/.exec(named) ?? []
  return isCurrency(fallback) ? fallback : undefined
}

/** Writes an e-invoice of checked data ({@link import('./check.ts').checkEInvoice}). */
export function eInvoiceOf (given: unknown, reading: Reading): EInvoice {
  const data = given as JsonObject
  const invoice = modelOf(data, reading)
  const totals = totalsOf(invoice)
  const { level, conformance } = profiles[invoice.profile]
  // The sums are those of the whole, of which a small profile tells less.
  const reported = reaches(level, 'EN16931') ? invoice : modelOf(sayable(data, level), reading)
  const write = reading.format === 'UBL' ? writeUbl : writeCii
  return { xml: write(reported, totals), conformance, data: () => completed(data, invoice, totals) }
}

/** The data of an e-invoice for its page. */
export function pageDataOf (given: unknown, reading: Reading): JsonObject {
  const data = given as JsonObject
  const invoice = modelOf(data, reading)
  return completed(data, invoice, totalsOf(invoice))
}

/** The data with the computed sums, so that the page shows the same as the XML. */
function completed (data: JsonObject, invoice: EInvoiceModel, { lines, tax, taxes, total, due }: Totals): JsonObject {
  return {
    ...withAdjustments(withSingles(data), invoice.adjustments, amountDigits(invoice.currency)),
    currency: invoice.currency,
    ...(invoice.businessProcess === undefined ? {} : { businessProcess: invoice.businessProcess }),
    lines: listField(data, 'lines').map((line, index) => completedLine(line, invoice.lines[index], invoice.currency)),
    subtotal: lines.toFixed(2),
    taxAmount: tax.toFixed(2),
    total: total.toFixed(2),
    amountDue: due.toFixed(2),
    taxes: taxes.map(completedTax)
  }
}

function completedLine (data: JsonObject, line: EInvoiceLine | undefined, currency: string): Json {
  if (line === undefined) return data
  const { id, unit, price, type, stated, tax: { category, rate }, net } = line
  return {
    ...withAdjustments(data, line.adjustments, amountDigits(currency)),
    id,
    unit,
    ...(price !== undefined || isCounted(line) ? { unitPrice: price?.toFixed() ?? '0' } : {}),
    taxCategory: category,
    ...(rate === undefined ? {} : { taxRate: rate.toFixed() }),
    ...(type === 'INFORMATION' && (stated ?? price) === undefined ? {} : { total: net.toFixed(2) })
  }
}

function completedTax ({ category, rate, base, amount, exemption }: TaxGroup): Json {
  const reason = exemption?.reason ?? exemption?.code
  return {
    category,
    ...(rate === undefined ? {} : { rate: rate.toFixed() }),
    base: base.toFixed(2),
    amount: amount.toFixed(2),
    ...(reason === undefined ? {} : { reason })
  }
}
