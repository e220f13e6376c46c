import { inflateSync } from 'node:zlib'
import type { ImageData } from './document.ts'
import { limits } from './limits.ts'

const dataUri = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/

/** Reads a data URI (`data:image/png;base64,…` or jpeg). Gives the picture, or the sentence that says what is wrong with it. */
export function readImage (uri: string): ImageData | string {
  if (uri.length > limits.imageBytes * 4 / 3 + 100) return `An image may have at most ${limits.imageBytes} bytes.`
  const [, format, base64 = ''] = dataUri.exec(uri) ?? []
  if (format !== 'png' && format !== 'jpeg') return 'Expected a PNG or JPEG image as a data URI (data:image/png;base64,…).'
  const bytes = Buffer.from(base64, 'base64')
  const size = format === 'png' ? pngSize(bytes) : jpegSize(bytes)
  if (size === undefined || size.width === 0 || size.height === 0) return `The image is not a readable ${format.toUpperCase()} file.`
  if (size.width * size.height > limits.imagePixels) return `An image may have at most ${limits.imagePixels} pixels.`
  return { format, bytes, ...size }
}

type Size = { width: number, height: number }

const pngSignature = '89504e470d0a1a0a'
/** Samples of a pixel for each colour type of PNG (W3C PNG, 11.2.1). */
const pngSamples: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** The size of a PNG whose data inflate to what its header announces: not more (a bomb) and not less (a torso). */
function pngSize (bytes: Buffer): Size | undefined {
  if (bytes.length < 33 || bytes.toString('hex', 0, 8) !== pngSignature || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  const samples = pngSamples[bytes.readUInt8(25)]
  const interlaced = bytes.readUInt8(28) !== 0
  if (samples === undefined || width * height > limits.imagePixels || interlaced) return samples === undefined || interlaced ? undefined : { width, height }
  const expected = (Math.ceil(width * samples * bytes.readUInt8(24) / 8) + 1) * height
  return inflates(pngData(bytes), expected) ? { width, height } : undefined
}

/** The joined IDAT chunks; a chunk is length, type, data, checksum. */
function pngData (bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)))
  }
  return Buffer.concat(parts)
}

function inflates (data: Buffer, expected: number): boolean {
  try {
    return inflateSync(data, { maxOutputLength: expected }).length === expected
  } catch {
    // Whatever zlib says about it, the picture cannot be read.
    return false
  }
}

function jpegSize (bytes: Buffer): Size | undefined {
  const frame = frameHeader(bytes)
  return frame === undefined ? undefined : { height: frame.readUInt16BE(5), width: frame.readUInt16BE(7) }
}

/** Whether a picture that was read has the four colours of print: a JPEG with four components. */
export function isCmyk ({ format, bytes }: ImageData): boolean {
  return format === 'jpeg' && frameHeader(Buffer.from(bytes))?.[9] === 4
}

/** The bytes from the frame header (SOF) of a baseline or progressive JPEG (ITU T.81, B.2.2). */
function frameHeader (bytes: Buffer): Buffer | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  for (let at = 2; at + 9 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at)
    if (marker >= 0xffc0 && marker <= 0xffc2) return bytes.subarray(at)
    if (marker < 0xff00) return undefined
  }
  return undefined
}
