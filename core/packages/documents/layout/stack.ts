import type { Box, Cut } from './box.ts'

/** Boxes below each other. `head` is painted above them, and again above the rest after each cut. */
export function stackBoxes (boxes: readonly Box[], head?: Box): Box {
  const headHeight = head?.height ?? 0
  return {
    height: boxes.reduce((sum, box) => sum + box.height, headHeight),
    paint (surface, x, y) {
      head?.paint(surface, x, y)
      let top = y + headHeight
      for (const box of boxes) {
        box.paint(surface, x, top)
        top += box.height
      }
    },
    cut: (room, page) => cutStack(boxes, head, room - headHeight, page - headHeight)
  }
}

function cutStack (boxes: readonly Box[], head: Box | undefined, room: number, page: number): Cut | undefined {
  const { count, used } = fitting(boxes, room)
  const first = boxes[count]
  if (first === undefined || (first.gap && !first.keep)) return [stackBoxes(boxes.slice(0, count), head), rest(boxes.slice(count), head)]
  const inner = first.cut?.(room - used, page)
  if (inner !== undefined) {
    const [now, later] = inner
    return [
      stackBoxes([...boxes.slice(0, count), now], head),
      rest([...(later === undefined ? [] : [later]), ...boxes.slice(count + 1)], head)
    ]
  }
  // On an empty page something must be placed, even if it is too high or should stay with the next box.
  const end = endBefore(boxes, count) || (room >= page ? Math.max(count, 1) : 0)
  return end === 0 ? undefined : [stackBoxes(boxes.slice(0, end), head), rest(boxes.slice(end), head)]
}

// Heights are sums with rounding errors. Content that just fits must not move to the next page.
const tolerance = 0.01

function fitting (boxes: readonly Box[], room: number): { count: number, used: number } {
  let used = 0
  let count = 0
  for (const box of boxes) {
    if (used + box.height > room + tolerance) break
    used += box.height
    count++
  }
  return { count, used }
}

/** Where the page ends before a box that does not fit: not after a box that must stay with the next one. */
function endBefore (boxes: readonly Box[], count: number): number {
  let end = count
  while (end > 0 && boxes[end - 1]?.keep === true) end--
  return boxes.slice(0, end).every((box) => box.gap) ? 0 : end
}

function rest (boxes: readonly Box[], head: Box | undefined): Box | undefined {
  const start = boxes.findIndex((box) => !box.gap)
  return start === -1 ? undefined : stackBoxes(boxes.slice(start), head)
}
