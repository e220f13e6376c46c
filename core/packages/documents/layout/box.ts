import type { Surface } from './surface.ts'

/**
 * Something that takes space on a page, in points. A box that is higher than the remaining space may be cut: into the part that fits, and
 * the rest (which may be empty). A box that cannot be cut there returns undefined, and moves to the next page as a whole.
 */
export type Box = {
  readonly height: number
  readonly paint: (surface: Surface, x: number, y: number) => void
  /** `room` is the space that is left on this page, `page` the height of a whole empty page. */
  readonly cut?: (room: number, page: number) => Cut | undefined
  /** Whether it must not be the last box on a page when another one follows. */
  readonly keep?: true
  /** Distance only: where it does not fit, the page ends, and the distance is not repeated on the next page. */
  readonly gap?: true
}

/** The part that fits on the page, and the rest. */
export type Cut = readonly [now: Box, later: Box | undefined]

export const nothing: Box = { height: 0, paint: () => undefined }

/** Distance between two boxes. */
export function gap (height: number): Box {
  return { height, gap: true, paint: () => undefined }
}

/** Ends the page: a distance that fits nowhere. */
export const pageBreak: Box = gap(Infinity)

/** A box that is not the last one on its page, unless nothing follows it. */
export function kept (box: Box): Box {
  return { ...box, keep: true }
}

/** A box that is not split if it fits on one page. */
export function whole (box: Box): Box {
  return { ...box, cut: (room, page) => box.height <= page ? undefined : box.cut?.(room, page) }
}

/** The box moved to the right. */
export function shifted (box: Box, by: number): Box {
  return {
    ...box,
    paint: (surface, x, y) => {
      box.paint(surface, x + by, y)
    }
  }
}

/** The box with space under it, if it is lower than a height (points). */
export function atLeast (height: number, box: Box): Box {
  return box.height >= height ? box : { ...box, height }
}

/** Boxes side by side, each at its distance from the left. They are not split if they fit on one page, and are otherwise cut together. */
export function beside (boxes: readonly Box[]): Box {
  const height = Math.max(0, ...boxes.map((box) => box.height))
  return {
    height,
    paint: (surface, x, y) => {
      for (const box of boxes) box.paint(surface, x, y)
    },
    cut: (room, page) => height <= page ? undefined : cutAll(boxes, room, page)
  }
}

function cutAll (boxes: readonly Box[], room: number, page: number): Cut | undefined {
  const cuts = boxes.map((box) => box.height <= room ? [box, undefined] as const : box.cut?.(room, page))
  if (!cuts.every((cut) => cut !== undefined)) return undefined
  const rest = cuts.map(([, later]) => later)
  return [beside(cuts.map(([now]) => now)), rest.every((box) => box === undefined) ? undefined : beside(rest.map((box) => box ?? nothing))]
}
