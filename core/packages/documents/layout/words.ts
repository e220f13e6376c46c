import type { Direction } from '../compile/direction.ts'
import type { FontFamily, TextRun } from '../model/document.ts'
import { asFontTakes, spansOf } from './bidi.ts'
import { charactersOf, jointsOf, partsOf } from './breaks.ts'
import type { CjkLanguage } from './fallback-fonts.ts'
import { type Face, type Faces, facesFor } from './fonts.ts'
import { shape } from './shape.ts'

/**
 * The look of a text: font size in points, line height as a multiple of it, colours `#rrggbb`. `wide` is the language that decides the
 * forms of Chinese, Japanese and Korean characters.
 */
export type Typography = {
  font: FontFamily
  size: number
  lineHeight: number
  color: string
  linkColor: string
  bold: boolean
  wide: CjkLanguage
  direction: Direction
}

/** Text in one face and look, with one embedding level; width in points. */
export type Atom = { text: string, face: Face, color: string, link: string | undefined, level: number, width: number }

/**
 * A unit that stays on one line. `space` is the space after it, `end` says whether its line ends here, `base` is the direction of its
 * paragraph. Widths are in points.
 */
export type Unit = { atoms: Atom[], width: number, space: Space, end: boolean, base: Direction }
export type Space = { width: number, level: number }

/** The units of a text: words, and the parts of words between which a line may break. A change of style inside a word allows no break. */
export function unitsOf (runs: readonly TextRun[], type: Typography): Unit[] {
  const units: Unit[] = []
  let unit = emptyUnit(type.direction)
  for (const { run, text, level, base } of spansOf(runs, type.direction)) {
    const look = lookOf(run, type, level)
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) finish({ end: true })
      for (const word of line.split(/( +)/)) {
        if (word.startsWith(' ')) finish({ space: look.space })
        else if (word !== '') addWord(word, look, base)
      }
    }
  }
  finish({})
  return units

  function addWord (word: string, look: Look, base: Direction): void {
    for (const [index, part] of partsOf(word).entries()) {
      if (index > 0) finish({})
      unit.base = base
      for (const atom of atomsOf(part, look, type.size)) addAtom(unit, atom)
    }
  }

  function finish (rest: { space?: Space, end?: boolean }): void {
    const last = units.at(-1)
    if (unit.atoms.length > 0 || rest.end === true) units.push({ ...unit, ...rest })
    else if (last !== undefined && rest.space !== undefined) last.space = rest.space
    unit = emptyUnit(type.direction)
  }
}

/** The parts of a unit that is wider than its line: at the breaks of a URL, else between any two characters. */
export function breakAnywhere (unit: Unit, width: number): Unit[] {
  const parts = pieces(unit, jointsOf).flatMap((part) => part.width > width ? pieces(part, charactersOf) : [part])
  const last = parts.at(-1)
  if (last !== undefined) last.space = unit.space
  return parts
}

/** A unit cut into units. */
function pieces ({ atoms, base }: Unit, cut: (text: string) => string[]): Unit[] {
  return atoms.flatMap((atom) =>
    cut(atom.text).map((text) => {
      const width = atom.face.advance(text) * atom.width / (atom.face.advance(atom.text) || 1)
      return { ...emptyUnit(base), atoms: [{ ...atom, text, width }], width }
    })
  )
}

type Look = { faces: Faces, color: string, link: string | undefined, level: number, space: Space }

function lookOf ({ bold = false, italic = false, link }: TextRun, type: Typography, level: number): Look {
  const faces = facesFor(type.font, { bold: bold || type.bold, italic }, type.wide)
  const space = { width: faces.first.space * type.size / 1000, level }
  return { faces, link, color: link === undefined ? type.color : type.linkColor, level, space }
}

function atomsOf (text: string, { faces, color, link, level }: Look, size: number): Atom[] {
  return shape(text, faces).map((segment) => ({
    text: level % 2 === 0 ? segment.text : asFontTakes(segment.text),
    face: segment.face,
    color,
    link,
    level,
    width: segment.width * size / 1000
  }))
}

function addAtom (unit: Unit, atom: Atom): void {
  unit.atoms.push(atom)
  unit.width += atom.width
}

function emptyUnit (base: Direction): Unit {
  return { atoms: [], width: 0, space: { width: 0, level: 0 }, end: false, base }
}
