import { type Direction, sideOf } from '../compile/direction.ts'
import { type CellLine, type PlacedCell, textCell } from './cells.ts'
import { type ColumnRange, type SheetContext, widthOf } from './context.ts'
import { lengthOf, type RichText, richTextLines } from './rich-text.ts'
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
export function textLines (words: RichText, requested: CellStyle, range: ColumnRange, { styles, ...setting }: SheetContext): CellLine[] {
  const look: CellStyle = setting.direction === 'rtl' ? { align: 'right', ...requested } : requested
  const size = look.size ?? sheetSize
  const room = widthOf(range, setting) * sheetSize / size / (look.bold === true ? boldness : 1)
  return richTextLines(words).map((line) => {
    const rows = rowsIn(line, room)
    const cell = textCell(line, rows > 1 ? { ...look, wrap: true } : look, styles)
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

/** The width of a digit (of Arial) in the units of {@link classes}. */
const digit = 100
/** The widths of characters in hundredths of a digit: narrow ones, wide ones, capitals, and East Asian ones. */
const classes = [
  [/[ fijlrtI.,:;!|'()[\]/\u00a0-]/, 50],
  [/[mwMW@%—]/, 155],
  [/\p{Lu}/u, 122],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]/u, 180]
] as const

/** The widths of the characters up to U+FFFF that have been measured; 0 for the others. */
const measured = new Uint8Array(1 << 16)

function measure (code: number): number {
  const character = String.fromCodePoint(code)
  const width = classes.find(([characters]) => characters.test(character))?.[1] ?? digit
  // A character beyond U+FFFF has two units in a text, and is as wide as two.
  if (code >= measured.length) return digit + width
  measured[code] = width
  return width
}

/** How much wider bold letters are. */
export const boldness = 1.1

/** The approximate width of a text in digits. */
export function digitsWide (text: string): number {
  let width = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.codePointAt(index) ?? 0
    if (code >= measured.length) index++
    const known = measured[code] ?? 0
    width += known === 0 ? measure(code) : known
  }
  return width / digit
}

/** The approximate number of lines of a text in a column of a width (digits). */
export function rowsIn (words: RichText, width: number): number {
  const room = Math.max(1, width)
  return richTextLines(words).reduce((sum, line) => sum + Math.max(1, Math.ceil(wordsWide(line, room) / room)), 0)
}

/** The width of a text on one line. A text that certainly fits is not measured: no character is wider than two digits. */
function wordsWide (line: RichText, width: number): number {
  if (lengthOf(line) * 2 < width) return 0
  return line.reduce((sum, { text, bold }) => sum + digitsWide(text) * (bold === true ? boldness : 1), 0)
}
