import { sideOf } from '../compile/direction.ts'
import type { Align } from '../model/blocks.ts'
import { lengthOf, linesOf, wordsOf, wrap } from './wrap.ts'

/** Spaces between two columns. */
export const columnGapSpaces = 2

type Row = readonly string[]

/**
 * The widths (characters) of the columns of these rows, which all have the same length, on lines of a width. A column is as wide as its
 * longest line if all fit, else narrower, but at least as wide as its longest word. Undefined when not even the words fit side by side.
 */
export function columnWidths (rows: readonly Row[], width: number): number[] | undefined {
  const count = rows[0]?.length ?? 0
  const columns = Array.from({ length: count }, (_, index) => rows.map((row) => row[index] ?? ''))
  const free = width - columnGapSpaces * (count - 1)
  const desired = columns.map((texts) => longest(texts.flatMap(linesOf)))
  if (sum(desired) <= free) return desired
  const least = columns.map((texts) => longest(texts.flatMap((text) => linesOf(text).flatMap(wordsOf))))
  return sum(least) > free ? undefined : shared(free - sum(least), desired, least)
}

/** Distributes the spare width: columns that need little more get it first, so that only long texts break. */
function shared (spare: number, desired: readonly number[], least: readonly number[]): number[] {
  const missing = desired.map((width, index) => ({ index, width: width - (least[index] ?? 0) })).sort((a, b) => a.width - b.width)
  const widths = [...least]
  let left = spare
  for (const [done, { index, width }] of missing.entries()) {
    const more = Math.min(width, Math.floor(left / (missing.length - done)))
    widths[index] = (least[index] ?? 0) + more
    left -= more
  }
  return widths
}

/** The lines of a row in columns of these widths. */
export function gridRow (row: Row, widths: readonly number[], aligns: readonly Align[]): string[] {
  const cells = widths.map((width, index) => wrap(row[index] ?? '', width))
  const height = Math.max(1, ...cells.map((lines) => lines.length))
  return Array.from({ length: height },
    (_, line) =>
      widths.map((width, index) => padded(cells[index]?.[line] ?? '', width, aligns[index] ?? 'left')).join(' '.repeat(columnGapSpaces))
        .trimEnd())
}

function padded (text: string, width: number, align: Align): string {
  const free = Math.max(0, width - lengthOf(text))
  const side = sideOf(align, 'ltr')
  const before = side === 'left' ? 0 : side === 'right' ? free : Math.floor(free / 2)
  return ' '.repeat(before) + text + ' '.repeat(free - before)
}

/** The maximum over all rows without a spread, because there may be a hundred thousand rows. */
function longest (texts: readonly string[]): number {
  return texts.reduce((max, text) => Math.max(max, lengthOf(text)), 0)
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
