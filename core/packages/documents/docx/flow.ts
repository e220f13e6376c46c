import { none, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { type Paragraph, paragraph } from './paragraph.ts'

/** What a block becomes: a paragraph, the pieces of a table, room (points), or the end of a page. */
export type FlowItem = { paragraph: Paragraph } | { table: Iterable<Xml> } | { room: number } | { pageBreak: true }

/** Where blocks stand: a page can begin in the body of the document alone. */
export type FlowContainer = 'body' | 'edge' | 'cell'

/**
 * Items below each other. Distances are room before a paragraph, and after the one above a table, for a table has none of its
 * own. Between two tables stands an empty paragraph, or they would become one; and a paragraph is the last.
 */
export function* flow (items: Iterable<FlowItem>, place: FlowContainer, setting: DocxContext): Generator<Xml> {
  /** The paragraph above, until it is known what follows it. */
  let above: Paragraph | undefined
  let isFirst = true
  /** Points that the template asks for; unless it does, the usual ones. */
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

/** What ends above a table, with the distance to it. */
function aboveTable (
  above: Paragraph | undefined,
  { distance, breakBefore, isFirst }: { distance: number, breakBefore: boolean, isFirst: boolean },
  setting: DocxContext
): Xml[] {
  if (above !== undefined && !breakBefore) return [paragraph({ ...above, after: distance }, setting)]
  const own = above === undefined ? [] : [paragraph(above, setting)]
  return isFirst && distance === 0 ? own : [...own, empty({ height: distance, breakBefore }, setting)]
}

/** Points between two blocks. */
export function blockSpacing ({ style }: Pick<DocxContext, 'style'>): number {
  return style.size * 0.6
}

/** A paragraph that nobody sees, as low as can be. */
function empty ({ height, breakBefore = false }: { height: number, breakBefore?: boolean }, setting: DocxContext): Xml {
  return paragraph({ style: setting.paragraph, content: none, before: 0, height: Math.max(1, height), breakBefore }, setting)
}
