import { type Direction, sideOf } from '../compile/direction.ts'
import type { Align } from '../model/blocks.ts'
import type { TextRun } from '../model/document.ts'
import type { Box } from './box.ts'
import { facesFor } from './fonts.ts'
import { breakLines, type TextLine } from './lines.ts'
import type { Typography } from './words.ts'

/** A text in a column of a width (points), one line below the other. A cut leaves at least two lines on each side. */
export function textBox (runs: readonly TextRun[], type: Typography, width: number, align: Align): Box {
  return linesBox(breakLines(runs, type, width), { type, width, align })
}

/** A text that must not break, such as an amount: on one line, in a smaller font when it is wider than the column. */
export function singleLineBox (runs: readonly TextRun[], type: Typography, width: number, align: Align): Box {
  const lines = breakLines(runs, type, Infinity)
  const widest = Math.max(0, ...lines.map((line) => line.width))
  if (widest <= width) return linesBox(lines, { type, width, align })
  const smaller = { ...type, size: type.size * width / widest }
  return linesBox(breakLines(runs, smaller, Infinity), { type: smaller, width, align })
}

type Setting = { type: Typography, width: number, align: Align }

function linesBox (lines: readonly TextLine[], setting: Setting): Box {
  const lineHeight = setting.type.size * setting.type.lineHeight
  return {
    height: lines.length * lineHeight,
    paint (surface, x, y) {
      const baseline = y + baselineOf(setting.type)
      for (const [index, line] of lines.entries()) {
        const left = x + indentOf(line.width, setting.width, setting.align, directionOf(line, setting))
        for (const piece of line.pieces) {
          surface.text(piece, left + piece.x, baseline + index * lineHeight)
          if (piece.link !== undefined) surface.link(left + piece.x, y + index * lineHeight, piece.width, lineHeight, piece.link)
        }
      }
    },
    cut (room) {
      const count = Math.min(Math.floor(room / lineHeight), lines.length - 2)
      return count < 2 ? undefined : [linesBox(lines.slice(0, count), setting), linesBox(lines.slice(count), setting)]
    }
  }
}

/** In a left-to-right document each paragraph begins on its own side; in a right-to-left document all begin on the right. */
function directionOf ({ base }: TextLine, { type }: Setting): Direction {
  return type.direction === 'rtl' ? 'rtl' : base
}

/** The distance from the left of a column to something in it (points). */
export function indentOf (width: number, columnWidth: number, align: Align, direction: Direction): number {
  const side = sideOf(align, direction)
  if (side === 'left') return 0
  return (columnWidth - width) / (side === 'right' ? 1 : 2)
}

/** The text is in the vertical middle of its line. */
function baselineOf ({ font, size, lineHeight }: Typography): number {
  const { ascent, descent } = facesFor(font, {}).first
  return size * (lineHeight + (ascent + descent) / 1000) / 2
}
