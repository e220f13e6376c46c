import type { CodeBlock } from '../model/document.ts'
import { type Box, shifted } from './box.ts'
import { type LayoutContext, typography } from './context.ts'
import { stackBoxes } from './stack.ts'
import { indentOf, textBox } from './text.ts'

/** A code with its text under it, never cut. A code that is wider than its column is reduced as a whole. */
export function code (block: CodeBlock, columnWidth: number, setting: LayoutContext): Box {
  const { modules, align, label } = block
  const width = Math.min(block.width, columnWidth)
  const height = block.height * width / block.width
  const indent = indentOf(width, columnWidth, align, setting.direction)
  const bars: Box = {
    height,
    paint: (surface, x, y) => {
      surface.modules(modules(), x + indent, y, width, height)
    }
  }
  if (label === '') return bars
  const words = textBox([{ text: label }], typography(setting, { size: setting.style.size * 0.8 }), width, 'center')
  const { height: whole, paint } = stackBoxes([bars, shifted(words, indent)])
  return { height: whole, paint }
}
