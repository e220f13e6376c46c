import { type JsonObject, Money } from '@dispatch/common'
import { creditNoteTypes, defaultExemptions, taxedCategories } from '../model/codes.ts'
import { amount, compact, day, identifierField, known, listField, objectField, textField } from '../model/fields.ts'
import { frenchProcess } from '../model/french.ts'
import type { EInvoiceModel, Exemption, Note, References, StatedTotals, TaxGroup, Text } from '../model/model.ts'
import { type EInvoiceFormat, type EInvoiceProfile, hasProcess, isProfile, profiles, reaches, usualProfile } from '../model/profiles.ts'
import { isCounted } from '../model/sub-lines.ts'
import { amountDigits, totalsOf } from '../model/totals.ts'
import { readAdjustments, readLines, readTax } from './lines.ts'
import { readAddress, readParty } from './party.ts'
import { readOtherPayments, readPayment } from './payment.ts'
import { readPeriod } from './period.ts'

/**
 * How to read the data. `currency` is used for data without a currency, if it is known. `rules`: what somebody requires beside the profile;
 * the rules of French platforms are for invoices between French parties.
 */
export type Reading = { format: EInvoiceFormat, currency: string | undefined, rules?: 'FRANCE' | undefined }

/**
 * Reads the data of an invoice (`dispatch:invoice`). A missing value gets its default if there is a sensible one; otherwise it stays
 * undefined, and the rules report it.
 */
export function modelOf (data: JsonObject, { format, currency: usual }: Reading): EInvoiceModel {
  const profile = profileOf(data, format)
  const { addresses, process } = profiles[profile]
  const [type, businessProcess] = [textField(data, 'type') ?? '380', textField(data, 'businessProcess')]
  const isCreditNote = creditNoteTypes.has(type)
  const [currency, dueDate] = [textField(data, 'currency') ?? usual ?? '', day(data, 'dueDate')]
  const digits = amountDigits(currency)
  const lines = readLines(data, digits)
  const adjustments = readAdjustments(data, {
    at: '',
    base: () => lines.filter(isCounted).reduce((sum, { net }) => sum.add(net), zero),
    digits,
    tax: (given) => readTax(given, data)
  })
  const invoice: EInvoiceModel = {
    profile,
    type,
    isCreditNote,
    number: textField(data, 'number'),
    date: day(data, 'date'),
    dueDate,
    taxPointDate: day(data, 'taxPointDate'),
    taxPointCode: textField(data, 'taxPointCode'),
    currency,
    taxCurrency: textField(data, 'taxCurrency'),
    taxCurrencyAmount: amount(data, 'taxCurrencyAmount'),
    businessProcess: businessProcess !== undefined && hasProcess(profile, businessProcess) ? businessProcess : process,
    references: readReferences(data),
    precedingInvoices: listField(data, 'precedingInvoices').map((given) => ({
      number: textField(given, 'number') ?? '',
      date: day(given, 'date')
    })),
    notes: readNotes(data),
    seller: readParty(objectField(data, 'seller'), addresses),
    customer: readParty(objectField(data, 'customer'), addresses),
    payee: readPayee(objectField(data, 'payee')),
    taxRepresentative: data['taxRepresentative'] === undefined ? undefined : readRepresentative(objectField(data, 'taxRepresentative')),
    delivery: readDelivery(objectField(data, 'delivery')),
    period: readPeriod(data),
    payment: readPayment(data, { currency, isDueDateThere: isCreditNote && dueDate !== undefined }),
    otherPayments: readOtherPayments(data, currency),
    paymentTerms: textField(data, 'paymentTerms'),
    attachments: listField(data, 'attachments').map((given) => ({
      id: textField(given, 'id') ?? '',
      description: textField(given, 'description'),
      url: textField(given, 'url'),
      content: textField(given, 'content'),
      mediaType: textField(given, 'mediaType'),
      filename: textField(given, 'filename')
    })),
    lines,
    adjustments,
    exemptions: readExemptions(data, [
      ...lines.map((line) => isCounted(line) ? line.tax.category : ''),
      ...adjustments.map(({ tax }) => tax.category)
    ]),
    prepaid: amount(data, 'prepaidAmount'),
    rounding: amount(data, 'roundingAmount'),
    stated: lines.length === 0 && !reaches(profiles[profile].level, 'BASIC') ? readStated(data) : undefined
  }
  return invoice.businessProcess === undefined ? { ...invoice, businessProcess: derivedProcess(invoice, data) } : invoice
}

/** BT-23 of a French seller, of what the invoice is about. */
function derivedProcess (invoice: EInvoiceModel, data: JsonObject): Text {
  const { type, precedingInvoices, prepaid, seller: { address } } = invoice
  if (address.country !== 'FR') return undefined
  const nature = textField(data, 'operationNature')
  return frenchProcess({ nature, type, isAfterAnother: precedingInvoices.length > 0, prepaid, total: () => totalsOf(invoice).total })
}

/** The profile that the data name, if it is one of this format; otherwise the format's usual one. */
export function profileOf ({ eInvoiceProfile: named }: JsonObject, format: EInvoiceFormat): EInvoiceProfile {
  return isProfile(named) && profiles[named].formats.includes(format) ? named : usualProfile(format)
}

function readReferences (data: JsonObject): References {
  return {
    buyer: textField(data, 'buyerReference'),
    order: textField(data, 'orderReference'),
    salesOrder: textField(data, 'salesOrderReference'),
    project: textField(data, 'projectReference'),
    contract: textField(data, 'contractReference'),
    receipt: textField(data, 'receiptReference'),
    despatch: textField(data, 'despatchReference'),
    tender: textField(data, 'tenderReference'),
    accounting: textField(data, 'accountingReference'),
    object: identifierField(data, 'object')
  }
}

function readNotes (data: JsonObject): Note[] {
  const plain = [textField(data, 'notes'), textField(data, 'conditions')].flatMap((note) =>
    note === undefined ? [] : [{ code: undefined, text: note }]
  )
  const statements = listField(data, 'statements').map((given) => ({
    code: textField(given, 'code'),
    text: textField(given, 'text') ?? ''
  }))
  return [...plain, ...statements.filter((note) => note.text !== '')]
}

function readPayee (given: JsonObject): EInvoiceModel['payee'] {
  return known({ name: textField(given, 'name'), id: identifierField(given, 'id'), registration: identifierField(given, 'registration') })
}

function readRepresentative (given: JsonObject): EInvoiceModel['taxRepresentative'] {
  return { name: textField(given, 'name'), vatId: compact(given, 'vatId'), address: readAddress(given) }
}

function readDelivery (given: JsonObject): EInvoiceModel['delivery'] {
  return Object.keys(given).length === 0
    ? undefined
    : {
      name: textField(given, 'name'),
      date: day(given, 'date'),
      location: identifierField(given, 'location'),
      address: readAddress(given)
    }
}

/**
 * The reason for each category in use that is free of VAT: the first reason of its lines, allowances and charges, else the invoice's
 * reason, else the usual one.
 */
function readExemptions (data: JsonObject, categories: readonly string[]): EInvoiceModel['exemptions'] {
  const holders = [...listField(data, 'lines'), ...listField(data, 'allowances'), ...listField(data, 'charges')]
  return Object.fromEntries([...new Set(categories)].flatMap((category) => {
    const own = holders.filter((_, index) => categories[index] === category).map(exemptionOf).find((found) => found !== undefined)
    const found = own ?? (taxedCategories.has(category) ? undefined : exemptionOf(data)) ?? defaultExemptions[category]
    return found === undefined ? [] : [[category, found]]
  }))
}

/** The reason without VAT in the invoice's own fields. */
export function exemptionOf (data: JsonObject): Exemption | undefined {
  return known({ code: textField(data, 'taxExemptionCode')?.toUpperCase(), reason: textField(data, 'taxExemptionReason') })
}

/** The sums that the data state. What they leave out is 0, or follows from the others. */
function readStated (data: JsonObject): StatedTotals {
  const taxes = listField(data, 'taxes').map((given): TaxGroup => ({
    category: textField(given, 'category') ?? '',
    rate: amount(given, 'rate'),
    base: amount(given, 'base') ?? zero,
    amount: amount(given, 'amount') ?? zero,
    exemption: known({ code: textField(given, 'reasonCode')?.toUpperCase(), reason: textField(given, 'reason') })
  }))
  const [lines, tax, total] = [amount(data, 'subtotal') ?? zero, amount(data, 'taxAmount') ?? zero, amount(data, 'total') ?? zero]
  return { lines, tax, total, due: amount(data, 'amountDue') ?? total, taxes }
}

const zero = new Money(0)
