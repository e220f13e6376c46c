import { type ConsolePart } from '../console.ts'
import { en } from './words.en.ts'
import { fr } from './words.fr.ts'

export const console: ConsolePart = {
  following: { properties: {} },
  words: { en, fr }
}
