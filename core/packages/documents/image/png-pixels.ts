import { type Pass, passesOf, type PngFile } from './png-file.ts'

/** The pixels of any PNG as RGB, on white where it is transparent; undefined when a row names an unknown filter. */
export function rgbOf (file: PngFile): Uint8Array | undefined {
  const pixels = new Uint8Array(file.width * file.height * 3)
  const paint = painter(file, pixels)
  let at = 0
  for (const pass of passesOf(file)) {
    let above: Uint8Array = new Uint8Array(pass.stride)
    for (let row = 0; row < pass.height; row++, at += pass.stride + 1) {
      const bytes = file.data.subarray(at + 1, at + 1 + pass.stride)
      const restore = filters[file.data[at] ?? -1]
      if (restore === undefined) return undefined
      unfilter(bytes, above, Math.max(1, file.samples * file.depth / 8), restore)
      paintRow(pass, row, bytes, file.width, paint)
      above = bytes
    }
  }
  return pixels
}

/** The prediction that is added to a byte, from the bytes on its left, above it, and above left (W3C PNG, 9.2). */
type Filter = (left: number, above: number, corner: number) => number
const filters: readonly Filter[] = [
  () => 0,
  (left) => left,
  (_left, above) => above,
  (left, above) => (left + above) >> 1,
  (left, above, corner) => {
    const [toLeft, toAbove, toCorner] = [Math.abs(above - corner), Math.abs(left - corner), Math.abs(left + above - 2 * corner)]
    return toLeft <= toAbove && toLeft <= toCorner ? left : toAbove <= toCorner ? above : corner
  }
]

function unfilter (bytes: Uint8Array, above: Uint8Array, step: number, restore: Filter): void {
  for (let at = 0; at < bytes.length; at++) {
    const left = at < step ? 0 : bytes[at - step] ?? 0
    const corner = at < step ? 0 : above[at - step] ?? 0
    bytes[at] = (bytes[at] ?? 0) + restore(left, above[at] ?? 0, corner)
  }
}

/** Paints the pixel with this number of a row at its place (in pixels) in the whole picture. */
type Paint = (bytes: Uint8Array, pixel: number, place: number) => void

function paintRow ({ x, y, dx, dy, width }: Pass, row: number, bytes: Uint8Array, wide: number, paint: Paint): void {
  const start = (y + row * dy) * wide + x
  for (let pixel = 0; pixel < width; pixel++) paint(bytes, pixel, start + pixel * dx)
}

function painter ({ type, depth, samples, palette, transparency }: PngFile, pixels: Uint8Array): Paint {
  const max = 2 ** depth - 1
  // The transparent colour, compared sample by sample.
  const key = type === 3 || transparency.length < samples * 2
    ? []
    : Array.from({ length: samples }, (_, index) => transparency.readUInt16BE(index * 2))
  const put = (place: number, channel: number, value: number, alpha: number): void => {
    pixels[place * 3 + channel] = Math.round(255 - (1 - value) * 255 * alpha)
  }
  if (type === 3) {
    return (bytes, pixel, place) => {
      const color = sample(bytes, pixel, depth)
      const alpha = (transparency[color] ?? 255) / 255
      for (let channel = 0; channel < 3; channel++) put(place, channel, (palette[color * 3 + channel] ?? 0) / 255, alpha)
    }
  }
  const colors = type === 2 || type === 6 ? 3 : 1
  return (bytes, pixel, place) => {
    const isKey = key.length > 0 && key.every((value, index) => sample(bytes, pixel * samples + index, depth) === value)
    const alpha = isKey ? 0 : samples > colors ? sample(bytes, pixel * samples + colors, depth) / max : 1
    for (let channel = 0; channel < 3; channel++) {
      put(place, channel, sample(bytes, pixel * samples + (colors === 3 ? channel : 0), depth) / max, alpha)
    }
  }
}

/** The sample with this number of a row. */
function sample (bytes: Uint8Array, index: number, depth: number): number {
  if (depth === 8) return bytes[index] ?? 0
  if (depth === 16) return (bytes[index * 2] ?? 0) << 8 | (bytes[index * 2 + 1] ?? 0)
  const bit = index * depth
  return (bytes[bit >> 3] ?? 0) >> (8 - depth - (bit & 7)) & (2 ** depth - 1)
}
