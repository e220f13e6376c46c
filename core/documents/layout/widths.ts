/** Where a column begins and how wide it is, in points. */
export type Extent = { x: number, width: number }

/** Divides a width (points) among columns by their shares, with a gap between them. */
export function shares (columns: readonly { width: number }[], width: number, gap: number): Extent[] {
  const total = columns.reduce((sum, column) => sum + column.width, 0)
  const free = Math.max(0, width - gap * (columns.length - 1))
  let x = 0
  return columns.map((column) => {
    const extent = { x, width: free * column.width / total }
    x += extent.width + gap
    return extent
  })
}
