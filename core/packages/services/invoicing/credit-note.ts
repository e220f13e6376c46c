import { dayOf, type JsonObject, textOf } from '@dispatch/common'
import { type EInvoiceFormat, eInvoiceProfiles, profileOf, rewritable } from '@dispatch/einvoice'

/** What a credit note or a correction repeats of its invoice. */
const repeatedFields = [
  'buyerReference',
  'orderReference',
  'salesOrderReference',
  'contractReference',
  'projectReference',
  'tenderReference',
  'object',
  'accountingReference'
] as const

/** The references of an invoice as its credit note has them, and the invoice itself; undefined where it has no number. */
export function repeatedOf (original: JsonObject): JsonObject | undefined {
  const [number, date] = [textOf(original, '/number'), dayOf(textOf(original, '/date'))]
  if (number === undefined) return undefined
  const given = repeatedFields.filter((name) => original[name] !== undefined && original[name] !== null)
  return {
    precedingInvoices: [{ number, ...(date === undefined ? {} : { date }) }],
    ...Object.fromEntries(given.map((name) => [name, original[name]]))
  }
}

/** What an invoice says of itself alone: its number, its days and what is paid of it. */
const own = ['number', 'date', 'dueDate', 'paymentTerms', 'precedingInvoices', 'prepaidAmount', 'amountDue', 'eInvoiceProfile'] as const

type Invoice = { dispatchId?: string | undefined, fields: JsonObject, data: JsonObject }

/**
 * A credit note over the whole of an invoice, without a number and a day of its own: an e-invoice of the type 381, otherwise a credit note.
 * Undefined for what is no invoice, and for a credit note. An invoice without a dispatch is one that was read from a file.
 */
export function creditNoteOf ({ dispatchId, fields, data }: Invoice): { fields: JsonObject, data: JsonObject } | undefined {
  const { documentType, eInvoiceProfile, customerId } = fields
  const isElectronic = documentType === 'E_INVOICE'
  if (!isElectronic && documentType !== 'INVOICE' || Number(data['type']) === 381) return undefined
  const original = isElectronic && dispatchId === undefined ? readAgain(fields, data) : { eInvoiceFormat: fields['eInvoiceFormat'], data }
  const { eInvoiceFormat } = original
  const about = { ...dispatchId !== undefined && { from: { dispatchId } }, ...customerId !== undefined && { customerId } }
  const repeated = {
    ...Object.fromEntries(Object.entries(original.data).filter(([name]) => !own.some((one) => one === name))),
    ...dispatchId === undefined && repeatedOf(data)
  }
  return isElectronic
    ? {
      fields: {
        documentType,
        ...eInvoiceFormat !== undefined && { eInvoiceFormat },
        ...eInvoiceProfile !== undefined && { eInvoiceProfile },
        ...about
      },
      data: { ...repeated, type: 381 }
    }
    : { fields: { documentType: 'CREDIT', ...about }, data: repeated }
}

/** What a file says, as a credit note about it can say it. */
function readAgain (
  { eInvoiceFormat = 'FACTUR_X', eInvoiceProfile }: JsonObject,
  data: JsonObject
): { eInvoiceFormat: string, data: JsonObject } {
  const format = eInvoiceFormat as EInvoiceFormat
  const profile = eInvoiceProfiles.find((one) => one === eInvoiceProfile) ?? profileOf({}, format)
  const { data: again, format: written } = rewritable({ data, profile, format })
  return { eInvoiceFormat: written, data: again }
}
