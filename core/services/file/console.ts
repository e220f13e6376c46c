import { type ConsolePart, text } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

export const console: ConsolePart = {
  form: { properties: { outputFormat: { enum: ['PDF', 'DOCX', 'XLSX'] }, filename: text } },
  sample: {},
  words: { en, fr }
}
