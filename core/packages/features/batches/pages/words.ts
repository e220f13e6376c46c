import { visitWith, withWords } from '@dispatch/plugins/console'
import type { BatchView, cellTypes } from '../contract/batches.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

/** The texts of the console with those of these pages. */
export const wordsOf = withWords({ en, fr })

/** The texts of the console and of these pages, in one language. */
export type Words = ReturnType<typeof wordsOf>

export const visitOf = visitWith(wordsOf)

/** The session of a reader of these pages, with the texts in their language. */
export type Visit = ReturnType<typeof visitOf>

/** What the status of a batch is called. */
export const statusWord = (words: Words, status: BatchView['status']): string => words[`batch_${status}`]

/** What the state of rows is called. */
export const stateWord = (words: Words, state: Exclude<keyof BatchView['counts'], 'total'>): string => words[`batchState_${state}`]

/** What a type of cells is called. */
export const typeWord = (words: Words, type: typeof cellTypes[number]): string => words[`batchType_${type}`]
