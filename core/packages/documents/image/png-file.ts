import { inflateSync } from 'node:zlib'
import { renderLimits } from '../model/limits.ts'
import { hasPixels, type Size } from './size.ts'

/**
 * A PNG (W3C PNG, 11.2). `samples` of `depth` bits make a pixel; `palette` and `transparency` are PLTE and tRNS; `data` is decompressed.
 */
export type PngFile = Size & {
  depth: number
  type: number
  samples: number
  isInterlaced: boolean
  palette: Buffer
  transparency: Buffer
  data: Buffer
}

const signature = '89504e470d0a1a0a'

/** The samples of a pixel and the permitted depths, for each colour type. */
const types: Readonly<Record<number, { samples: number, depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] }
}

/**
 * Reads a PNG. Its data must have exactly the decompressed size that its header announces: not more (a bomb) and not less (a cut file). Of
 * a picture that is too large, only the size is read.
 */
export function readPng (bytes: Buffer): PngFile | Size | undefined {
  if (bytes.length < 33 || bytes.toString('hex', 0, 8) !== signature || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  const [depth, type, interlace] = [bytes.readUInt8(24), bytes.readUInt8(25), bytes.readUInt8(28)]
  const known = types[type]
  if (known?.depths.includes(depth) !== true || interlace > 1) return undefined
  if (width * height > renderLimits.imagePixels) return { width, height }
  const header = { width, height, depth, type, samples: known.samples, isInterlaced: interlace === 1 }
  const palette = chunksOf(bytes, 'PLTE')
  const data = inflated(chunksOf(bytes, 'IDAT'), passesOf(header).reduce((sum, pass) => sum + pass.height * (pass.stride + 1), 0))
  if (data === undefined || (type === 3 && palette.length < 3)) return undefined
  return { ...header, palette, transparency: chunksOf(bytes, 'tRNS'), data }
}

/**
 * The rows of a pass over the pixels from `x`, `y` in steps of `dx`, `dy`; `stride` is the number of bytes in a row after its filter byte.
 */
export type Pass = Size & { x: number, y: number, dx: number, dy: number, stride: number }

const adam7 = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]] as const

/** The passes of the pixels (8.2), without empty ones. */
export function passesOf ({ width: wide, height: high, depth, samples, isInterlaced }: Omit<
  PngFile,
  'palette' | 'transparency' | 'data' | 'type'
>): Pass[] {
  const steps = isInterlaced ? adam7 : [[0, 0, 1, 1] as const]
  return steps.map(([x, y, dx, dy]) => {
    const [width, height] = [Math.ceil((wide - x) / dx), Math.ceil((high - y) / dy)]
    return { x, y, dx, dy, width, height, stride: Math.ceil(width * samples * depth / 8) }
  }).filter(hasPixels)
}

/** The chunks that a picture cannot do without (11.2). */
const needed = ['IHDR', 'PLTE', 'IDAT', 'IEND']

/**
 * A PNG with its pixels alone. Colour profiles and texts (11.3) are compressed without a limit of their own: a profile of 100 MB fits into
 * 97 kB, and whoever opens a document with it has to inflate it. They also tell who made a picture, and where.
 */
export function withoutExtras (bytes: Buffer): Buffer {
  const kept = chunks(bytes).filter(({ type }) => needed.includes(type)).map(({ whole }) => whole).toArray()
  return Buffer.concat([bytes.subarray(0, 8), ...kept])
}

/** The joined data of the chunks of a type. */
function chunksOf (bytes: Buffer, type: string): Buffer {
  return Buffer.concat(chunks(bytes).filter((chunk) => chunk.type === type).map(({ whole }) => whole.subarray(8, -4)).toArray())
}

/** The chunks of a file. A chunk is length, type, data, checksum. */
function* chunks (bytes: Buffer): Generator<{ type: string, whole: Buffer }> {
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + bytes.readUInt32BE(at)
    yield { type: bytes.toString('latin1', at + 4, at + 8), whole: bytes.subarray(at, end) }
    at = end
  }
}

function inflated (data: Buffer, expected: number): Buffer | undefined {
  try {
    const bytes = inflateSync(data, { maxOutputLength: expected })
    return bytes.length === expected ? bytes : undefined
  } catch {
    // For any error of zlib, the picture is unreadable.
    return undefined
  }
}
