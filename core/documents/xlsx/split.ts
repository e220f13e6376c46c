import type { ResolvedBlock, TableBlock } from '../document.ts'

/** What stands on a sheet: the blocks above its table, and below it. */
export type Part = { above: readonly ResolvedBlock[], table?: TableBlock, below: readonly ResolvedBlock[] }

/** Blocks in parts with one table at most: text stands above the table that follows it, and what follows the last one below. */
export function split (blocks: readonly ResolvedBlock[]): Part[] {
  const parts: Part[] = []
  let above: ResolvedBlock[] = []
  for (const block of blocks.flatMap(unnested)) {
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

/** Columns with a table in them come apart: their blocks stand below each other. */
function unnested (block: ResolvedBlock): ResolvedBlock[] {
  if (block.kind !== 'columns') return [block]
  const inside = block.columns.flatMap(({ blocks }) => blocks.flatMap(unnested))
  return inside.some(({ kind }) => kind === 'table') ? inside : [block]
}
