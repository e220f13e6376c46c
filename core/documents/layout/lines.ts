import type { Run } from '../document.ts'
import type { Piece } from './surface.ts'
import { breakAnywhere, unitsOf, type Atom, type Typography, type Unit } from './words.ts'

/** A piece of a line at its distance from the left end, in points. */
export type Placed = Piece & { x: number, link?: string }

/** One line of text, in points. */
export type Line = { pieces: Placed[], width: number }

// Widths are sums of many roundings; a text that just fits must not break.
const tolerance = 0.01

/** Breaks text into lines of a width (points): at spaces and after hyphens, inside a word only when it is wider than a line. */
export function breakLines (runs: readonly Run[], type: Typography, width: number): Line[] {
  const lines: Line[] = []
  let line: Line = { pieces: [], width: 0 }
  let space = 0
  for (const unit of unitsOf(runs, type)) {
    const fitting = unit.width > width + tolerance ? breakAnywhere(unit) : [unit]
    if (fitting.length > 1 && line.pieces.length > 0) next()
    for (const part of fitting) {
      if (line.pieces.length > 0 && line.width + space + part.width > width + tolerance) next()
      append(line, part, line.pieces.length > 0 ? space : 0, type.size)
      space = part.space
    }
    if (unit.end) next()
  }
  if (line.pieces.length > 0) lines.push(line)
  return lines

  function next (): void {
    lines.push(line)
    line = { pieces: [], width: 0 }
    space = 0
  }
}

function append (line: Line, unit: Unit, space: number, size: number): void {
  let gap = space
  for (const atom of unit.atoms) {
    place(line, atom, gap, size)
    gap = 0
  }
}

/** Puts an atom at the end of a line; one that looks like the piece before it continues that piece. */
function place (line: Line, atom: Atom, gap: number, size: number): void {
  const last = line.pieces.at(-1)
  if (last?.face === atom.face && last.color === atom.color && last.link === atom.link) {
    last.text += (gap > 0 ? ' ' : '') + atom.text
    last.width += gap + atom.width
  } else {
    const { text, face, color, link, width } = atom
    line.pieces.push({ text, face, size, color, width, x: line.width + gap, ...(link === undefined ? {} : { link }) })
  }
  line.width += gap + atom.width
}
