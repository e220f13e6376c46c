import { type Direction, sideOf } from '../compile/direction.ts'
import { type CellLine, type PlacedCell, textCell } from './cells.ts'
import { type ColumnRange, type SheetContext, widthOf } from './context.ts'
import { type RichText, richTextLines } from './rich-text.ts'
import { type CellStyle, sheetSize } from './styles.ts'

/** The height in points of a row with the ordinary font size. */
export const usualHeight = lineHeight(sheetSize)

/** The height in points that a line of a font size needs. */
export function lineHeight (size: number): number {
  return Math.ceil(size * 1.4)
}

/**
 * A text on its own lines. A text that is too long for the columns is wrapped in them, as one cell. In a right-to-left sheet, all texts
 * begin on the right.
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

/** A single line flows over the empty cells beside it. */
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
 * The widths of characters in digits (of Arial): narrow ones, wide ones, capitals, and East Asian ones. All others are as wide as a digit.
 */
const classes = [
  [/[ fijlrtI.,:;!|'()[\]/\u00a0-]/g, 0.5],
  [/[mwMW@%—]/g, 1.55],
  [/(?![IMW])\p{Lu}/gu, 1.22],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/gu, 1.8]
] as const

/** How much wider bold letters are. */
export const boldness = 1.1

/** The approximate width of a text in digits. */
export function digitsWide (text: string): number {
  return classes.reduce((width, [characters, own]) => width + (text.match(characters)?.length ?? 0) * (own - 1), text.length)
}

/** The approximate number of lines of a text in a column of a width (digits). */
export function rowsIn (words: RichText, width: number): number {
  const room = Math.max(1, width)
  if (certainlyFits(words, room) && !words.some(({ text }) => text.includes('\n'))) return 1
  return richTextLines(words).reduce((sum, line) => sum + Math.max(1, Math.ceil(wordsWide(line, room) / room)), 0)
}

/** No character is wider than two digits. */
function certainlyFits (line: RichText, width: number): boolean {
  return line.reduce((sum, { text }) => sum + text.length, 0) * 2 < width
}

/** The width of a text on one line. A text that certainly fits is not measured. */
function wordsWide (line: RichText, width: number): number {
  if (certainlyFits(line, width)) return 0
  return line.reduce((sum, { text, bold }) => sum + digitsWide(text) * (bold === true ? boldness : 1), 0)
}
