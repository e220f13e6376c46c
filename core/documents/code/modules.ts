import type { Modules, Rectangle } from '../document.ts'

/** Light room around a code, in modules. */
export type QuietZone = { left: number, right: number, above: number, below: number }

/** The dark modules of a matrix, row by row, as few rectangles as their rows allow, with a quiet zone around them. */
export function modulesOf (matrix: readonly (readonly boolean[])[], quiet: QuietZone): Modules {
  const columns = (matrix[0]?.length ?? 0) + quiet.left + quiet.right
  const dark = matrix.flatMap((row, y) => barsOf(row).map((bar): Rectangle => ({ x: bar.start + quiet.left, y: y + quiet.above, width: bar.end - bar.start, height: 1 })))
  return { columns, rows: matrix.length + quiet.above + quiet.below, dark }
}

/** Bars given by their widths, a dark one first, as a matrix of one row. */
export function rowOf (widths: readonly number[]): boolean[] {
  return widths.flatMap((width, index) => Array.from({ length: width }, () => index % 2 === 0))
}

/** The runs of dark modules in a row. */
function barsOf (row: readonly boolean[]): { start: number, end: number }[] {
  const bars: { start: number, end: number }[] = []
  for (const [x, isDark] of row.entries()) {
    const last = bars.at(-1)
    if (isDark && last?.end === x) last.end++
    else if (isDark) bars.push({ start: x, end: x + 1 })
  }
  return bars
}
