import type { Block, KeyValues } from '../model/blocks.ts'
import type { ResolvedBlock, ResolvedStyle, TextRun } from '../model/document.ts'
import { colorOf } from '../model/style.ts'
import { compileCell } from './cell.ts'
import { type CompileContext, contextBelow } from './compile-context.ts'
import { compileCondition } from './condition.ts'
import { compileProse } from './prose.ts'
import type { Scope } from './scope.ts'

type Resolve = (scope: Scope) => ResolvedBlock | undefined
type TextSource = Extract<Block, { heading: unknown }>['heading'] | Extract<Block, { paragraph: unknown }>['paragraph']

/** Compiles a heading: a paragraph of a level. */
export function compileHeading (source: TextSource, site: CompileContext, style: ResolvedStyle): Resolve {
  const level = typeof source === 'object' && 'level' in source ? source.level ?? 1 : 1
  const text = compileText(source, site, style)
  return (scope) => {
    const block = text(scope)
    return block?.kind === 'paragraph' ? { ...block, kind: 'heading', level } : undefined
  }
}

/** Compiles a paragraph. An empty one is left out. */
export function compileText (source: TextSource, site: CompileContext, style: ResolvedStyle): Resolve {
  const { text, align = 'start', color = 'text', size } = typeof source === 'string' ? { text: source } : source
  const prose = compileProse(text, typeof source === 'string' ? site : contextBelow(site, 'text'))
  const look = { align, color: colorOf(color, style), ...(size === undefined ? {} : { size }) }
  return (scope) => {
    const runs = prose(scope)
    return runs.length === 0 ? undefined : { kind: 'paragraph', runs, ...look }
  }
}

/** Compiles labels and their values, as far as their `if` holds. Without any of them the block is left out. */
export function compileKeyValues (source: KeyValues, site: CompileContext): Resolve {
  const entries = source.entries.map((entry, index) => {
    const place = contextBelow(site, 'entries', index)
    return {
      holds: compileCondition(entry.if, contextBelow(place, 'if')),
      label: compileProse(entry.label, contextBelow(place, 'label')),
      cell: compileCell(entry, place)
    }
  })
  return (scope) => {
    const shown = entries.filter(({ holds }) => holds(scope)).map(({ label, cell }) => ({ label: label(scope), cell: cell(scope) }))
    return shown.length === 0 ? undefined : { kind: 'keyValues', labels: source.labels ?? 1, values: source.values ?? 1, entries: shown }
  }
}

/** Cuts runs at their line breaks. */
export function splitLines (runs: readonly TextRun[]): TextRun[][] {
  const lines: TextRun[][] = [[]]
  for (const run of runs) {
    for (const [index, text] of ('text' in run ? run.text : '').split('\n').entries()) {
      if (index > 0) lines.push([])
      if (text !== '') lines.at(-1)?.push({ ...run, text })
    }
  }
  return lines.filter((line) => line.length > 0)
}
