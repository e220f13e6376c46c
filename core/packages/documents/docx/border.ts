import { element, type Xml } from '../office/xml.ts'
import { eighths, hex } from './measure.ts'

/** `thickness` in points, `color` as `#rrggbb`. */
export type DocxBorder = { thickness: number, color: string }

/** Hairlines between the rows of a table. */
export const hairline: DocxBorder = { thickness: 0.5, color: '#d5dbe1' }

/** A border on one side; `space` in points between it and the text. */
export function border (side: string, { thickness, color }: DocxBorder, space = 0): Xml {
  return element(`w:${side}`, { 'w:val': 'single', 'w:sz': eighths(thickness), 'w:space': space, 'w:color': hex(color) })
}

/** No border on a side, whatever the style says. */
export function noBorder (side: string): Xml {
  return element(`w:${side}`, { 'w:val': 'nil' })
}
