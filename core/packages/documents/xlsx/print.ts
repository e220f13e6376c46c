import { type Direction, sideOf } from '../compile/direction.ts'
import type { ResolvedBlock, TextRun } from '../model/document.ts'
import { readable } from '../render/output.ts'

/** Characters of a header or footer on paper (ECMA-376-1, 18.3.1.39). */
const longest = 255

/** What of a header or footer is printed on every page, in the code of sheets, and the blocks that are left. */
export type Printed = { code: string, rest: ResolvedBlock[] }

/**
 * Takes out the texts with the number of the page in them: it means nothing in a cell. Where they are too long to print they stay, and the
 * number is 1.
 */
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
