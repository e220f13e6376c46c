import type { Direction } from '../compile/direction.ts'
import type { FontFamily, ResolvedStyle } from '../model/document.ts'
import type { Css } from './element.ts'
import type { Pictures } from './pictures.ts'

/** What all blocks of an HTML document share. */
export type HtmlContext = { style: ResolvedStyle, locale: string, direction: Direction, pictures: Pictures }

/** Fonts that the systems of readers have. */
const fonts: Record<FontFamily, string> = {
  sans: '-apple-system,\'Segoe UI\',Roboto,Helvetica,Arial,sans-serif',
  serif: 'Georgia,\'Times New Roman\',serif',
  mono: 'Menlo,Consolas,monospace'
}

/** Pixels of a length in points, as CSS has them: 96 and 72 to the inch. */
export function pixels (points: number): number {
  return Math.round(points * 96 / 72)
}

/** The document's type as CSS, in another size (points) or colour. It stands on every text: mail programs do not all inherit it. */
export function typeface ({ style }: HtmlContext, { size = style.size, color = style.text }: { size?: number, color?: string } = {}): Css {
  return { 'font-family': fonts[style.font], 'font-size': pixels(size), 'line-height': pixels(size * style.lineHeight), color }
}
