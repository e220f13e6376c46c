import type { FontFamily, Run } from '../document.ts'
import { facesFor, type Face } from './fonts.ts'
import { shape, tidy } from './shape.ts'

/** How a text is set: size in points, line height times the size, colours `#rrggbb`. */
export type Typography = { font: FontFamily, size: number, lineHeight: number, color: string, linkColor: string, bold: boolean }

/** Text in one face and look; width in points. */
export type Atom = { text: string, face: Face, color: string, link: string | undefined, width: number }

/** What stays on one line; `space` is the width of the space behind it, `end` whether its line ends here. In points. */
export type Unit = { atoms: Atom[], width: number, space: number, end: boolean }

/** After a hyphen, dash or slash between letters a line may break. */
const breaks = /(?<=[\p{L}\p{N}][-–—/])(?=\p{L})/u

/** The units of a text: words, and the halves of words with a hyphen. A change of style inside a word does not break it. */
export function unitsOf (runs: readonly Run[], type: Typography): Unit[] {
  const units: Unit[] = []
  let unit = emptyUnit()
  for (const run of runs) {
    const look = lookOf(run, type)
    const lines = tidy('text' in run ? run.text : '').split('\n')
    for (const [index, line] of lines.entries()) {
      if (index > 0) finish({ end: true })
      for (const word of line.split(/( +)/)) {
        if (word.startsWith(' ')) finish({ space: look.space })
        else if (word !== '') addWord(word, look)
      }
    }
  }
  finish({})
  return units

  function addWord (word: string, look: Look): void {
    for (const [index, part] of word.split(breaks).entries()) {
      if (index > 0) finish({})
      for (const atom of atomsOf(part, look, type.size)) addAtom(unit, atom)
    }
  }

  function finish (rest: { space?: number, end?: boolean }): void {
    const last = units.at(-1)
    if (unit.atoms.length > 0 || rest.end === true) units.push({ ...unit, ...rest })
    else if (last !== undefined && rest.space !== undefined) last.space = rest.space
    unit = emptyUnit()
  }
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** The characters of a unit as units of their own, for a word that is wider than its line. */
export function breakAnywhere (unit: Unit): Unit[] {
  const parts = unit.atoms.flatMap((atom) => Array.from(graphemes.segment(atom.text), ({ segment }) => {
    const width = atom.face.advance(segment) * atom.width / (atom.face.advance(atom.text) || 1)
    return { atoms: [{ ...atom, text: segment, width }], width, space: 0, end: false }
  }))
  const last = parts.at(-1)
  if (last !== undefined) last.space = unit.space
  return parts
}

type Look = { faces: readonly Face[], color: string, link: string | undefined, space: number }

function lookOf ({ bold = false, italic = false, link }: Run, type: Typography): Look {
  const faces = facesFor(type.font, { bold: bold || type.bold, italic })
  return { faces, link, color: link === undefined ? type.color : type.linkColor, space: (faces[0]?.space ?? 0) * type.size / 1000 }
}

function atomsOf (text: string, { faces, color, link }: Look, size: number): Atom[] {
  return shape(text, faces).map((segment) => ({ text: segment.text, face: segment.face, color, link, width: segment.width * size / 1000 }))
}

function addAtom (unit: Unit, atom: Atom): void {
  unit.atoms.push(atom)
  unit.width += atom.width
}

function emptyUnit (): Unit {
  return { atoms: [], width: 0, space: 0, end: false }
}
