import type { Direction } from '../compile/direction.ts'
import type { FontFamily, ResolvedStyle } from '../model/document.ts'
import type { Css } from './element.ts'
import type { Pictures } from './pictures.ts'

/** The facts that all blocks of an HTML document share. */
export type HtmlContext = { style: ResolvedStyle, locale: string, direction: Direction, pictures: Pictures }

/** Fonts that exist on readers' systems. */
const fonts: Record<FontFamily, string> = {
  sans: '-apple-system,\'Segoe UI\',Roboto,Helvetica,Arial,sans-serif',
  serif: 'Georgia,\'Times New Roman\',serif',
  mono: 'Menlo,Consolas,monospace'
}

/** Pixels for a length in points: CSS has 96 pixels and 72 points per inch. */
export function pixels (points: number): number {
  return Math.round(points * 96 / 72)
}

/** The document's font as CSS, in another size (points) or colour. Every text has it, because not all mail programs support inheritance. */
export function typeface ({ style }: HtmlContext, { size = style.size, color = style.text }: { size?: number, color?: string } = {}): Css {
  return { 'font-family': fonts[style.font], 'font-size': pixels(size), 'line-height': pixels(size * style.lineHeight), color }
}
