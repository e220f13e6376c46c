import type { Brand } from './brand.ts'
import type { PageBox, ResolvedStyle } from './document.ts'
import type { TemplateSource } from './model.ts'
import { type PaperSize, points, sheets, usualPaper } from './paper.ts'

/** Paper and margins in points. The default margin is 20 mm. `paper`: the meaning of `auto`. */
export function pageOf (
  { size = usualPaper, orientation = 'portrait', margins = {} }: NonNullable<TemplateSource['page']>,
  paper: PaperSize
): PageBox {
  const [short, long] = sheets[size === 'auto' ? paper : size]
  const [width, height] = orientation === 'portrait' ? [short, long] : [long, short]
  const { top = 20, right = 20, bottom = 20, left = 20 } = margins
  return { width, height, top: points(top), right: points(right), bottom: points(bottom), left: points(left) }
}

/** The style with the defaults filled in. The font and the colours of a brand go before those of the template. */
export function styleOf (style: NonNullable<TemplateSource['style']>, { font, text, accent, muted }: Brand = {}): ResolvedStyle {
  const branded = Object.fromEntries(Object.entries({ font, text, accent, muted }).filter(([, value]) => value !== undefined))
  return { font: 'sans', size: 9, lineHeight: 1.35, text: '#1f2933', accent: '#1d4e89', muted: '#66727f', ...style, ...branded }
}

/** The font size in points of a heading of level 1 to 3. */
export function headingSize (level: number, { size }: ResolvedStyle): number {
  return size * ([2, 1.45, 1.15][level - 1] ?? 1)
}

/** The colour with a name of the style. */
export function colorOf (color: string, style: ResolvedStyle): string {
  return color === 'text' || color === 'accent' || color === 'muted' ? style[color] : color
}
