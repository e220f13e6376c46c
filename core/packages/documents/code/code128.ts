import type { Modules } from '../model/document.ts'
import { modulesOf, rowOf } from './modules.ts'

/** The widths of bars and spaces of the values 0 to 105 and of the stop (ISO/IEC 15417, table 1). */
const patterns = `
  212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222
  123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321
  232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121
  313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224
  111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111
  111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113
  114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112
`.trim().split(/\s+/).map((widths) => Array.from(widths, Number))

/** The values that begin a symbol in a code set, and those that change to it inside a symbol. */
const starts = { B: 104, C: 105 } as const
const changes = { B: 100, C: 99 } as const
const stop = 106

/** The width of the quiet zone on each side, in modules. */
const quietZone = 10

/** Code set C holds two digits in one value. A change to it pays from four digits at an end of the text, and from six inside it. */
const pairs = /(^(?:\d\d){2,}|(?:\d\d){3,}|(?:\d\d){2,}$|^\d\d$)/

/** A Code 128 barcode of up to 80 printable ASCII characters, or a sentence that says what is wrong with the text. */
export function code128Modules (text: string): Modules | string {
  if (!/^[\x20-\x7e]{1,80}$/.test(text)) return 'A Code 128 barcode holds 1 to 80 letters, digits and signs of ASCII.'
  const values = valuesOf(text)
  const check = values.reduce((sum, value, index) => sum + value * Math.max(index, 1), 0) % 103
  const widths = [...values, check, stop].flatMap((value) => patterns[value] ?? [])
  return modulesOf([rowOf(widths, quietZone, quietZone)])
}

/** The values of a text, with the start value first. */
function valuesOf (text: string): number[] {
  const segments = text.split(pairs).map((piece, index) => ({ set: index % 2 === 0 ? 'B' : 'C', piece } as const)).filter(({ piece }) =>
    piece !== ''
  )
  return segments.flatMap(({ set, piece }, index) => [index === 0 ? starts[set] : changes[set], ...encode(piece, set)])
}

function encode (piece: string, set: 'B' | 'C'): number[] {
  return set === 'B' ? Array.from(piece, (character) => character.charCodeAt(0) - 32) : (piece.match(/\d\d/g) ?? []).map(Number)
}
