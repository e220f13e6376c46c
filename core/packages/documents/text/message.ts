import type { ResolvedBlock, ResolvedTotal, TableBlock } from '../model/document.ts'
import { buttonRuns, codeWords, labelled, plainCell, plainRuns } from './inline.ts'

/** Blocks as lines of a message. Nothing is broken, aligned or decorated, because each character may cost money. */
export function* messageLines (blocks: readonly ResolvedBlock[], locale: string): Generator<string> {
  for (const block of blocks) yield* blockLines(block, locale)
}

function blockLines (block: ResolvedBlock, locale: string): Iterable<string> {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return [plainRuns(block.runs, locale)]
    case 'columns':
      return messageLines(block.columns.flatMap(({ blocks }) => blocks), locale)
    case 'keyValues':
      return block.entries.map(({ label, cell }) => labelled(plainRuns(label, locale), plainCell(cell, locale)))
    case 'table':
      return tableLines(block, locale)
    case 'image':
      return block.alt === '' ? [] : [block.alt]
    case 'code':
      return codeWords(block)
    case 'group':
      return messageLines(block.blocks, locale)
    case 'address':
      return [block.sender, ...block.lines].filter((line) => line.length > 0).map((line) => plainRuns(line, locale)).concat(
        ...messageLines(block.beside, locale)
      )
    case 'button':
      return [plainRuns(buttonRuns(block), locale)]
    case 'signature':
      return block.label.length === 0 ? [] : [plainRuns(block.label, locale)]
    case 'spacer':
    case 'pageBreak':
    case 'rule':
      return []
  }
}

function* tableLines ({ columns, sections, totals }: TableBlock, locale: string): Generator<string> {
  yield columns.map(({ header }) => plainRuns(header, locale)).join('; ')
  for (const section of sections) {
    if (section.heading.length > 0) yield plainRuns(section.heading, locale)
    for (const row of section.rows) yield row.map((cell) => plainCell(cell, locale)).join('; ')
    yield* totalLines(section.totals, locale)
  }
  yield* totalLines(totals, locale)
}

function totalLines (totals: readonly ResolvedTotal[], locale: string): string[] {
  return totals.map(({ label, cell }) => labelled(plainRuns(label, locale), plainCell(cell, locale)))
}
