import { normalForm } from '@dispatch/common'

/** The words of a text: neither case nor accents, and no signs between them, tell two names or streets apart. */
export function wordsOf (text: string): string[] {
  return normalForm(text, 'NFKD').toUpperCase().replaceAll(/\p{M}/gu, '').match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Whether all words of a name are in another text; a letter may stand for a word. */
export function areNamed (name: string, text: string): boolean {
  const known = wordsOf(text)
  const isKnown = (word: string): boolean => known.some((other) => word === other || isInitial(word, other) || isInitial(other, word))
  return wordsOf(name).every(isKnown)
}

function isInitial (letter: string, word: string): boolean {
  return letter.length === 1 && word.startsWith(letter)
}
