import { crc32, deflateRawSync } from 'node:zlib'
import { memoizeLru } from '../model/memoize.ts'
import type { Utf8 } from '../model/output.ts'

/**
 * The content of an archive by path. Text is compressed, and bytes (of pictures) are not. Text that is given as a string may come again in
 * other archives; what is in UTF-8 already is the content of a document.
 */
export type ZipEntries = Readonly<Record<string, ZipContent>>
export type ZipContent = string | Utf8 | Uint8Array

/** A text with fewer bytes than this is not worth compressing, and one with more characters is not remembered. */
const [short, common] = [1_000, 10_000]

/**
 * zlib's levels, up to 9. At level 3, a text of a page or two and the numbers of a sheet take a third to a half of the time of level 6,
 * for a tenth more bytes. Another long text would have a third more bytes, and most of its time is spent elsewhere.
 */
const [fast, small] = [3, 6]
/** A text with more bytes is long. */
const long = 50_000

/**
 * A ZIP archive of the parts in their order. All entries have the same time, so that the same parts give the same bytes. It is written here
 * for speed: a small document spends most of its time on it, and Node's zlib takes a third of that.
 */
export function zip (parts: ZipEntries): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(parts).map(([path, part]) => entryOf(path, part))
  const pieces: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let at = 0
  for (const { name, content, facts } of entries) {
    directory.push(signed(0x02014b50, version), facts, placed(at), name)
    pieces.push(signed(0x04034b50), facts, name, content)
    at += 4 + facts.length + name.length + content.length
  }
  return concatenated([...pieces, ...directory, end(entries.length, lengthOf(directory), at)])
}

/** The content of an entry as it stands in the archive. */
type Packed = { content: Uint8Array, method: keyof typeof methods, size: number, checksum: number }

function stored (bytes: Uint8Array): Packed {
  return { content: bytes, method: 'stored', size: bytes.length, checksum: crc32(bytes) }
}

function packed (bytes: Uint8Array, level = bytes.length < long ? fast : small): Packed {
  if (bytes.length < short) return stored(bytes)
  return { ...stored(bytes), content: deflateRawSync(bytes, { level }), method: 'deflated' }
}

/** Most parts are short and the same in all documents of a template; compressing a short one takes longer than all else about it. */
const known = memoizeLru(100, (text) => packed(Buffer.from(text)))

function contentOf (part: ZipContent): Packed {
  if (typeof part === 'string') return part.length < common ? known(part) : packed(Buffer.from(part))
  return 'utf8' in part ? packed(part.utf8, part.isVaried === true ? fast : undefined) : stored(part)
}

type Entry = { name: Buffer, content: Uint8Array, facts: Buffer }

const methods = { stored: 0, deflated: 8 } as const
/** Version 2.0 supports compression; bit 11 says that names are UTF-8 (PKWARE APPNOTE, 4.4.3 and 4.4.4). */
const [version, utf8] = [20, 1 << 11]
/** 1 January 1980, the earliest possible date of an entry. */
const day = 1 << 5 | 1

/** `facts` are the same before the content and in the directory (APPNOTE, 4.3.7 and 4.3.12). */
function entryOf (path: string, part: ZipContent): Entry {
  const { content, method, size, checksum } = contentOf(part)
  const name = Buffer.from(path)
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(version, 0)
  facts.writeUInt16LE(utf8, 2)
  facts.writeUInt16LE(methods[method], 4)
  facts.writeUInt16LE(day, 8)
  facts.writeUInt32LE(checksum, 10)
  facts.writeUInt32LE(content.length, 14)
  facts.writeUInt32LE(size, 18)
  facts.writeUInt16LE(name.length, 22)
  return { name, content, facts }
}

/** The signature of a record, and in the directory also the version that wrote it. */
function signed (signature: number, writer?: number): Buffer {
  const record = Buffer.alloc(writer === undefined ? 4 : 6)
  record.writeUInt32LE(signature, 0)
  if (writer !== undefined) record.writeUInt16LE(writer, 4)
  return record
}

/** The directory's fields after the facts; the last one is the offset of the entry. */
function placed (at: number): Buffer {
  const record = Buffer.alloc(14)
  record.writeUInt32LE(at, 10)
  return record
}

/** The end of the archive (APPNOTE, 4.3.16). */
function end (count: number, size: number, at: number): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(count, 8)
  record.writeUInt16LE(count, 10)
  record.writeUInt32LE(size, 12)
  record.writeUInt32LE(at, 16)
  return record
}

function lengthOf (pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** The pieces as bytes that own their memory. */
function concatenated (pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(lengthOf(pieces))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
