import type { FontFamily, ResolvedStyle } from '../model/document.ts'
import { element, none, type Xml, xmlPart } from '../office/xml.ts'
import { namespace } from './namespaces.ts'

/**
 * The style of a cell. `size` is in points, colours are `#rrggbb`; `format` is a number format; `asText`: the cell stays text when it is
 * edited.
 */
export type CellStyle = FontStyle & {
  align?: Side
  wrap?: boolean
  top?: CellBorder
  bottom?: CellBorder
  format?: string
  asText?: boolean
}
export type Side = 'left' | 'center' | 'right'
export type FontStyle = { bold?: boolean, italic?: boolean, underline?: boolean, size?: number, color?: string }
export type CellBorder = { style: 'hair' | 'thin' | 'medium', color: string }

/** The styles of a workbook, each once. A cell refers to a style by its number. `run` is the style of a piece of text. */
export type Styles = { of: (look: CellStyle) => number, run: (look: FontStyle) => Xml, part: () => string }

/** The ordinary font size of a sheet in points, whatever the size on paper. Other sizes keep their proportion to it. */
export const sheetSize = 10

const fonts: Record<FontFamily, string> = { sans: 'Arial', serif: 'Times New Roman', mono: 'Courier New' }

/** Smaller numbers are built-in formats (ECMA-376-1, 18.8.30). */
const firstFormat = 164

/** The styles of a workbook, each once under its number. */
export function createStyles (style: ResolvedStyle): Styles {
  const piecesOf = remembered(style)
  const { font, border } = piecesOf({})
  const tables = {
    fonts: numbered(font),
    borders: numbered(border),
    formats: numbered(''),
    looks: numbered(lookElement({}, { font: 0, border: 0, format: 0 }))
  }
  const known = new Map<string, number>()
  // The cells of a column share the object of their style.
  const seen = new WeakMap<CellStyle, number>()
  const add = (look: CellStyle): number => {
    const { font, border } = piecesOf(look)
    return tables.looks.number(lookElement(look, {
      font: tables.fonts.number(font),
      border: tables.borders.number(border),
      format: look.format === undefined ? 0 : tables.formats.number(look.format) + firstFormat - 1
    }))
  }
  return {
    of (look) {
      const again = seen.get(look)
      if (again !== undefined) return again
      const key = keyOf(look)
      const number = known.get(key) ?? add(look)
      known.set(key, number)
      seen.set(look, number)
      return number
    },
    run: (look) => element('rPr', {}, ...fontProperties(look, style.text), element('rFont', { val: fonts[style.font] })),
    part: () =>
      xmlPart(
        element('styleSheet', { xmlns: namespace.main }, ...(tables.formats.all().length === 1
          ? []
          : [list('numFmts', tables.formats.all().slice(1).map((formatCode, index) =>
            element('numFmt', { numFmtId: firstFormat + index, formatCode })
          ))]), list('fonts', tables.fonts.all()), list('fills', ['none', 'gray125'].map((patternType) =>
            element('fill', {}, element('patternFill', { patternType }))
          )), list('borders', tables.borders.all()),
          list('cellStyleXfs', [element('xf', { numFmtId: 0, fontId: 0, fillId: 0, borderId: 0 })]), list('cellXfs', tables.looks.all()),
          list('cellStyles', [element('cellStyle', { name: 'Normal', xfId: 0, builtinId: 0 })]))
      )
  }
}

/** The same text for styles that are the same. A format may have any characters, so it is last. */
function keyOf ({ bold, italic, underline, size, color, align, wrap, asText, top, bottom, format }: CellStyle): string {
  const borders = `${top?.style} ${top?.color} ${bottom?.style} ${bottom?.color}`
  return `${bold} ${italic} ${underline} ${size} ${color} ${align} ${wrap} ${asText} ${borders} ${format}`
}

/** The pieces of a look that are the same in all documents of a template. */
type LookPieces = { font: Xml, border: Xml }

/** Keeps the pieces of the looks for as long as the style of a template. Fonts and borders come from the template, so there are few. */
function remembered (style: ResolvedStyle): (look: CellStyle) => LookPieces {
  const known = pieces.get(style) ?? new Map<string, LookPieces>()
  pieces.set(style, known)
  return ({ format, ...look }) => {
    const key = keyOf(look)
    const again = known.get(key)
    if (again !== undefined) return again
    const font = element('font', {}, ...fontProperties(look, style.text), element('name', { val: fonts[style.font] }))
    const made = { font, border: borderElement(look) }
    known.set(key, made)
    return made
  }
}

const pieces = new WeakMap<ResolvedStyle, Map<string, LookPieces>>()

/** Things and their numbers; the first one is 0. */
function numbered<T> (first: T): { number: (thing: T) => number, all: () => T[] } {
  const numbers = new Map<T, number>([[first, 0]])
  return {
    number (thing) {
      const number = numbers.get(thing) ?? numbers.size
      numbers.set(thing, number)
      return number
    },
    all: () => [...numbers.keys()]
  }
}

function list (name: string, entries: readonly Xml[]): Xml {
  return element(name, { count: entries.length }, ...entries)
}

/** The properties of a font without its name, in the order of the schema. */
function fontProperties ({ bold, italic, underline, size = sheetSize, color }: FontStyle, usual: string): Xml[] {
  return [
    bold === true ? element('b') : none,
    italic === true ? element('i') : none,
    underline === true ? element('u') : none,
    element('sz', { val: Math.round(size * 2) / 2 }),
    element('color', { rgb: argb(color ?? usual) })
  ]
}

function borderElement ({ top, bottom }: CellStyle): Xml {
  const side = (name: string, stroke: CellBorder | undefined): Xml =>
    stroke === undefined ? element(name) : element(name, { style: stroke.style }, element('color', { rgb: argb(stroke.color) }))
  return top === undefined && bottom === undefined
    ? element('border')
    : element('border', {}, element('left'), element('right'), side('top', top), side('bottom', bottom), element('diagonal'))
}

function lookElement ({ align, wrap, asText }: CellStyle, { font, border, format }: { font: number, border: number, format: number }): Xml {
  const yes = (is: boolean): 1 | undefined => is ? 1 : undefined
  return element('xf', {
    numFmtId: format,
    fontId: font,
    fillId: 0,
    borderId: border,
    xfId: 0,
    quotePrefix: yes(asText === true),
    applyNumberFormat: yes(format > 0),
    applyFont: yes(font > 0),
    applyBorder: yes(border > 0),
    applyAlignment: 1
  }, element('alignment', { horizontal: align, vertical: 'top', wrapText: yes(wrap === true) }))
}

/** A colour without transparency. */
function argb (color: string): string {
  return `FF${color.slice(1).toUpperCase()}`
}
