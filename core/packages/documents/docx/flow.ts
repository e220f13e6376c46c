import { none, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { type Paragraph, paragraph } from './paragraph.ts'

/** The form of a block: a paragraph, the pieces of a table, a distance (points), or the end of a page. */
export type FlowItem = { paragraph: Paragraph } | { table: Iterable<Xml> } | { room: number } | { pageBreak: true }

/** The place of blocks: a page can begin in the body of the document only. */
export type FlowContainer = 'body' | 'edge' | 'cell'

/**
 * Items below each other. A distance is space before a paragraph. A table has no such space, so the distance above it is space after the
 * paragraph above. Between two tables there is an empty paragraph, because they would otherwise join. The last item must be a paragraph.
 */
export function* flow (items: Iterable<FlowItem>, place: FlowContainer, setting: DocxContext): Generator<Xml> {
  /** The paragraph above, until the next item is known. */
  let above: Paragraph | undefined
  let isFirst = true
  /** The distance in points that the template asks for, else the usual one. */
  let room: number | undefined = 0
  let breakBefore = false
  for (const item of items) {
    if ('room' in item) room = (room ?? 0) + item.room
    else if ('pageBreak' in item) breakBefore ||= place === 'body' && !isFirst
    else {
      if ('table' in item) {
        yield* aboveTable(above, { distance: room ?? blockSpacing(setting), breakBefore, isFirst }, setting)
        yield* item.table
        above = undefined
      } else {
        if (above !== undefined) yield paragraph(above, setting)
        above = { ...item.paragraph, breakBefore, ...(room === undefined ? {} : { before: room + (item.paragraph.before ?? 0) }) }
      }
      ;[isFirst, room, breakBefore] = [false, undefined, false]
    }
  }
  yield above === undefined
    ? empty({ height: room ?? 0 }, setting)
    : paragraph({ ...above, ...(room === undefined ? {} : { after: room }) }, setting)
}

/** The paragraph that ends above a table, with the distance to it. */
function aboveTable (
  above: Paragraph | undefined,
  { distance, breakBefore, isFirst }: { distance: number, breakBefore: boolean, isFirst: boolean },
  setting: DocxContext
): Xml[] {
  if (above !== undefined && !breakBefore) return [paragraph({ ...above, after: distance }, setting)]
  const own = above === undefined ? [] : [paragraph(above, setting)]
  return isFirst && distance === 0 ? own : [...own, empty({ height: distance, breakBefore }, setting)]
}

/** The distance in points between two blocks. */
export function blockSpacing ({ style }: Pick<DocxContext, 'style'>): number {
  return style.size * 0.6
}

/** An invisible paragraph of the least height. */
function empty ({ height, breakBefore = false }: { height: number, breakBefore?: boolean }, setting: DocxContext): Xml {
  return paragraph({ style: setting.paragraph, content: none, before: 0, height: Math.max(1, height), breakBefore }, setting)
}
