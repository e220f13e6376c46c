import type { Align } from '../model/blocks.ts'

export type Direction = 'ltr' | 'rtl'

/** Where a text of a direction stands in its column. */
export function sideOf (align: Align, direction: Direction): 'left' | 'center' | 'right' {
  if (align !== 'start' && align !== 'end') return align
  return (align === 'start') === (direction === 'ltr') ? 'left' : 'right'
}

const letters = /[\p{L}\u200e\u200f]/u
const lettersFromTheRight = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f]/u

/** How a text is read, by its first letter (Unicode Annex 9, P2); undefined where it has none. */
export function directionIn (text: string): Direction | undefined {
  const first = letters.exec(text)?.[0]
  if (first === undefined) return undefined
  return lettersFromTheRight.test(first) ? 'rtl' : 'ltr'
}

/**
 * How a text of a document is read, and where it stands: from left to right each paragraph begins at its own side; in a
 * document from right to left all do at the right.
 */
export function turned (text: string, align: Align, document: Direction): { direction: Direction, side: ReturnType<typeof sideOf> } {
  const direction = directionIn(text) ?? document
  return { direction, side: sideOf(align, document === 'rtl' ? document : direction) }
}

/** ISO 15924. */
const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** How a language is written. */
export function directionOf (locale: string): Direction {
  return rightToLeft.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
}
