import { sideOf } from '../compile/direction.ts'
import { formatCell } from '../compile/format.ts'
import type { Align } from '../model/blocks.ts'
import type { Cell } from '../model/document.ts'
import type { Box } from './box.ts'
import { type LayoutContext, numbered } from './context.ts'
import { singleLineBox, textBox } from './text.ts'
import type { Typography } from './words.ts'

/**
 * The content of a cell in a column of a width (points). Text breaks into lines, a number never does. All texts of a column are aligned to
 * the same side.
 */
export function cellBox (cell: Cell, type: Typography, width: number, align: Align, setting: LayoutContext): Box {
  const runs = numbered(formatCell(cell, setting.locale), setting)
  const side = sideOf(align, setting.direction)
  return cell.type === 'text' ? textBox(runs, type, width, side) : singleLineBox(runs, type, width, side)
}
