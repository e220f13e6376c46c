import { inFlow } from '../compile/flow.ts'
import type { ResolvedBlock, ResolvedStyle, TableBlock } from '../model/document.ts'

/** The blocks of a sheet: above its table, and below it. */
export type SheetSection = { above: readonly ResolvedBlock[], table?: TableBlock, below: readonly ResolvedBlock[] }

/**
 * Divides blocks into parts with at most one table: text is above the table that follows it, and the text after the last table is below it.
 */
export function split (blocks: readonly ResolvedBlock[], style: ResolvedStyle): SheetSection[] {
  const parts: SheetSection[] = []
  let above: ResolvedBlock[] = []
  for (const block of blocks.flatMap((block) => unnested(block, style))) {
    if (block.kind === 'table') {
      parts.push({ above, table: block, below: [] })
      above = []
    } else {
      above.push(block)
    }
  }
  const last = parts.at(-1)
  return last === undefined ? [{ above, below: [] }] : [...parts.slice(0, -1), { ...last, below: above }]
}

/** A block with a table inside is taken apart: its content is put below each other. */
function unnested (block: ResolvedBlock, style: ResolvedStyle): ResolvedBlock[] {
  const inside = insideOf(block, style).flatMap((inner) => unnested(inner, style))
  return inside.some(({ kind }) => kind === 'table') ? inside : [block]
}

function insideOf (block: ResolvedBlock, style: ResolvedStyle): readonly ResolvedBlock[] {
  if (block.kind === 'columns') return block.columns.flatMap(({ blocks }) => blocks)
  if (block.kind === 'address') return inFlow(block, style)
  return block.kind === 'group' ? block.blocks : []
}
