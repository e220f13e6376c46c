import type { Align } from './blocks.ts'

export type Direction = 'ltr' | 'rtl'

/** Where a text of a direction stands in its column. */
export function sideOf (align: Align, direction: Direction): 'left' | 'center' | 'right' {
  if (align !== 'start' && align !== 'end') return align
  return (align === 'start') === (direction === 'ltr') ? 'left' : 'right'
}

/** ISO 15924. */
const rightToLeft = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** How a language is written. */
export function directionOf (locale: string): Direction {
  return rightToLeft.has(new Intl.Locale(locale).maximize().script ?? '') ? 'rtl' : 'ltr'
}
