import { type ConsolePart, flag, like, text } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

const properties = { phoneNumber: like('+33612345678'), sender: text, transliterate: flag }

export const console: ConsolePart = {
  form: { required: ['phoneNumber'], properties },
  following: { required: ['phoneNumber', 'message'], properties: { ...properties, message: text } },
  sample: { sms: { phoneNumber: '+33612345678', message: 'Hello' } },
  words: { en, fr }
}
