import type { AddressBlock, ResolvedBlock, TextBlock } from '../model/document.ts'
import { readable } from '../model/output.ts'
import { buttonRuns, codeWords, plainRuns } from './inline.ts'
import { textKeyValues, textTable } from './table.ts'
import { lengthOf, wrap } from './wrap.ts'

/** Blocks as lines of a width (characters) for mail, with an empty line between two blocks. Columns are below each other. */
export function* mailLines (blocks: readonly ResolvedBlock[], width: number, locale: string): Generator<string> {
  let started = false
  for (const block of blocks) {
    let between = started
    for (const line of blockLines(block, width, locale)) {
      if (between) yield ''
      between = false
      started = true
      yield line
    }
  }
}

function blockLines (block: ResolvedBlock, width: number, locale: string): Iterable<string> {
  switch (block.kind) {
    case 'heading':
      return heading(block, width, locale)
    case 'paragraph':
      return wrap(plainRuns(block.runs, locale), width)
    case 'columns':
      return mailLines(block.columns.flatMap(({ blocks }) => blocks), width, locale)
    case 'keyValues':
      return textKeyValues(block, width, locale)
    case 'table':
      return textTable(block, width, locale)
    case 'image':
      return block.alt === '' ? [] : wrap(`[${readable(block.alt)}]`, width)
    case 'code':
      return codeWords(block).flatMap((words) => wrap(words, width))
    case 'group':
      return mailLines(block.blocks, width, locale)
    case 'address':
      return address(block, width, locale)
    case 'button':
      return wrap(plainRuns(buttonRuns(block), locale), width)
    case 'signature':
      return ['_'.repeat(40), ...wrap(plainRuns(block.label, locale), width)]
    case 'pageBreak':
    case 'rule':
      return ['-'.repeat(width)]
    case 'spacer':
      return []
  }
}

/** The sender, the recipient, and the content beside them, below each other. */
function* address ({ sender, lines, beside }: AddressBlock, width: number, locale: string): Generator<string> {
  if (sender.length > 0) yield* wrap(plainRuns(sender, locale), width)
  for (const line of lines) yield* wrap(plainRuns(line, locale), width)
  if (beside.length === 0) return
  yield ''
  yield* mailLines(beside, width, locale)
}

/** The lines under headings of level 1 and 2. */
const underlines = ['=', '-']

function heading ({ runs, level }: TextBlock & { level: number }, width: number, locale: string): string[] {
  const lines = wrap(plainRuns(runs, locale), width)
  const underline = underlines[level - 1]
  return underline === undefined ? lines : [...lines, underline.repeat(Math.max(...lines.map(lengthOf)))]
}
