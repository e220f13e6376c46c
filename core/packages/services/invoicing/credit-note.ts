import { dayOf, type JsonObject } from '@dispatch/common'
import { textOf } from '@dispatch/common'

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
 * Undefined for what is no invoice, and for a credit note.
 */
export function creditNoteOf ({ dispatchId, fields, data }: Invoice): { fields: JsonObject, data: JsonObject } | undefined {
  const { documentType, eInvoiceFormat, eInvoiceProfile, customerId } = fields
  const isElectronic = documentType === 'E_INVOICE'
  if (!isElectronic && documentType !== 'INVOICE' || Number(data['type']) === 381) return undefined
  const about = { ...dispatchId !== undefined && { from: { dispatchId } }, ...customerId !== undefined && { customerId } }
  const repeated = {
    ...Object.fromEntries(Object.entries(data).filter(([name]) => !own.some((one) => one === name))),
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
