import { type Direction, sideOf, turned } from '../compile/direction.ts'
import type { Align } from '../model/blocks.ts'
import { element, none, type Xml } from '../office/xml.ts'
import { border, type DocxBorder } from './border.ts'
import type { DocxContext, StyleId } from './context.ts'
import { twips } from './measure.ts'

/** A paragraph, and how it differs from its style; distances in points. */
export type Paragraph = {
  style: StyleId
  content: Xml
  align?: Align
  /** Its text, whose direction may differ from that of the document. */
  text?: string
  /** The space before and after it, by default that of the style. */
  before?: number
  after?: number
  /** It stays on one page with the next content. */
  keepNext?: boolean
  /** It begins a page. */
  breakBefore?: boolean
  border?: DocxBorder & { side: 'top' | 'bottom' }
  /** The space at its beginning and at its end. */
  indent?: { start?: number, end?: number }
  /** Its exact height. */
  height?: number
}

/** The longest distance that Word permits, in points. */
const furthest = 1584

const yes = (name: string, is: boolean | undefined): Xml => is === true ? element(name) : none
const distance = (points: number | undefined): number | undefined => points === undefined ? undefined : twips(Math.min(furthest, points))

/** The paragraph as XML, its properties in the order of the schema (ECMA-376-1, CT_PPr). */
export function paragraph (
  { style, content, align = 'start', text = '', before, after, keepNext, breakBefore, border: edge, indent, height }: Paragraph,
  setting: DocxContext
): Xml {
  const { direction, side } = turned(text, align, setting.direction)
  const stands = justification(side, direction)
  const isSpaced = before !== undefined || after !== undefined || height !== undefined
  return element('w:p', {},
    element('w:pPr', {}, element('w:pStyle', { 'w:val': style }), yes('w:keepNext', keepNext === true || setting.keepNext === true),
      yes('w:pageBreakBefore', breakBefore), edge === undefined ? none : element('w:pBdr', {}, border(edge.side, edge, 1)),
      yes('w:bidi', direction === 'rtl'), isSpaced
      ? element('w:spacing', {
        'w:before': distance(before),
        'w:after': distance(after),
        'w:line': distance(height),
        'w:lineRule': height === undefined ? undefined : 'exact'
      })
      : none, indent === undefined ? none : element('w:ind', { 'w:left': distance(indent.start), 'w:right': distance(indent.end) }),
      stands === undefined ? none : element('w:jc', { 'w:val': stands })), content)
}

/** The alignment of the text, unless it is at the start of its direction. Word calls the start left and the end right. */
function justification (side: 'left' | 'center' | 'right', direction: Direction): 'center' | 'right' | undefined {
  if (side === 'center') return side
  return side === sideOf('start', direction) ? undefined : 'right'
}
