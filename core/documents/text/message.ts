import type { ResolvedBlock, TableBlock } from '../document.ts'
import { labelled, linked, plain, plainCell } from './inline.ts'

/** Blocks as lines of a message: nothing is broken, aligned or decorated, because each character may cost. */
export function * messageLines (blocks: readonly ResolvedBlock[], locale: string): Generator<string> {
  for (const block of blocks) yield * blockLines(block, locale)
}

function blockLines (block: ResolvedBlock, locale: string): Iterable<string> {
  switch (block.kind) {
    case 'heading':
    case 'paragraph': return [plain(block.runs, locale)]
    case 'columns': return messageLines(block.columns.flatMap(({ blocks }) => blocks), locale)
    case 'keyValues': return block.entries.map(({ label, cell }) => labelled(plain(label, locale), plainCell(cell, locale)))
    case 'table': return tableLines(block, locale)
    case 'image': return block.alt === '' ? [] : [block.alt]
    case 'button': return [plain(linked(block), locale)]
    case 'signature': return block.label.length === 0 ? [] : [plain(block.label, locale)]
    case 'spacer':
    case 'pageBreak':
    case 'rule': return []
  }
}

function * tableLines ({ columns, rows, totals }: TableBlock, locale: string): Generator<string> {
  yield columns.map(({ header }) => plain(header, locale)).join('; ')
  for (const row of rows) yield row.map((cell) => plainCell(cell, locale)).join('; ')
  for (const { label, cell } of totals) yield labelled(plain(label, locale), plainCell(cell, locale))
}
