import { type ConsolePart, documentLines, type FormField, like, text } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

const signer: FormField = {
  type: 'object',
  required: ['email', 'firstName', 'lastName'],
  properties: { email: text, firstName: text, lastName: text, phoneNumber: like('+33612345678') }
}

export const console: ConsolePart = {
  form: {
    required: ['signers'],
    properties: {
      signers: { type: 'array', items: signer, 'x-rows': true },
      signatureType: { enum: ['SIMPLE', 'ADVANCED', 'QUALIFIED'] },
      expiresInDays: { type: 'integer', examples: [30] },
      locale: like('fr'),
      documents: documentLines()
    }
  },
  sample: {
    signers: [
      { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' },
      { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper' }
    ]
  },
  words: { en, fr }
}
