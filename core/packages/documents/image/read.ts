import type { ImageData } from '../model/document.ts'
import { renderLimits } from '../model/limits.ts'
import { jpegSize } from './jpeg.ts'
import { type PngFile, readPng, withoutExtras } from './png-file.ts'
import { rgbOf } from './png-pixels.ts'
import { encodePng } from './png-write.ts'
import { hasPixels } from './size.ts'

const dataUri = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/

/** Reads a data URI (`data:image/png;base64,…` or jpeg). Returns the flattened picture, or a sentence that says what is wrong with it. */
export function readImage (uri: string): ImageData | string {
  if (uri.length > renderLimits.imageBytes * 4 / 3 + 100) return tooManyBytes
  const [, format, base64 = ''] = dataUri.exec(uri) ?? []
  if (format !== 'png' && format !== 'jpeg') return 'Expected a PNG or JPEG image as a data URI (data:image/png;base64,…).'
  const image = flattenImage(Buffer.from(base64, 'base64'))
  return typeof image === 'string' || image.format === format ? image : unreadable(format)
}

/**
 * Reads a PNG or JPEG file into the form for documents: a PNG keeps its pixels alone; with transparency, 16 bits or interlace it becomes
 * plain RGB on white, so that this is done once and not for every document. Returns a sentence for a file that is too large, broken, or of
 * another kind.
 */
export function flattenImage (file: Uint8Array): ImageData | string {
  if (file.length > renderLimits.imageBytes) return tooManyBytes
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length)
  if (bytes.length >= 2 && bytes.readUInt16BE(0) === 0xffd8) return flatJpeg(bytes)
  return flatPng(bytes)
}

const tooManyBytes = `An image may have at most ${renderLimits.imageBytes} bytes.`
const tooManyPixels = `An image may have at most ${renderLimits.imagePixels} pixels.`

function unreadable (format: ImageData['format']): string {
  return `The image is not a readable ${format.toUpperCase()} file.`
}

function flatJpeg (bytes: Buffer): ImageData | string {
  const size = jpegSize(bytes)
  if (size === undefined || !hasPixels(size)) return unreadable('jpeg')
  return size.width * size.height > renderLimits.imagePixels ? tooManyPixels : { format: 'jpeg', bytes, ...size }
}

function flatPng (bytes: Buffer): ImageData | string {
  const file = readPng(bytes)
  if (file === undefined || !hasPixels(file)) return unreadable('png')
  if (!('data' in file)) return tooManyPixels
  const { width, height } = file
  if (isFlat(file)) return { format: 'png', bytes: withoutExtras(bytes), width, height }
  const data = rgbOf(file)
  return data === undefined ? unreadable('png') : { format: 'png', bytes: encodePng({ width, height, color: 'rgb', data }), width, height }
}

function isFlat ({ type, depth, isInterlaced, transparency }: PngFile): boolean {
  return (type === 0 || type === 2 || type === 3) && depth <= 8 && !isInterlaced && transparency.length === 0
}

/** A picture as a data URI for {@link readImage}. */
export function dataUriOf ({ format, bytes }: ImageData): string {
  return `data:image/${format};base64,${Buffer.from(bytes).toString('base64')}`
}
