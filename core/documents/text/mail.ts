import type { ResolvedBlock, TextBlock } from '../document.ts'
import { linked, plain } from './inline.ts'
import { keyValues, table } from './table.ts'
import { lengthOf, wrap } from './wrap.ts'

/** Blocks as lines of a width (characters) for mail, an empty line between two of them; columns stand below each other. */
export function * mailLines (blocks: readonly ResolvedBlock[], width: number, locale: string): Generator<string> {
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
    case 'heading': return heading(block, width, locale)
    case 'paragraph': return wrap(plain(block.runs, locale), width)
    case 'columns': return mailLines(block.columns.flatMap(({ blocks }) => blocks), width, locale)
    case 'keyValues': return keyValues(block, width, locale)
    case 'table': return table(block, width, locale)
    case 'image': return block.alt === '' ? [] : wrap(`[${block.alt}]`, width)
    case 'button': return wrap(plain(linked(block), locale), width)
    case 'signature': return ['_'.repeat(40), ...wrap(plain(block.label, locale), width)]
    case 'pageBreak':
    case 'rule': return ['-'.repeat(width)]
    case 'spacer': return []
  }
}

/** Lines under the headings of level 1 and 2. */
const underlines = ['=', '-']

function heading ({ runs, level }: TextBlock & { level: number }, width: number, locale: string): string[] {
  const lines = wrap(plain(runs, locale), width)
  const underline = underlines[level - 1]
  return underline === undefined ? lines : [...lines, underline.repeat(Math.max(...lines.map(lengthOf)))]
}
