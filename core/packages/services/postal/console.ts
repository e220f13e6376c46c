import { type ConsolePart, documentLines, flag, type FormField, like, longText, text } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

const address: FormField = {
  type: 'object',
  required: ['name', 'address', 'city', 'country'],
  properties: { name: text, company: text, address: longText, postalCode: text, city: text, state: text, country: like('FR') }
}

export const console: ConsolePart = {
  form: {
    required: ['recipient'],
    properties: { recipient: address, mailType: { enum: ['SIMPLE', 'REGISTERED'] }, color: flag, duplex: flag, documents: documentLines() }
  },
  sample: {
    postal: { recipient: { name: 'Ada Lovelace', address: '1 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' } }
  },
  words: { en, fr }
}
