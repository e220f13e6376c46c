import { createHash } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { Disk } from 'flydrive'
import { FSDriver } from 'flydrive/drivers/fs'

/** Where the bytes of documents lie. Keys are paths of our own making. */
export type Files = {
  /** Resolves when the bytes would survive a loss of power. */
  put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Stores what comes, as safely as `put`; tells its size in bytes, its SHA-256 in hexadecimal, and its first bytes. */
  receive: (key: string, bytes: Readable) => Promise<Received>
  /** Throws when there is nothing under the key. */
  bytes: (key: string) => Promise<Uint8Array>
  stream: (key: string) => Promise<Readable>
  /** Nothing happens when there is nothing under the key. */
  remove: (key: string) => Promise<void>
  /** The keys below a folder; none when there is no such folder. */
  list: (folder: string) => Promise<string[]>
}

export type Received = { size: number, sha256: string, head: Uint8Array }

/** Keeps files below a folder. */
export function createLocalFiles (folder: string): Files {
  const disk = new Disk(new FSDriver({ location: pathToFileURL(`${folder}/`), visibility: 'private' }))
  return {
    async put (key, bytes) {
      await disk.put(key, bytes)
      await sync(join(folder, key))
    },
    async receive (key, bytes) {
      const meter = createMeter()
      await disk.putStream(key, bytes.compose(meter.pass))
      await sync(join(folder, key))
      return meter.read()
    },
    remove: (key) => disk.delete(key),
    async list (below) {
      const names = await readdir(join(folder, below)).catch(noneWhereMissing)
      return names.map((name) => `${below}/${name}`)
    },
    bytes: (key) => disk.getBytes(key),
    stream: (key) => disk.getStream(key)
  }
}

function noneWhereMissing (error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
  throw error
}

/** As much of a file as tells its type. */
const headLength = 4100

/** Counts and hashes what passes. */
function createMeter (): { pass: (pieces: AsyncIterable<Buffer>) => AsyncIterable<Buffer>, read: () => Received } {
  const digest = createHash('sha256')
  let size = 0
  let head: Uint8Array = new Uint8Array()
  return {
    async * pass (pieces) {
      for await (const piece of pieces) {
        if (head.byteLength < headLength) head = Buffer.concat([head, piece.subarray(0, headLength - head.byteLength)])
        size += piece.byteLength
        digest.update(piece)
        yield piece
      }
    },
    read: () => ({ size, sha256: digest.digest('hex'), head })
  }
}

/** Flushes a file's contents to the disk: what the database says is there must be there after a power cut. */
async function sync (path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}
