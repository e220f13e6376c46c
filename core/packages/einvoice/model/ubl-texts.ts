import type { EInvoiceModel, Text } from './model.ts'
import { endedTerms } from './payment-terms.ts'
import { profiles } from './profiles.ts'

/**
 * The notes. Their subject comes before the text, between number signs; notes with a subject come first. Peppol accepts one note, which
 * then holds all of them.
 */
export function ublNotes ({ notes, profile }: EInvoiceModel): string[] {
  const texts = [...notes.filter(({ code }) => code !== undefined), ...notes.filter(({ code }) => code === undefined)].map(
    ({ code, text }) => code === undefined ? text : `#${code}#${text}`
  )
  return texts.length > 0 && profiles[profile].notes === 'one' ? [texts.join('\n')] : texts
}

/** The terms of payment. A credit note without any states its due date here. */
export function ublTerms ({ paymentTerms, dueDate, isCreditNote }: EInvoiceModel): Text {
  return endedTerms(paymentTerms ?? (isCreditNote ? dueDate : undefined))
}
