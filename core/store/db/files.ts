import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { DispatchError } from '../../contract/errors.ts'

/**
 * Where the bytes of documents lie. Keys are paths of our own making. What was stored survives a loss of power; what could not be
 * stored, as on a full disk, leaves nothing.
 */
export type FileStore = {
  put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Stores what comes; tells its size in bytes, its SHA-256 in hexadecimal, and its first bytes. */
  receive: (key: string, bytes: Readable) => Promise<StoredBytes>
  /**
   * The bytes of a file, once all of them were seen to be those that were stored; else, and when there is nothing under the key, throws
   * `document_damaged`.
   */
  stream: (file: StoredFile) => Promise<Readable>
  /** Throws as `stream` does. */
  check: (file: StoredFile) => Promise<void>
  /** Nothing happens when there is nothing under the key. */
  remove: (key: string) => Promise<void>
  /** The keys below a folder, with those of drafts that a process left when it ended; none when there is no such folder. */
  list: (folder: string) => Promise<string[]>
}

/** What a file was when it was stored. `size` in bytes, `sha256` in lowercase hexadecimal. */
export type StoredFile = { key: string, size: number, sha256: string }

export type StoredBytes = { size: number, sha256: string, head: Uint8Array }

/** How the key of a draft ends. */
export const draftEnding = '.part'

/** Keeps files below a folder. */
export function createLocalFiles (folder: string): FileStore {
  const pathOf = (key: string): string => join(folder, key)
  return {
    async put (key, bytes) {
      await writeAtomically(pathOf(key), Readable.from([bytes]))
    },
    receive: (key, bytes) => writeAtomically(pathOf(key), bytes),
    async stream (file) {
      const handle = await openStored(pathOf(file.key), file)
      try {
        await mustBeWhole(handle, file)
        return handle.createReadStream({ start: 0 })
      } catch (error) {
        await handle.close()
        throw error
      }
    },
    async check (file) {
      await using handle = await openStored(pathOf(file.key), file)
      await mustBeWhole(handle, file)
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async list (below) {
      const names = await readdir(pathOf(below)).catch(noneWhereMissing)
      return names.map((name) => `${below}/${name}`)
    }
  }
}

function noneWhereMissing (error: unknown): [] {
  if (isMissing(error)) return []
  throw error
}

/** Whether the disk says that there is no such file or folder. */
export function isMissing (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** The whole file under another name first: under its own there is all of it or nothing, whenever the power is lost. */
export async function writeAtomically (path: string, bytes: Readable): Promise<StoredBytes> {
  const draft = path + draftEnding
  await makeFolder(dirname(path))
  try {
    await using file = await open(draft, 'w', 0o600)
    const received = await write(file, bytes)
    await file.sync()
    await rename(draft, path)
    await syncFolder(dirname(path))
    return received
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Makes a folder and those above it; what the disk knows of each is in the one above. */
export async function makeFolder (path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

async function syncFolder (path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

/** As much of a file as tells its type. */
const headLength = 4100

async function write (file: FileHandle, bytes: Readable): Promise<StoredBytes> {
  const digest = createHash('sha256')
  let size = 0
  let head: Uint8Array = new Uint8Array()
  for await (const piece of bytes as AsyncIterable<Uint8Array>) {
    if (head.byteLength < headLength) head = Buffer.concat([head, piece.subarray(0, headLength - head.byteLength)])
    size += piece.byteLength
    digest.update(piece)
    await file.writeFile(piece)
  }
  return { size, sha256: digest.digest('hex'), head }
}

async function openStored (path: string, { key }: StoredFile): Promise<FileHandle> {
  return open(path).catch((error: unknown) => {
    throw isMissing(error) ? damaged(key, 'its file is missing', error) : error
  })
}

/** Reads all of a file before anybody gets a byte of it. */
async function mustBeWhole (file: FileHandle, { key, size, sha256 }: StoredFile): Promise<void> {
  const found = await file.stat()
  if (found.size === size && (await digested(file)).digest('hex') === sha256) return
  throw damaged(key, found.size === size ? 'its SHA-256 is another' : `it has ${found.size} bytes instead of ${size}`)
}

function damaged (key: string, what: string, cause?: unknown): DispatchError {
  const id = key.slice(key.lastIndexOf('/') + 1)
  return new DispatchError('document_damaged',
    `The document ${id} is not what was stored: ${what}. Nothing of it is sent; it is to be restored from a backup, or made by a ` +
      'new request.', { cause })
}

async function digested (file: FileHandle): Promise<Hash> {
  const digest = createHash('sha256')
  for await (const piece of file.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>) digest.update(piece)
  return digest
}
