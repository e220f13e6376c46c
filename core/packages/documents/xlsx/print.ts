import { type Direction, sideOf } from '../compile/direction.ts'
import type { ResolvedBlock, TextRun } from '../model/document.ts'
import { readable } from '../model/output.ts'

/** The most characters of a printed header or footer (ECMA-376-1, 18.3.1.39). */
const longest = 255

/** The part of a header or footer that is printed on every page, in the codes of sheets, and the remaining blocks. */
export type Printed = { code: string, rest: ResolvedBlock[] }

/** Removes the texts with a page number, which has no meaning in a cell. A text that is too long to print stays, with the number 1. */
export function printed (blocks: readonly ResolvedBlock[], direction: Direction): Printed {
  const sections: Sections = { left: [], center: [], right: [] }
  const rest = without(blocks, sections, direction)
  const code = codeOf(sections)
  return code.length > longest ? { code: '', rest: [...blocks] } : { code, rest }
}

type Sections = Record<ReturnType<typeof sideOf>, string[]>

function without (blocks: readonly ResolvedBlock[], sections: Sections, direction: Direction): ResolvedBlock[] {
  return blocks.flatMap((block): ResolvedBlock[] => {
    if (block.kind === 'columns') {
      return [{ ...block, columns: block.columns.map((column) => ({ ...column, blocks: without(column.blocks, sections, direction) })) }]
    }
    if ((block.kind !== 'paragraph' && block.kind !== 'heading') || !block.runs.some((run) => 'field' in run)) return [block]
    sections[sideOf(block.align, direction)].push(block.runs.map(codeOfRun).join(''))
    return []
  })
}

function codeOf (sections: Sections): string {
  const codes = { left: '&L', center: '&C', right: '&R' } as const
  return (['left', 'center', 'right'] as const).map((align) =>
    sections[align].length === 0 ? '' : codes[align] + sections[align].join('\n')
  ).join('')
}

function codeOfRun (run: TextRun): string {
  if ('field' in run) return run.field === 'page' ? '&P' : '&N'
  return readable(run.text).replaceAll('&', '&&')
}
