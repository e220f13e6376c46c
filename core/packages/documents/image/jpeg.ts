import type { ImageData } from '../model/document.ts'
import type { Size } from './size.ts'

/** Frames (SOF) of baseline, extended and progressive JPEG; the other kinds are not in use. */
const frames = { first: 0xffc0, last: 0xffc2 }
const exif = 0xffe1

/**
 * The displayed size of a JPEG with eight bits in grey, RGB or CMYK (ITU T.81, B.2.2). Cameras may turn a picture and say so in the Exif;
 * viewers follow that. Undefined when the file is unreadable.
 */
export function jpegSize (bytes: Buffer): Size | undefined {
  const found = frameOf(bytes)
  return found && frameSize(found.frame, found.isTurned)
}

/** Whether a picture has the four colours of print: a JPEG with four components. */
export function isCmyk ({ format, bytes }: Pick<ImageData, 'format' | 'bytes'>): boolean {
  return format === 'jpeg' && frameOf(Buffer.from(bytes))?.frame.readUInt8(5) === 4
}

function frameOf (bytes: Buffer): { frame: Buffer, isTurned: boolean } | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let isTurned = false
  for (let at = 2; at + 10 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at)
    if (marker < 0xff00) return undefined
    if (marker === exif) isTurned ||= isOnItsSide(bytes.subarray(at + 4, at + 2 + bytes.readUInt16BE(at + 2)))
    if (marker >= frames.first && marker <= frames.last) return { frame: bytes.subarray(at + 4, at + 10), isTurned }
  }
  return undefined
}

/** Precision, lines, samples a line, components. */
function frameSize (frame: Buffer, isTurned: boolean): Size | undefined {
  if (frame.readUInt8(0) !== 8 || ![1, 3, 4].includes(frame.readUInt8(5))) return undefined
  const [height, width] = [frame.readUInt16BE(1), frame.readUInt16BE(3)]
  return isTurned ? { width: height, height: width } : { width, height }
}

const orientation = 0x0112

/** Whether the orientation (Exif 2.3, 4.6.4 A) exchanges width and height: 5 to 8. */
function isOnItsSide (segment: Buffer): boolean {
  if (segment.length < 14 || segment.toString('latin1', 0, 6) !== 'Exif\0\0') return false
  const tiff = segment.subarray(6)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const read = (at: number, bytes: 2 | 4): number =>
    at + bytes > tiff.length ? 0 : isLittle ? tiff.readUIntLE(at, bytes) : tiff.readUIntBE(at, bytes)
  const directory = read(4, 4)
  // As many entries as there is room for: a file may have a hundred thousand segments that announce 65,535 entries each.
  const entries = Math.min(read(directory, 2), Math.floor(tiff.length / 12))
  for (let entry = 0; entry < entries; entry++) {
    const at = directory + 2 + entry * 12
    if (read(at, 2) === orientation) return read(at + 8, 2) >= 5 && read(at + 8, 2) <= 8
  }
  return false
}
