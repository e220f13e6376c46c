import { deflateSync } from 'node:zlib'

/** A PNG of any kind: `pixel` gives the samples of each pixel; each row is written with the next of the filters. */
export type PngKind = {
  width: number
  height: number
  type: 0 | 2 | 3 | 4 | 6
  depth: number
  isInterlaced?: boolean
  filters?: readonly number[]
  palette?: readonly number[]
  transparency?: Buffer
  pixel: (x: number, y: number) => readonly number[]
}

const steps = [[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]] as const

/** The file of a PNG. */
export function pngFile (kind: PngKind): Buffer {
  const passes = kind.isInterlaced === true ? steps : [[0, 0, 1, 1] as const]
  const rows = passes.flatMap(([x, y, dx, dy]) => filtered(rowsOf(kind, x, y, dx, dy), kind))
  return fileOf(kind, [
    ...kind.palette === undefined ? [] : [chunk('PLTE', Buffer.from(kind.palette))],
    ...kind.transparency === undefined ? [] : [chunk('tRNS', kind.transparency)],
    chunk('IDAT', deflateSync(Buffer.concat(rows)))
  ])
}

/** A file with this header and these chunks, whether they fit it or not. */
export function fileOf (
  { width, height, type, depth, isInterlaced = false }: Pick<PngKind, 'width' | 'height' | 'type' | 'depth' | 'isInterlaced'>,
  chunks: readonly Buffer[]
): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([depth, type, 0, 0, isInterlaced ? 1 : 0], 8)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), ...chunks, chunk('IEND', Buffer.alloc(0))])
}

/** A chunk without a checksum: none is looked at. */
export function chunk (type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
}

function rowsOf ({ width, height, depth, pixel }: PngKind, x: number, y: number, dx: number, dy: number): Buffer[] {
  const rows: Buffer[] = []
  for (let row = y; row < height; row += dy) {
    const samples: number[] = []
    for (let column = x; column < width; column += dx) samples.push(...pixel(column, row))
    if (samples.length > 0) rows.push(packed(samples, depth))
  }
  return rows
}

function packed (samples: readonly number[], depth: number): Buffer {
  const bits = samples.map((sample) => sample.toString(2).padStart(depth, '0')).join('')
  return Buffer.from(bits.match(/.{1,8}/g)?.map((byte) => parseInt(byte.padEnd(8, '0'), 2)) ?? [])
}

function filtered (rows: readonly Buffer[], { type, depth, filters = [0] }: PngKind): Buffer[] {
  const step = Math.max(1, { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[type] * depth / 8)
  return rows.map((row, index) => {
    const filter = filters[index % filters.length] ?? 0
    const above = rows[index - 1] ?? Buffer.alloc(row.length)
    return Buffer.from([
      filter,
      ...row.map((byte, at) => byte - predicted(filter, row[at - step] ?? 0, above[at] ?? 0, above[at - step] ?? 0))
    ])
  })
}

/** W3C PNG, 9.2. */
function predicted (filter: number, a: number, b: number, c: number): number {
  if (filter === 4) return [a, b, c].reduce((best, value) => Math.abs(a + b - c - value) < Math.abs(a + b - c - best) ? value : best)
  return [0, a, b, Math.floor((a + b) / 2)][filter] ?? 0
}
