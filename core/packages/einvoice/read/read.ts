import { Money, type JsonObject } from '@dispatch/common'
import { creditNoteTypes, defaultExemptions, taxedCategories } from '../model/codes.ts'
import { amount, compact, day, identifier, known, part, parts, text } from '../model/fields.ts'
import type { EInvoiceFormat, Exemption, Invoice, Note, References } from '../model/model.ts'
import { readAddress, readParty } from './party.ts'
import { readPayment } from './payment.ts'
import { readPeriod } from './period.ts'
import { readAdjustments, readLines, readTax } from './lines.ts'

/** How to read the data: `currency` is what they mean where they name none, if that is known. */
export type Reading = { format: EInvoiceFormat, currency: string | undefined }

/**
 * Reads the data of an invoice (`dispatch:invoice`). What they leave out and has a sensible default gets it; what is not
 * there stays undefined, for the rules to ask for.
 */
export function readInvoice (data: JsonObject, { format, currency: usual }: Reading): Invoice {
  const type = text(data, 'type') ?? '380'
  const isCreditNote = creditNoteTypes.has(type)
  const [currency, lines, dueDate] = [text(data, 'currency') ?? usual ?? '', readLines(data), day(data, 'dueDate')]
  const adjustments = readAdjustments(data, { at: '', base: lines.reduce((sum, { net }) => sum.add(net), new Money(0)), tax: (given) => readTax(given, data) })
  return {
    type,
    isCreditNote,
    number: text(data, 'number'),
    date: day(data, 'date'),
    dueDate,
    taxPointDate: day(data, 'taxPointDate'),
    taxPointCode: text(data, 'taxPointCode'),
    currency,
    taxCurrency: text(data, 'taxCurrency'),
    taxCurrencyAmount: amount(data, 'taxCurrencyAmount'),
    businessProcess: text(data, 'businessProcess'),
    references: readReferences(data),
    precedingInvoices: parts(data, 'precedingInvoices').map((given) => ({ number: text(given, 'number') ?? '', date: day(given, 'date') })),
    notes: readNotes(data),
    seller: readParty(part(data, 'seller'), format),
    customer: readParty(part(data, 'customer'), format),
    payee: readPayee(part(data, 'payee')),
    taxRepresentative: data['taxRepresentative'] === undefined ? undefined : readRepresentative(part(data, 'taxRepresentative')),
    delivery: readDelivery(part(data, 'delivery')),
    period: readPeriod(data),
    payment: readPayment(data, { currency, isDueDateThere: isCreditNote && dueDate !== undefined }),
    paymentTerms: text(data, 'paymentTerms'),
    attachments: parts(data, 'attachments').map((given) => ({
      id: text(given, 'id') ?? '', description: text(given, 'description'), url: text(given, 'url'), content: text(given, 'content'), mediaType: text(given, 'mediaType'), filename: text(given, 'filename')
    })),
    lines,
    adjustments,
    exemptions: readExemptions(data, [...lines, ...adjustments].map(({ tax }) => tax.category)),
    prepaid: amount(data, 'prepaidAmount'),
    rounding: amount(data, 'roundingAmount')
  }
}

function readReferences (data: JsonObject): References {
  return {
    buyer: text(data, 'buyerReference'),
    order: text(data, 'orderReference'),
    salesOrder: text(data, 'salesOrderReference'),
    project: text(data, 'projectReference'),
    contract: text(data, 'contractReference'),
    receipt: text(data, 'receiptReference'),
    despatch: text(data, 'despatchReference'),
    tender: text(data, 'tenderReference'),
    accounting: text(data, 'accountingReference'),
    object: identifier(data, 'object')
  }
}

function readNotes (data: JsonObject): Note[] {
  const plain = [text(data, 'notes'), text(data, 'conditions')].flatMap((note) => note === undefined ? [] : [{ code: undefined, text: note }])
  const statements = parts(data, 'statements').map((given) => ({ code: text(given, 'code'), text: text(given, 'text') ?? '' }))
  return [...plain, ...statements.filter((note) => note.text !== '')]
}

function readPayee (given: JsonObject): Invoice['payee'] {
  return known({ name: text(given, 'name'), id: identifier(given, 'id'), registration: identifier(given, 'registration') })
}

function readRepresentative (given: JsonObject): Invoice['taxRepresentative'] {
  return { name: text(given, 'name'), vatId: compact(given, 'vatId'), address: readAddress(given) }
}

function readDelivery (given: JsonObject): Invoice['delivery'] {
  return Object.keys(given).length === 0 ? undefined : { name: text(given, 'name'), date: day(given, 'date'), location: identifier(given, 'location'), address: readAddress(given) }
}

/** Why each category in use is free of VAT: the first reason that its lines, allowances and charges give, then the invoice's, then the usual one. */
function readExemptions (data: JsonObject, categories: readonly string[]): Invoice['exemptions'] {
  const holders = [...parts(data, 'lines'), ...parts(data, 'allowances'), ...parts(data, 'charges')]
  return Object.fromEntries([...new Set(categories)].flatMap((category) => {
    const own = holders.filter((_, index) => categories[index] === category).map(exemptionOf).find((found) => found !== undefined)
    const found = own ?? (taxedCategories.has(category) ? undefined : exemptionOf(data)) ?? defaultExemptions[category]
    return found === undefined ? [] : [[category, found]]
  }))
}

/** Why there is no VAT on it, as its own fields say. */
export function exemptionOf (data: JsonObject): Exemption | undefined {
  return known({ code: text(data, 'taxExemptionCode')?.toUpperCase(), reason: text(data, 'taxExemptionReason') })
}
