import type { Align } from '../model/blocks.ts'
import { memoizeLru } from '../model/memoize.ts'

export type Direction = 'ltr' | 'rtl'

/** The side of its column on which a text of a direction begins. */
export function sideOf (align: Align, direction: Direction): 'left' | 'center' | 'right' {
  if (align !== 'start' && align !== 'end') return align
  return (align === 'start') === (direction === 'ltr') ? 'left' : 'right'
}

const letters = /[\p{L}\u200e\u200f]/u
const lettersFromTheRight = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\u200f]/u

/** The direction of a text, by its first letter (Unicode Annex 9, P2); undefined for a text without letters. */
export function directionIn (text: string): Direction | undefined {
  const first = letters.exec(text)?.[0]
  if (first === undefined) return undefined
  return lettersFromTheRight.test(first) ? 'rtl' : 'ltr'
}

/**
 * The direction and the side of a text in a document. In a left-to-right document, each paragraph begins on its own side. In a
 * right-to-left document, all begin on the right.
 */
export function turned (text: string, align: Align, document: Direction): { direction: Direction, side: ReturnType<typeof sideOf> } {
  const direction = directionIn(text) ?? document
  return { direction, side: sideOf(align, document === 'rtl' ? document : direction) }
}

/** ISO 15924. */
const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** The direction of a language. */
export function directionOf (locale: string): Direction {
  return directions(locale).direction
}

const directions = memoizeLru(100, (locale): { direction: Direction } => ({
  direction: rightToLeft.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
}))
