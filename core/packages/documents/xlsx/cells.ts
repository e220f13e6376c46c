import { element, type Xml, xmlText } from '../office/xml.ts'
import { cellLinkOf, type RichText, type RichTextRun, textOfRichText } from './rich-text.ts'
import type { CellStyle, FontLook, Styles } from './styles.ts'

/** What a cell of a sheet holds: text, or a number; a formula has the number that it comes to. */
export type Value = { text: Xml } | { number: string, formula?: string }

/**
 * A cell: at a column (from 0), over `span` of them and over `down` rows; `style` is the number of its look. Without a value it is there
 * for its look.
 */
export type PlacedCell = { column: number, span?: number, down?: number, style: number, value?: Value, link?: string }

/** Cells side by side; `height` in points, of `rows` lines of text (1 unless given). */
export type CellLine = { cells: readonly PlacedCell[], height: number, rows?: number }

/** What sheets take for a formula when somebody writes it: such a text is marked to stay one. */
const formulaLike = /^[=+\-@\t\r]/

/** Text in a look: always as text, whatever it begins with. */
export function textCell (given: RichText, look: CellStyle, styles: Styles): Pick<PlacedCell, 'style' | 'value' | 'link'> {
  const { words, link } = cellLinkOf(given)
  const [first = { text: '' }] = words
  const isWhole = words.every(({ bold, italic }) => bold === first.bold && italic === first.italic)
  const content = textOfRichText(words)
  const own: CellStyle = {
    ...look,
    ...(isWhole ? emphasisOf(first) : {}),
    ...(link === undefined ? {} : { underline: true }),
    ...(formulaLike.test(content) ? { asText: true } : {})
  }
  const pieces = isWhole
    ? [plainText(content)]
    : words.map((piece) => element('r', {}, styles.run({ ...own, ...emphasisOf(piece) }), plainText(piece.text)))
  return { style: styles.of(own), value: { text: element('is', {}, ...pieces) }, ...(link === undefined ? {} : { link }) }
}

function emphasisOf ({ bold = false, italic = false }: RichTextRun): FontLook {
  return { ...(bold ? { bold } : {}), ...(italic ? { italic } : {}) }
}

/** Spaces at the ends and line breaks count only where it is said. */
function plainText (content: string): Xml {
  return element('t', /^\s|\s$|\n/.test(content) ? { 'xml:space': 'preserve' } : {}, xmlText(content))
}

/** The name of a cell, such as A1: `column` from 0, `row` from 1. */
export function cellReference (column: number, row: number): string {
  return `${columnName(column)}${row}`
}

function columnName (column: number): string {
  const rest = Math.floor(column / 26) - 1
  return (rest < 0 ? '' : columnName(rest)) + String.fromCharCode(65 + column % 26)
}
