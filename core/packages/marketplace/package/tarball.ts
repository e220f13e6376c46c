import { gzipSync } from 'fflate'
import { gunzipSync } from 'node:zlib'
import { Header, Parser, type ReadEntry } from 'tar'
import { MarketplaceRefusal } from '../refusal.ts'
import { createPathRegister, pathInPackage } from './paths.ts'

const mebibyte = 1024 * 1024

/** Bytes, and the number of files. An adapter with the libraries of its vendor is about 1 MiB. */
export const packageLimits = { packed: 8 * mebibyte, unpacked: 32 * mebibyte, file: 16 * mebibyte, files: 1_000 } as const

/** Bytes: room for a long path in an extended header. */
const longestHeader = 64 * 1024
const blockSize = 512

/**
 * The files of a tarball by their paths below `package/`, in memory. Throws a {@link MarketplaceRefusal} unless every entry is a file with
 * a safe path.
 */
export function readTarball (bytes: Uint8Array): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const register = createPathRegister()
  const parser = new Parser({ strict: true, zstd: false, maxMetaEntrySize: longestHeader })
  parser.on('error', (cause: Error) => {
    throw new MarketplaceRefusal('package_damaged', `It is no whole tarball: ${cause.message}.`, { cause })
  })
  parser.on('ignoredEntry', (entry: ReadEntry) => {
    throw notAFile(entry)
  })
  parser.on('entry', (entry: ReadEntry) => {
    const path = acceptEntry(entry)
    register(path)
    if (files.size >= packageLimits.files) throw tooLarge(`It has more than ${packageLimits.files} files.`)
    files.set(path, Buffer.alloc(0))
    entry.on('data', (chunk) => files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), chunk])))
  })
  parser.end(unzip(bytes))
  return files
}

/** The tar in the gzip: no more of it is unpacked than the limit. */
function unzip (bytes: Uint8Array): Buffer {
  if (bytes.length > packageLimits.packed) throw tooLarge(`It may have at most ${packageLimits.packed} bytes.`)
  const tar = unpacked(bytes)
  // The parser would unpack this once more, without a limit.
  if (isGzip(tar)) throw new MarketplaceRefusal('nested_archive', 'It is compressed twice; compress it once.')
  return tar
}

function unpacked (bytes: Uint8Array): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: packageLimits.unpacked })
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(`Unpacked, it may have at most ${packageLimits.unpacked} bytes.`)
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MarketplaceRefusal('package_damaged', `It must be a tarball compressed with gzip: ${reason}.`, { cause })
  }
}

/** Whether bytes begin as a gzip file does (RFC 1952). */
export function isGzip (bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** The path of an entry that may be in a package. */
function acceptEntry (entry: ReadEntry): string {
  if (entry.type !== 'File' && entry.type !== 'OldFile') throw notAFile(entry)
  const path = pathInPackage(entry.path)
  if (entry.size > packageLimits.file) {
    throw tooLarge(`The file ${JSON.stringify(path)} has ${entry.size} bytes; a file may have at most ${packageLimits.file}.`)
  }
  return path
}

function notAFile ({ type, path }: ReadEntry): MarketplaceRefusal {
  const isLink = type === 'Link' || type === 'SymbolicLink'
  return new MarketplaceRefusal(isLink ? 'link' : 'not_a_file',
    `The entry ${JSON.stringify(path.slice(0, 300))} is of the type ${type}. A package has files only, as "npm pack" writes them.`)
}

function tooLarge (sentence: string): MarketplaceRefusal {
  return new MarketplaceRefusal('package_too_large', sentence)
}

/** The time of every file in a package that npm makes: ZIP files cannot hold an earlier one in all time zones. */
const timeOfFiles = new Date('1985-10-26T08:15:00.000Z')

/**
 * A tarball as "npm pack" makes it. The same files give the same bytes, on every machine: the times, modes and order are fixed, and the
 * compression is not that of Node, whose output depends on the processor.
 */
export function writeTarball (files: ReadonlyMap<string, Uint8Array>): Buffer {
  const entries = [...files].sort(([one], [other]) => one < other ? -1 : 1).flatMap(([path, bytes]) => entryOf(path, bytes))
  const tar = Buffer.concat([...entries, Buffer.alloc(2 * blockSize)])
  return Buffer.from(gzipSync(tar, { level: 9, mtime: 0 }))
}

function entryOf (path: string, bytes: Uint8Array): Uint8Array[] {
  const header = new Header({ path: `package/${path}`, type: 'File', mode: 0o644, size: bytes.length, mtime: timeOfFiles })
  const block = Buffer.alloc(blockSize)
  if (header.encode(block)) throw new MarketplaceRefusal('path_unsafe', `The path ${JSON.stringify(path)} must be shorter and plain ASCII.`)
  return [block, bytes, Buffer.alloc((blockSize - bytes.length % blockSize) % blockSize)]
}
