import { type FontTables, readTables, tableOf, writeTables } from './sfnt.ts'

/** The parts of a subset that pdfkit uses: the new number of a glyph, and the file. */
export type Subset = { includeGlyph: (glyph: number) => number, encode: () => Uint8Array }

/**
 * Makes subsets of a TrueType font directly from the bytes of its file: the glyphs that a document uses, with new numbers and their hints.
 * fontkit decodes and encodes every table, which takes longer than the rest of a document. Format: OpenType 1.9, "glyf", "loca", "hmtx";
 * the tables that a PDF needs: ISO 32000-1, 9.9.
 */
export function subsetter (file: Buffer): () => Subset {
  const tables = readTables(file)
  return () => {
    const glyphs: number[] = []
    const numbers = new Map<number, number>()
    const include = (glyph: number): number => {
      const known = numbers.get(glyph)
      if (known !== undefined) return known
      numbers.set(glyph, glyphs.length)
      return glyphs.push(glyph) - 1
    }
    // Glyph 0 is shown for a missing glyph. Every font begins with it.
    include(0)
    return {
      includeGlyph: include,
      encode: () => encode(tables, glyphs, include)
    }
  }
}

/** `glyphs` grows during the loop: a composite glyph adds its components, which are then processed as well. */
function encode (tables: FontTables, glyphs: readonly number[], include: (glyph: number) => number): Uint8Array {
  const outlines: Buffer[] = []
  for (const glyph of glyphs) outlines.push(renumbered(outlineOf(tables, glyph), include))
  const hints = Object.fromEntries(Object.entries(tables).filter(([tag]) => tag === 'cvt ' || tag === 'fpgm' || tag === 'prep'))
  return writeTables({
    ...hints,
    glyf: Buffer.concat(outlines),
    loca: locations(outlines),
    hmtx: Buffer.concat(glyphs.map((glyph) => metricsOf(tables, glyph))),
    // indexToLocFormat: 1 is four bytes.
    head: withUint16(tableOf(tables, 'head'), 50, 1),
    hhea: withUint16(tableOf(tables, 'hhea'), 34, glyphs.length),
    maxp: withUint16(tableOf(tables, 'maxp'), 4, glyphs.length)
  })
}

function outlineOf (tables: FontTables, glyph: number): Buffer {
  const loca = tableOf(tables, 'loca')
  const isLong = tableOf(tables, 'head').readUInt16BE(50) === 1
  const at = (index: number): number => isLong ? loca.readUInt32BE(index * 4) : loca.readUInt16BE(index * 2) * 2
  return tableOf(tables, 'glyf').subarray(at(glyph), at(glyph + 1))
}

/** The flags of a component ("glyf", component glyph flags). */
const flag = { wordArguments: 0x1, scale: 0x8, moreParts: 0x20, twoScales: 0x40, matrix: 0x80 } as const

/** The outline with new component numbers, if the glyph is composite (its number of contours is negative). */
function renumbered (outline: Buffer, include: (glyph: number) => number): Buffer {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return outline
  const copy = Buffer.from(outline)
  let at = 10
  let flags: number
  do {
    flags = copy.readUInt16BE(at)
    copy.writeUInt16BE(include(copy.readUInt16BE(at + 2)), at + 2)
    const transform = flags & flag.scale ? 2 : flags & flag.twoScales ? 4 : flags & flag.matrix ? 8 : 0
    at += 4 + (flags & flag.wordArguments ? 4 : 2) + transform
  } while (flags & flag.moreParts)
  return copy
}

/** The start of each outline, and the end of the last one. */
function locations (outlines: readonly Buffer[]): Buffer {
  const loca = Buffer.alloc(4 * (outlines.length + 1))
  let end = 0
  for (const [index, outline] of outlines.entries()) {
    end += outline.length
    loca.writeUInt32BE(end, 4 * (index + 1))
  }
  return loca
}

/** Advance and bearing. The glyphs after the last full entry share its advance. */
function metricsOf (tables: FontTables, glyph: number): Buffer {
  const hmtx = tableOf(tables, 'hmtx')
  const full = tableOf(tables, 'hhea').readUInt16BE(34)
  if (glyph < full) return hmtx.subarray(glyph * 4, glyph * 4 + 4)
  const bearing = full * 4 + (glyph - full) * 2
  return Buffer.concat([hmtx.subarray(full * 4 - 4, full * 4 - 2), hmtx.subarray(bearing, bearing + 2)])
}

function withUint16 (table: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(table)
  copy.writeUInt16BE(value, at)
  return copy
}
