import type { Direction } from '../compile/direction.ts'
import { formatNumber } from '../compile/format.ts'
import type { PageField, ResolvedStyle, TextRun } from '../model/document.ts'
import type { CjkLanguage } from './fallback-fonts.ts'
import type { Typography } from './words.ts'

/**
 * The facts that layout needs besides the blocks: `pageHeight` in points; `numbers` are the values of the page fields in headers and
 * footers.
 */
export type LayoutContext = {
  style: ResolvedStyle
  locale: string
  direction: Direction
  cjkLanguage: CjkLanguage
  pageHeight: number
  numbers: Readonly<Record<PageField, number>>
}

/** The document's font in another size or colour. */
export function typography (
  { style, cjkLanguage: wide, direction }: LayoutContext,
  { size = style.size, color = style.text }: { size?: number, color?: string }
): Typography {
  return { font: style.font, size, lineHeight: style.lineHeight, color, linkColor: style.accent, bold: false, wide, direction }
}

/** The runs with the page numbers filled in. */
export function numbered (runs: readonly TextRun[], { numbers, locale }: LayoutContext): readonly TextRun[] {
  if (!runs.some((run) => 'field' in run)) return runs
  return runs.map((run) => {
    if ('text' in run) return run
    const { field, ...emphasis } = run
    return { ...emphasis, text: formatNumber(numbers[field], locale) }
  })
}
