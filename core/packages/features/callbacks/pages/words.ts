import { visitWith, withWords } from '@dispatch/plugins/console'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

/** The texts of the console with those of these pages. */
export const wordsOf = withWords({ en, fr })

/** The texts of the console and of these pages, in one language. */
export type Words = ReturnType<typeof wordsOf>

export const visitOf = visitWith(wordsOf)

/** The session of a reader of these pages, with the texts in their language. */
export type Visit = ReturnType<typeof visitOf>
