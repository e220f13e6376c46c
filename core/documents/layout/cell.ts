import type { Align } from '../blocks.ts'
import { sideOf } from '../direction.ts'
import type { Cell } from '../document.ts'
import { formatCell } from '../format.ts'
import type { Box } from './box.ts'
import { numbered, type Setting } from './setting.ts'
import { text, unbroken } from './text.ts'
import type { Typography } from './words.ts'

/** What a cell shows, in a column of a width (points): text breaks into lines, a number never does. A column keeps to one side, whatever its texts. */
export function cellBox (cell: Cell, type: Typography, width: number, align: Align, setting: Setting): Box {
  const runs = numbered(formatCell(cell, setting.locale), setting)
  const side = sideOf(align, setting.direction)
  return cell.type === 'text' ? text(runs, type, width, side) : unbroken(runs, type, width, side)
}
