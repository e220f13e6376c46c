import { create, type Font, type GlyphRun } from 'fontkit'
import { LRUCache } from 'lru-cache'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import type { Emphasis, FontFamily } from '../model/document.ts'
import { memoizeLru } from '../model/memoize.ts'
import { type CjkLanguage, fallbackFonts, type FontFile } from './fallback-fonts.ts'
import { type Subset, subsetter } from './subset.ts'

/** One font file, read once per process. Sizes are in thousandths of the font size. */
export type Face = {
  /** The name of its file. */
  readonly name: string
  /** The font in pdfkit's form. Its layouts of words are cached across documents. */
  readonly font: Font
  readonly ascent: number
  readonly descent: number
  /** The width of a space. */
  readonly space: number
  readonly has: (codePoint: number) => boolean
  readonly advance: (text: string) => number
}

/** DejaVu covers Latin, Greek and Cyrillic. These are its files by family, weight and slant. */
const files: Record<FontFamily, readonly [regular: string, bold: string, italic: string, boldItalic: string]> = {
  sans: ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSans-Oblique', 'DejaVuSans-BoldOblique'],
  serif: ['DejaVuSerif', 'DejaVuSerif-Bold', 'DejaVuSerif-Italic', 'DejaVuSerif-BoldItalic'],
  mono: ['DejaVuSansMono', 'DejaVuSansMono-Bold', 'DejaVuSansMono-Oblique', 'DejaVuSansMono-BoldOblique']
}

/** How many layouts of words are cached for each face: about half a kilobyte each. */
const rememberedLayouts = 5000

/** How many glyphs, and how many of their places, the cached layouts of a face share. Most texts have the same few hundred. */
const sharedParts = 5000

/** The faces for a text. A file is read only when it is first needed. */
export type Faces = {
  readonly first: Face
  /** The first face that has all of these characters. */
  readonly having: (characters: readonly string[]) => Face | undefined
}

const faces = new Map<string, Face>()
const chains = new Map<string, Faces>()

/** The faces for a text: its own, those with more characters, and the installed ones of other scripts, that of the language first. */
export function facesFor (family: FontFamily, { bold = false, italic = false }: Emphasis, language: CjkLanguage = 'ja'): Faces {
  const index = (bold ? 1 : 0) + (italic ? 2 : 0)
  const key = `${family} ${index} ${language}`
  const known = chains.get(key)
  if (known !== undefined) return known
  const names = new Set([files[family][index], files.sans[bold ? 1 : 0], files.sans[0]].map((name) => name ?? 'DejaVuSans'))
  const own = [...names].map((name) => ({ path: `dejavu-fonts-ttf/ttf/${name}.ttf`, characters: /^/ }))
  const chain = chainOf(own, () => fallbackFonts(language, bold))
  chains.set(key, chain)
  return chain
}

function chainOf (own: readonly FontFile[], more: () => readonly FontFile[]): Faces {
  const find = (files: readonly FontFile[], characters: readonly string[]): Face | undefined => {
    for (const file of files) {
      if (!characters.some((character) => file.characters.test(character))) continue
      const face = faceAt(file.path)
      if (characters.every((character) => face.has(character.codePointAt(0) ?? 0))) return face
    }
    return undefined
  }
  return {
    first: faceAt(own[0]?.path ?? ''),
    having: (characters) => find(own, characters) ?? find(more(), characters)
  }
}

/** A face by its file inside of a package. */
function faceAt (path: string): Face {
  const face = faces.get(path) ?? load(path)
  faces.set(path, face)
  return face
}

function load (path: string): Face {
  const file = readFileSync(createRequire(import.meta.url).resolve(path))
  const parsed = create(file)
  if (!('layout' in parsed)) throw new TypeError(`${path} is a collection of fonts; expected one font.`)
  const scale = 1000 / parsed.unitsPerEm
  const inThousandths = scaled(scale)
  const layout = memoizeLru(rememberedLayouts, (text) => inThousandths(layoutOf(parsed, text)))
  const characters = new Set(parsed.characterSet)
  return {
    name: basename(path, '.ttf'),
    font: forPdf(parsed, layout, subsetter(file), scale),
    ascent: parsed.ascent * scale,
    descent: parsed.descent * scale,
    space: layout(' ').advanceWidth,
    has: (codePoint) => characters.has(codePoint),
    advance: (text) => layout(text).advanceWidth
  }
}

/** A piece that ends after thirty marks in a row, more than any language writes, or with the text. */
const marked = /[\s\S]*?\p{M}{30}|[\s\S]+/gu

/** fontkit looks for the letter of a mark back over all marks before it. It is given as many in a row as a language may write. */
function layoutOf (font: Font, text: string): Laid {
  const [first, ...rest] = text.match(marked)?.map((piece) => layoutOfPiece(font, piece)) ?? []
  if (first === undefined) return font.layout(text)
  return rest.length === 0 ? first : {
    glyphs: [first, ...rest].flatMap(({ glyphs }) => glyphs),
    positions: [first, ...rest].flatMap(({ positions }) => positions),
    advanceWidth: rest.reduce((sum, run) => sum + run.advanceWidth, first.advanceWidth)
  }
}

/** fontkit 2.0.4 fails on a mark whose letter has no anchor for it. Such a word is laid out with its marks where the font draws them. */
function layoutOfPiece (font: Font, text: string): GlyphRun {
  try {
    return font.layout(text)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return font.layout(text, { mark: false, mkmk: false, abvm: false, blwm: false })
  }
}

/** A layout in the units of its font. */
type Laid = Pick<GlyphRun, 'glyphs' | 'positions' | 'advanceWidth'>

/** The parts of a layout that pdfkit reads, in thousandths of the font size. */
type Layout = { glyphs: Glyph[], positions: Place[], advanceWidth: number }
type Glyph = { id: number, advanceWidth: number, codePoints: number[] }
/** The place of a glyph. pdfkit adds the width of its glyph, so it is there from the beginning. */
type Place = { xAdvance: number, yAdvance: number, xOffset: number, yOffset: number, advanceWidth: number }

/** Layouts of a face. Equal glyphs and places are one object: as objects of each word they would be most of a thread's memory. */
function scaled (scale: number): (run: Laid) => Layout {
  const [glyphs, positions] = [new LRUCache<string, Glyph>({ max: sharedParts }), new LRUCache<string, Place>({ max: sharedParts })]

  function glyphOf ({ id, advanceWidth, codePoints }: GlyphRun['glyphs'][number]): Glyph {
    return shared(glyphs, `${id} ${codePoints.join(' ')}`, () => ({ id, advanceWidth: advanceWidth * scale, codePoints }))
  }

  function placeOf ({ xAdvance, yAdvance, xOffset, yOffset }: GlyphRun['positions'][number], width: number): Place {
    return shared(positions, `${width} ${xAdvance} ${yAdvance} ${xOffset} ${yOffset}`, () => ({
      xAdvance: xAdvance * scale,
      yAdvance: yAdvance * scale,
      xOffset: xOffset * scale,
      yOffset: yOffset * scale,
      advanceWidth: width * scale
    }))
  }

  return (run) => ({
    glyphs: run.glyphs.map(glyphOf),
    positions: run.positions.map((place, index) => placeOf(place, run.glyphs[index]?.advanceWidth ?? 0)),
    advanceWidth: run.advanceWidth * scale
  })
}

function shared<T extends object> (known: LRUCache<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

/**
 * The font with our subsets and our cache of word layouts. Shaping takes most of a document's time, and documents share their words. Its
 * units are thousandths already: pdfkit scales what it gets in place, and would spoil the cache with any other scale.
 */
function forPdf (font: Font, layout: (text: string) => Layout, createSubset: () => Subset, scale: number): Font {
  const { minX, minY, maxX, maxY } = font.bbox
  const sizes = {
    unitsPerEm: 1000,
    ascent: font.ascent * scale,
    descent: font.descent * scale,
    lineGap: font.lineGap * scale,
    capHeight: font.capHeight * scale,
    xHeight: font.xHeight * scale,
    bbox: { minX: minX * scale, minY: minY * scale, maxX: maxX * scale, maxY: maxY * scale }
  }
  const parts = { ...sizes, layout, createSubset }
  return Object.create(font, Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, { value }]))) as Font
}
