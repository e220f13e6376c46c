import { crc32, deflateSync } from 'node:zlib'

/** Pixels row by row, each row in whole bytes: grey of one bit, or RGB of three bytes per pixel. */
export type Pixels = { width: number, height: number, color: 'bit' | 'rgb', data: Uint8Array }

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

/**
 * Bits of a sample and the number of a colour type (W3C PNG, 11.2.1), and zlib's level: the equal rows of a code take half the time at
 * level 4, for a few bytes more.
 */
const colors = { bit: { depth: 1, type: 0, level: 4 }, rgb: { depth: 8, type: 2, level: 6 } } as const

/** A PNG file without alpha or interlace. Every reader accepts it, and a PDF can contain its data unchanged. */
export function encodePng ({ width, height, color, data }: Pixels): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  const { depth, type, level } = colors[color]
  header.set([depth, type], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(unfiltered(data, data.length / height), { level })),
    chunk('IEND', Buffer.alloc(0))
  ])
}

/** The rows, each after a byte that means "no filter". */
function unfiltered (data: Uint8Array, stride: number): Buffer {
  const rows = Buffer.alloc(data.length + data.length / stride)
  for (let from = 0, to = 0; from < data.length; from += stride, to += stride + 1) rows.set(data.subarray(from, from + stride), to + 1)
  return rows
}

function chunk (type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, checksum])
}
