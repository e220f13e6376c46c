import type { SignatureBlock } from '../model/document.ts'
import { type Box, shifted } from './box.ts'
import { type LayoutContext, numbered, typography } from './context.ts'
import { indentOf, textBox } from './text.ts'

/** The distance in points between the line and its label. */
const labelGap = 3

/** Empty space for a signature above a line, and the label under it. It is never cut. */
export function signature (block: SignatureBlock, columnWidth: number, setting: LayoutContext): Box {
  const { signer, height } = block
  const { style } = setting
  const width = Math.min(block.width, columnWidth)
  const label = textBox(numbered(block.label, setting), typography(setting, { color: style.muted, size: style.size * 0.9 }), width, 'start')
  return shifted({
    height: height + labelGap + label.height,
    paint (surface, x, y) {
      surface.signature({ signer, x, y, width, height })
      surface.rule(x, y + height, width, 0.6, style.text)
      label.paint(surface, x, y + height + labelGap)
    }
  }, indentOf(width, columnWidth, 'start', setting.direction))
}
