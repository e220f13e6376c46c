import { element, type Xml, xmlText } from '../office/xml.ts'
import { cellLinkOf, type RichText, type RichTextRun, textOfRichText } from './rich-text.ts'
import type { CellStyle, FontStyle, Styles } from './styles.ts'

/** The content of a cell of a sheet: a text or a number. A formula has the number that is its result. */
export type Value = { text: Xml } | { number: string, formula?: string }

/**
 * A cell at a column (from 0), which spans `span` columns and `down` rows. `style` is the number of its style. A cell without a value only
 * has its style.
 */
export type PlacedCell = { column: number, span?: number, down?: number, style: number, value?: Value, link?: string }

/** Cells side by side. `height` is in points, of `rows` lines of text (1 by default). */
export type CellLine = { cells: readonly PlacedCell[], height: number, rows?: number }

/** Texts that a sheet would read as a formula when somebody edits them. They are marked as text. */
const formulaLike = /^[=+\-@\t\r]/

/** Text with a style. It is always stored as text, whatever its first character is. */
export function textCell (given: RichText, look: CellStyle, styles: Styles): Pick<PlacedCell, 'style' | 'value' | 'link'> {
  const [only, ...others] = given
  if (only !== undefined && others.length === 0 && isPlain(only)) {
    return { style: styles.of(look), value: { text: `<is>${plainText(only.text)}</is>` as Xml } }
  }
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

/** Whether a text needs no style of its own, as most texts of a table. */
function isPlain ({ text, bold, italic, link }: RichTextRun): boolean {
  return bold === undefined && italic === undefined && link === undefined && !formulaLike.test(text)
}

function emphasisOf ({ bold = false, italic = false }: RichTextRun): FontStyle {
  return { ...(bold ? { bold } : {}), ...(italic ? { italic } : {}) }
}

/** Spaces at the ends and line breaks count only with this attribute. */
function plainText (content: string): Xml {
  const text = xmlText(content)
  return (/^\s|\s$|\n/.test(content) ? `<t xml:space="preserve">${text}</t>` : `<t>${text}</t>`) as Xml
}

/** The name of a cell, such as A1: `column` from 0, `row` from 1. */
export function cellReference (column: number, row: number): string {
  return `${columnName(column)}${row}`
}

/** The name of a column (from 0), such as A. */
export function columnName (column: number): string {
  return names[column] ??= nameOf(column)
}

/** The names that were asked for: a table asks for the same few in each row. A sheet has at most 16,384 columns. */
const names: string[] = []

function nameOf (column: number): string {
  const rest = Math.floor(column / 26) - 1
  return (rest < 0 ? '' : nameOf(rest)) + String.fromCharCode(65 + column % 26)
}
