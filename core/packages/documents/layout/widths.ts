import type { Direction } from '../compile/direction.ts'

/** The start and the width of a column in points. */
export type Extent = { x: number, width: number }

/** Divides a width (points) among columns by their shares, with a gap between them. The first column is at the start of the direction. */
export function shares (columns: readonly { width: number }[], width: number, gap: number, direction: Direction): Extent[] {
  const total = columns.reduce((sum, column) => sum + column.width, 0)
  const free = Math.max(0, width - gap * (columns.length - 1))
  let x = 0
  return columns.map((column) => {
    const extent = { x, width: free * column.width / total }
    x += extent.width + gap
    return inDirection(extent, width, direction)
  })
}

/** An extent that is measured from the start of the direction, converted to its place on the page. */
export function inDirection ({ x, width }: Extent, whole: number, direction: Direction): Extent {
  return { x: direction === 'ltr' ? x : whole - x - width, width }
}
