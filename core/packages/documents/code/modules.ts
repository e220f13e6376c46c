import type { Modules, Rectangle } from '../model/document.ts'

/** The bars of a matrix of dark and light modules, with its quiet zone, row by row. */
export function modulesOf (matrix: readonly (readonly boolean[])[]): Modules {
  return { columns: matrix[0]?.length ?? 0, rows: matrix.length, dark: matrix.flatMap(barsOf) }
}

/** A row of bars and spaces with these widths, a bar first, and a quiet zone on each side. */
export function rowOf (widths: readonly number[], before: number, behind: number): boolean[] {
  return [before, ...widths, behind].flatMap((width, index) => Array.from({ length: width }, () => index % 2 === 1))
}

function barsOf (row: readonly boolean[], y: number): Rectangle[] {
  const bars: Rectangle[] = []
  let bar: Rectangle | undefined
  row.forEach((isDark, x) => {
    if (!isDark) bar = undefined
    else if (bar !== undefined) bar.width++
    else bars.push(bar = { x, y, width: 1, height: 1 })
  })
  return bars
}
