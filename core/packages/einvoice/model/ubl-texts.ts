import type { EInvoiceModel, Text } from './model.ts'
import { endedTerms } from './payment-terms.ts'
import { profiles } from './profiles.ts'

/**
 * The notes. Their subject comes before the text, between number signs; notes with a subject come first. Peppol accepts one note, which
 * then holds all of them. French platforms read all notes as one text, in which the treatment (BAR) ends with a number sign: it is last.
 */
export function ublNotes ({ notes, profile }: EInvoiceModel): string[] {
  const isOne = profiles[profile].notes === 'one'
  const { coded = [], plain = [], last = [] } = Object.groupBy(notes,
    ({ code }) => code === undefined ? 'plain' : code === 'BAR' && !isOne ? 'last' : 'coded')
  const texts = [...coded, ...plain, ...last].map(({ code, text }) => code === undefined ? text : `#${code}#${text}`)
  return texts.length > 0 && isOne ? [texts.join('\n')] : texts
}

/** The terms of payment. A credit note without any states its due date here. */
export function ublTerms ({ paymentTerms, dueDate, isCreditNote }: EInvoiceModel): Text {
  return endedTerms(paymentTerms ?? (isCreditNote ? dueDate : undefined))
}
