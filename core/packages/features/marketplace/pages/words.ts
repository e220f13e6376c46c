import { type Visit as VisitOfConsole, visitOf as visitOfConsole, withWords } from '@dispatch/plugins/console'
import type { FastifyRequest } from 'fastify'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

/** The same for words of the console. */
export const wordsOf = withWords({ en, fr })

/** The texts of the console and of these pages, in one language. */
export type Words = ReturnType<typeof wordsOf>

/** What a page knows of its reader. */
export type Visit = Omit<VisitOfConsole, 'words'> & { words: Words }

export function visitOf (request: FastifyRequest): Visit {
  const visit = visitOfConsole(request)
  return { ...visit, words: wordsOf(visit.words) }
}
