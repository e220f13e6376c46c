import type { Align } from '../blocks.ts'
import type { Cell } from '../document.ts'
import { formatCell } from '../format.ts'
import type { Box } from './box.ts'
import { numbered, type Setting } from './setting.ts'
import { text, unbroken } from './text.ts'
import type { Typography } from './words.ts'

/** What a cell shows, in a column of a width (points): text breaks into lines, a number never does. */
export function cellBox (cell: Cell, type: Typography, width: number, align: Align, setting: Setting): Box {
  const runs = numbered(formatCell(cell, setting.locale), setting)
  return cell.type === 'text' ? text(runs, type, width, align) : unbroken(runs, type, width, align)
}
