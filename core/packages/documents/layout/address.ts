import type { AddressWindow } from '../model/blocks.ts'
import type { AddressBlock, EnvelopeWindow, PageBox } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'
import type { Box } from './box.ts'
import { type LayoutContext, numbered, typography } from './context.ts'
import { stackBoxes } from './stack.ts'
import { singleLineBox, textBox } from './text.ts'
import type { Typography } from './words.ts'

/**
 * The window of an envelope, in millimetres from the top left corner of A4. `left`, `top`, `width` and `height` are the recipient's field.
 * The sender's line ends where the recipient begins. `beside` is where the other side of the page begins, and `under` is the least distance
 * from the top at which the letter continues.
 */
type Place = EnvelopeWindow & {
  beside: { left?: number, right?: number, top: number }
  under: number
}

/**
 * DIN 5008:2020: the field is 85 by 45 mm, 20 mm from the left and 27 (form A) or 45 mm (form B) from the top. Its upper 17.7 mm are for
 * the sender and remarks, its lower 27.3 mm for the recipient, both with a margin of 5 mm. `fr` (NF Z 11-001 does not define it): the area
 * that a window of 100 by 35 mm and one of 100 by 45 mm at the right of a DL envelope show, wherever the sheet slips to.
 */
const windows: Readonly<Record<AddressWindow, Place>> = {
  'din-5008-a': { left: 25, top: 44.7, width: 80, height: 27.3, beside: { left: 125, top: 32 }, under: 80.46 },
  'din-5008-b': { left: 25, top: 62.7, width: 80, height: 27.3, beside: { left: 125, top: 50 }, under: 98.46 },
  fr: { left: 110, top: 55, width: 80, height: 33, beside: { right: 105, top: 50 }, under: 96.46 }
}

/**
 * The height in millimetres above the recipient for the sender, the distance in points between the two, and the sender's largest and
 * smallest font size in points.
 */
const senderHeight = 5
const senderGap = 2
const senderSizes = { largest: 6, least: 4 }

/** The smallest font size in points that sorting machines can read, and the line height. */
const leastSize = 7
const closest = 1.2

/**
 * Puts an address in its window, wherever the text above it ends. `y` is the end of that text in points from the top of the page; the box
 * reaches from there to where the letter continues. Throws a RenderError when the text has already reached the window.
 */
export function address (block: AddressBlock, y: number, page: PageBox, layOut: (width: number) => Box, setting: LayoutContext): Box {
  const place = typeof block.window === 'string' ? windows[block.window] : aloneIn(block.window)
  const top = points(place.top)
  if (y > points(place.top - senderHeight) + 0.01) {
    throw renderError('', 'no_room',
      'The address is not at the top of its page: the text before it reaches into the window of the envelope.')
  }
  const width = points(place.width)
  const sender = senderOf(block, width, setting)
  const recipient = recipientOf(block, width, points(place.height), setting)
  const extent = besideExtent(place, page)
  const beside = layOut(extent.width)
  // The text above may reach further down beside the window.
  const begin = Math.max(points(place.beside.top), y)
  return {
    height: Math.max(points(place.under), begin + beside.height) - y,
    paint (surface) {
      sender.paint(surface, points(place.left), top - sender.height - senderGap)
      recipient.paint(surface, points(place.left), top)
      beside.paint(surface, extent.x, begin)
    }
  }
}

/** A window of any place, with nothing beside it. */
function aloneIn (window: EnvelopeWindow): Place {
  return { ...window, beside: { top: window.top }, under: window.top + window.height }
}

/** The sender on one line; on two lines if one would be too small to read; if two do not fit either, on one line in any size that fits. */
function senderOf ({ sender }: AddressBlock, width: number, setting: LayoutContext): Box {
  const runs = numbered(sender, setting)
  const type = (size: number): Typography => ({ ...typography(setting, { size, color: setting.style.muted }), lineHeight: closest })
  return fitted((size) => textBox(runs, type(size), width, 'left'), senderSizes, points(senderHeight) - senderGap) ??
    singleLineBox(runs, type(senderSizes.least), width, 'left')
}

/** The lines of the recipient, in a smaller font if they do not fit in the window. */
function recipientOf ({ lines }: AddressBlock, width: number, height: number, setting: LayoutContext): Box {
  const lineHeight = Math.min(setting.style.lineHeight, closest)
  const stacked = (size: number): Box =>
    stackBoxes(lines.map((line) => textBox(numbered(line, setting), { ...typography(setting, { size }), lineHeight }, width, 'left')))
  const box = fitted(stacked, { largest: setting.style.size, least: leastSize }, height)
  if (box === undefined) {
    throw renderError('', 'no_room',
      'The address is too long for the window of the envelope: six lines of 40 letters fit, or nine in the smallest font size.')
  }
  return box
}

/** The box in the largest font size (points) at which it fits in its height. */
function fitted (make: (size: number) => Box, { largest, least }: { largest: number, least: number }, room: number): Box | undefined {
  for (let size = largest; size >= least; size -= 0.5) {
    const box = make(size)
    if (box.height <= room) return box
  }
  return undefined
}

function besideExtent ({ beside: { left = 0, right } }: Place, page: PageBox): { x: number, width: number } {
  const x = Math.max(points(left), page.left)
  const end = Math.min(right === undefined ? Infinity : points(right), page.width - page.right)
  return { x, width: end - x }
}
