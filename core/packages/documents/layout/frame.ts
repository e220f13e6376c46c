import type { Box } from './box.ts'

/** The space in points above and below a box, and the rules over and under it. */
export type Frame = { padding: number, x?: number, width: number, above?: Stroke, below?: Stroke }
type Stroke = { thickness: number, color: string }

/** A box with space above and below and rules at its edges. Both parts of a cut box have them. */
export function framed (box: Box, frame: Frame): Box {
  const { padding, x: left = 0, width, above, below } = frame
  const height = box.height + 2 * padding
  return {
    height,
    paint (surface, x, y) {
      if (above !== undefined) surface.rule(x + left, y, width, above.thickness, above.color)
      box.paint(surface, x, y + padding)
      if (below !== undefined) surface.rule(x + left, y + height, width, below.thickness, below.color)
    },
    cut (room, page) {
      const inner = box.cut?.(room - 2 * padding, page - 2 * padding)
      if (inner === undefined) return undefined
      const [now, later] = inner
      return [framed(now, frame), later === undefined ? undefined : framed(later, frame)]
    }
  }
}
