import type { PageBox } from '../model/document.ts'
import type { LayoutContext } from './context.ts'
import { breakLines } from './lines.ts'
import type { Surface } from './surface.ts'
import { textBox } from './text.ts'
import type { Typography } from './words.ts'

/** Light enough that text over it is readable, in print too. It uses no transparency, because PDF/A restricts it. */
const color = '#e9ecef'

/** The part of the page's diagonal that the word takes, and its largest font size in points. */
const share = 0.7
const largest = 150

/** Paints a word from the lower left to the upper right of a page. Content that is painted later covers it. */
export function watermarkPainter (word: string, { width, height }: PageBox, setting: LayoutContext): (surface: Surface) => void {
  const type = (size: number): Typography => ({
    font: setting.style.font,
    size,
    lineHeight: 1,
    color,
    linkColor: color,
    bold: true,
    wide: setting.cjkLanguage,
    direction: setting.direction
  })
  const diagonal = Math.hypot(width, height)
  const [line] = breakLines([{ text: word.replaceAll('\n', ' ') }], type(1), Infinity)
  const size = Math.min(share * diagonal / (line?.width ?? diagonal), largest)
  const box = textBox([{ text: word.replaceAll('\n', ' ') }], type(size), diagonal, 'center')
  const angle = -Math.atan2(height, width) * 180 / Math.PI
  return (surface) => {
    surface.rotated(angle, width / 2, height / 2, () => {
      box.paint(surface, (width - diagonal) / 2, (height - box.height) / 2)
    })
  }
}
