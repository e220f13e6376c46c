import type { Direction } from '../compile/direction.ts'
import type { TextRun } from '../model/document.ts'
import { visualOrder } from './bidi.ts'
import type { Face } from './fonts.ts'
import type { ShapedText } from './surface.ts'
import { type Atom, breakAnywhere, type Space, type Typography, type Unit, unitsOf } from './words.ts'

/** A piece of a line, with its distance from the left end in points. `turned`: it is right-to-left. */
export type PlacedPiece = ShapedText & { x: number, turned: boolean, link?: string }

/** One line of text, in points. `base` is the direction of its paragraph. */
export type TextLine = { pieces: PlacedPiece[], width: number, base: Direction }

// Widths are sums with rounding errors. A text that just fits must not break.
const tolerance = 0.01

/** Breaks text into lines of a width (points): at spaces and after hyphens, and inside a word only when it is wider than a line. */
export function breakLines (runs: readonly TextRun[], type: Typography, width: number): TextLine[] {
  const lines: TextLine[] = []
  let line = emptyLine(type.direction)
  let space: Space = { width: 0, level: 0 }
  for (const unit of unitsOf(runs, type)) {
    const fitting = unit.width > width + tolerance ? breakAnywhere(unit, width) : [unit]
    if (fitting.length > 1 && line.items.length > 0) next()
    for (const part of fitting) {
      if (line.items.length > 0 && line.width + space.width + part.width > width + tolerance) next()
      append(line, part, space)
      space = part.space
    }
    if (unit.end) next()
  }
  if (line.items.length > 0) lines.push(placed(line, type.size))
  return lines

  function next (): void {
    lines.push(placed(line, type.size))
    line = emptyLine(type.direction)
    space = { width: 0, level: 0 }
  }
}

/** The content of a line in reading order: atoms, and the spaces between them. */
type Item = Atom | Space
type Reading = { items: Item[], width: number, base: Direction }

function emptyLine (base: Direction): Reading {
  return { items: [], width: 0, base }
}

function append (line: Reading, { atoms, width, base }: Unit, space: Space): void {
  if (line.items.length === 0) line.base = base
  else if (space.width > 0) line.items.push(space)
  line.width += width + (line.items.length === 0 ? 0 : space.width)
  for (const atom of atoms) line.items.push(atom)
}

/** The items in visual order from left to right; adjacent ones with the same look become one piece. */
function placed ({ items, width, base }: Reading, size: number): TextLine {
  const pieces: PlacedPiece[] = []
  let x = 0
  let gap = 0
  for (const item of visualOrder(items)) {
    if ('text' in item) {
      place(pieces, item, x, gap, size)
      gap = 0
    } else {
      gap += item.width
    }
    x += item.width
  }
  return { pieces, width, base }
}

/**
 * Adds an atom at the end of the pieces, after a gap. An atom with the same look extends the piece before it, unless its font has another
 * space, or it is right-to-left: a font reverses words, but not lines.
 */
function place (pieces: PlacedPiece[], { text, face, color, link, level, width }: Atom, x: number, gap: number, size: number): void {
  const last = pieces.at(-1)
  if (last?.face === face && last.color === color && last.link === link && level % 2 === 0 && !last.turned && spans(face, gap, size)) {
    last.text += (gap > 0 ? ' ' : '') + text
    last.width += gap + width
  } else {
    pieces.push({ text, face, size, color, width, x, turned: level % 2 === 1, ...(link === undefined ? {} : { link }) })
  }
}

function spans (face: Face, gap: number, size: number): boolean {
  return gap === 0 || Math.abs(gap - face.space * size / 1000) < tolerance
}
