import { eInvoiceFormats, eInvoiceProfiles } from '@dispatch/einvoice'
import { type ConsolePart, documentLines, flag, like, text } from '../console.ts'
import { computedSums, computeSums } from './computed-sums.ts'
import { creditNoteOf } from './credit-note.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

export const console: ConsolePart = {
  form: {
    required: ['documentType'],
    properties: {
      documentType: { enum: ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT'] },
      eInvoiceFormat: { enum: eInvoiceFormats },
      eInvoiceProfile: { enum: eInvoiceProfiles },
      sendByEmail: flag,
      dueDate: like('2026-04-13'),
      paymentTerms: text,
      customerId: text,
      reference: text,
      attachments: documentLines({ filename: text }),
      from: { type: 'object', properties: { dispatchId: text } }
    }
  },
  sample: { documentType: 'INVOICE' },
  takesBack: creditNoteOf,
  computed: { fields: computedSums, of: computeSums },
  words: { en, fr }
}
