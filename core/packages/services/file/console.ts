import { apiFileFormats } from '@dispatch/documents'
import { type ConsolePart, text } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

export const console: ConsolePart = {
  form: { properties: { outputFormat: { enum: Object.keys(apiFileFormats) }, filename: text } },
  sample: {},
  words: { en, fr }
}
