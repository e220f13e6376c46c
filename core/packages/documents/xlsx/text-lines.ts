import { type Direction, sideOf } from '../compile/direction.ts'
import { type CellLine, type PlacedCell, textCell } from './cells.ts'
import { type ColumnRange, type SheetContext, widthOf } from './context.ts'
import { type RichText, richTextLines } from './rich-text.ts'
import { type CellStyle, sheetSize } from './styles.ts'

/** Points of a row in the usual size of type. */
export const usualHeight = lineHeight(sheetSize)

/** Points that a line of type needs. */
export function lineHeight (size: number): number {
  return Math.ceil(size * 1.4)
}

/**
 * A text on lines of its own: one that is too long for the columns is broken in them, as one cell. In a sheet from right to left all begin
 * at the right.
 */
export function textLines (words: RichText, asked: CellStyle, range: ColumnRange, { styles, ...setting }: SheetContext): CellLine[] {
  const look: CellStyle = setting.direction === 'rtl' ? { align: 'right', ...asked } : asked
  const size = look.size ?? sheetSize
  const room = widthOf(range, setting) * sheetSize / size / (look.bold === true ? boldness : 1)
  return richTextLines(words).map((line) => {
    const rows = rowsIn(line, room)
    const cell = textCell(line, { ...look, ...(rows > 1 ? { wrap: true } : {}) }, styles)
    return { cells: [{ ...cell, ...placeOf(range, look, rows, setting.direction) }], height: rows * lineHeight(size), rows }
  })
}

/** A single line runs over the empty cells beside it. */
function placeOf (
  { from, to }: ColumnRange,
  { align }: CellStyle,
  rows: number,
  direction: Direction
): Pick<PlacedCell, 'column' | 'span'> {
  if (rows > 1 || align === 'center') return { column: from, span: to - from }
  return { column: align === undefined || align === sideOf('start', direction) ? from : to - 1 }
}

/**
 * How wide characters are, in digits (of Arial): narrow ones, wide ones, capitals, and those of East Asia; others are as wide as a digit.
 */
const classes = [
  [/[ fijlrtI.,:;!|'()[\]/\u00a0-]/g, 0.5],
  [/[mwMW@%—]/g, 1.55],
  [/(?![IMW])\p{Lu}/gu, 1.22],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/gu, 1.8]
] as const

/** How much wider bold letters are. */
export const boldness = 1.1

/** About how wide a text is, in digits. */
export function digitsWide (text: string): number {
  return classes.reduce((width, [characters, own]) => width + (text.match(characters)?.length ?? 0) * (own - 1), text.length)
}

/** About how many lines the words take in a column of a width (digits). */
export function rowsIn (words: RichText, width: number): number {
  const room = Math.max(1, width)
  return richTextLines(words).reduce((sum, line) => sum + Math.max(1, Math.ceil(wordsWide(line, room) / room)), 0)
}

/** How wide words are on one line; of those that surely fit, nothing is measured. */
function wordsWide (line: RichText, width: number): number {
  if (line.reduce((sum, { text }) => sum + text.length, 0) * 2 < width) return 0
  return line.reduce((sum, { text, bold }) => sum + digitsWide(text) * (bold === true ? boldness : 1), 0)
}
