import { createHash, hash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { FileDamaged, StorageUnavailable } from './errors.ts'
import { type FileKeys, opened, sealed, sealedWhole } from './sealing.ts'

/**
 * Stores the bytes of documents. Keys are paths that this service makes. A stored file survives a power failure. A file that could not be
 * stored, for example on a full disk, leaves nothing behind.
 */
export type FileStore = {
  /** Throws where nothing can be stored. */
  ready: () => Promise<void>
  /** A small file that is not recorded anywhere, unchecked; undefined where there is none. */
  read: (key: string) => Promise<Uint8Array | undefined>
  put: (key: string, bytes: Uint8Array) => Promise<void>
  /** Stores a stream. Answers its size in bytes, its SHA-256 in hexadecimal, and its first bytes. */
  receive: (key: string, bytes: Readable) => Promise<StoredBytes>
  /**
   * Reads a file, after all of its bytes were checked. Throws a FileDamaged where they differ from what was stored, or are missing.
   */
  stream: (file: StoredFile) => Promise<Readable>
  /** Checks a file and throws as `stream` does. */
  check: (file: StoredFile) => Promise<void>
  /** Does nothing when there is no such file. */
  remove: (key: string) => Promise<void>
  /** The keys in a folder, with the drafts that ended processes left there. Empty when there is no such folder. */
  list: (folder: string) => Promise<string[]>
  /** The keys of all files below a folder, at whatever depth. Empty when there is no such folder. */
  listBelow: (folder: string) => Promise<string[]>
  /** Removes all that is below a folder, at whatever depth. It may be interrupted, and does nothing when there is no such folder. */
  removeBelow: (folder: string) => Promise<void>
}

/** A file as it was stored. `size` in bytes, `sha256` in lowercase hexadecimal. */
export type StoredFile = { key: string, size: number, sha256: string }

export type StoredBytes = { size: number, sha256: string, head: Uint8Array }

/** The ending of the names of draft files. */
export const draftEnding = '.part'

/** Keeps files below a folder; sealed, where there is a key for them. */
export function createLocalFiles (folder: string, keys: FileKeys = noKeys): FileStore {
  const pathOf = (key: string): string => join(folder, key)
  return {
    ready: () => makeFolder(folder),
    read: (key) => readIfThere(pathOf(key)),
    async put (key, bytes) {
      const stored = await sealing(keys, key, bytes)
      await writeAtomically(pathOf(key), (file) => file.writeFile(stored)).catch(notStored)
    },
    async receive (key, bytes) {
      const { pieces, found } = measured(bytes)
      const stored = await sealingStream(keys, key, pieces)
      await writeAtomically(pathOf(key), (file) => write(file, stored)).catch(notStored)
      return found()
    },
    async stream (file) {
      const handle = await openStored(pathOf(file.key), file)
      return checkedStream(keys, file, handle)
    },
    async check (file) {
      await using handle = await openStored(pathOf(file.key), file)
      await mustBeWhole(keys, file, handle)
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async list (below) {
      const names = await readdir(pathOf(below)).catch(noneWhereMissing)
      return names.map((name) => `${below}/${name}`)
    },
    async listBelow (below) {
      const entries = await readdir(pathOf(below), { recursive: true, withFileTypes: true }).catch(noneWhereMissing)
      return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    },
    async removeBelow (below) {
      const path = pathOf(below)
      await rm(path, { recursive: true, force: true })
      await syncFolder(dirname(path)).catch(noneWhereMissing)
    }
  }
}

/** Nothing is sealed, and nothing sealed is opened. */
export const noKeys: FileKeys = {
  current: () => Promise.resolve(undefined),
  find: () => Promise.reject(new StorageUnavailable('away', new Error('The file is sealed, and there are no keys.')))
}

/** The bytes of a file as they are stored. */
export async function sealing (keys: FileKeys, file: string, bytes: Uint8Array): Promise<Uint8Array> {
  const key = await keys.current(file)
  return key === undefined ? bytes : sealedWhole(key, file, bytes)
}

/** The same of bytes that come. */
export async function sealingStream (keys: FileKeys, file: string, pieces: Pieces): Promise<Pieces> {
  const key = await keys.current(file)
  return key === undefined ? pieces : sealed(key, file, pieces)
}

/** Bytes up to which a stored file is read once, into memory; a larger one is read to check it, and again to pass it on. */
const readOnce = 256 * 1024

/**
 * The bytes of a file that lies on this machine, once all of them were checked; its handle is closed with the stream, or where this throws.
 */
export async function checkedStream (keys: FileKeys, file: StoredFile, handle: FileHandle): Promise<Readable> {
  try {
    const { size } = await handle.stat()
    if (size <= readOnce) {
      const bytes = await readWhole(keys, file, handle)
      await handle.close()
      return Readable.from([bytes], { objectMode: false })
    }
    await mustBeWhole(keys, file, handle)
    const stored = handle.createReadStream({ start: 0 })
    const bytes = Readable.from(opened(keys.find, file.key, stored), { objectMode: false })
    // Of one that nobody begins to read, the pieces do not end.
    return bytes.once('close', () => stored.destroy())
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The bytes of a file; undefined where there is none. */
export async function readIfThere (path: string): Promise<Uint8Array | undefined> {
  return readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}

function noneWhereMissing (error: unknown): [] {
  if (isMissing(error)) return []
  throw error
}

/** Whether an error says that there is no such file or folder. */
export function isMissing (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** What a disk says that takes nothing: it is full, over its quota, at its limit for a file, read-only or broken; or files are short. */
const refusals: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'])

function notStored (error: unknown): never {
  if (!(error instanceof Error && 'code' in error && refusals.has(error.code))) throw error
  throw new StorageUnavailable('full', error)
}

/** Writes a draft first and renames it: even after a power failure the file is complete or not there. */
export async function writeAtomically<Written> (
  path: string,
  write: (file: FileHandle) => Promise<Written>,
  draft = path + draftEnding
): Promise<Written> {
  try {
    await using file = await openDraft(draft)
    const written = await write(file)
    await file.sync()
    await rename(draft, path)
    await syncFolder(dirname(path))
    return written
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Makes the folder where it is missing: nearly always it is there. */
async function openDraft (draft: string): Promise<FileHandle> {
  const opened = (): Promise<FileHandle> => open(draft, 'w', 0o600)
  return opened().catch(async (error: unknown) => {
    if (!isMissing(error)) throw error
    await makeFolder(dirname(draft))
    return opened()
  })
}

/** Makes a folder and its parents. Each parent is synced, because it holds the entry of the folder in it. */
export async function makeFolder (path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

/** Makes the entries of a folder survive a power failure. */
export async function syncFolder (path: string): Promise<void> {
  await using folder = await open(path)
  await folder.sync()
}

/** Bytes from which the type of a file can be told. */
const headLength = 4100

/** Bytes as they come. */
type Pieces = AsyncIterable<Uint8Array>

async function write (file: FileHandle, pieces: Pieces): Promise<void> {
  for await (const piece of pieces) await file.writeFile(piece)
}

/** Passes a stream on, and tells afterwards what it was. */
export function measured (bytes: Pieces): { pieces: AsyncGenerator<Uint8Array>, found: () => StoredBytes } {
  const digest = createHash('sha256')
  let size = 0
  let head: Uint8Array = new Uint8Array()
  async function* pass (): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      if (head.byteLength < headLength) head = Buffer.concat([head, piece.subarray(0, headLength - head.byteLength)])
      size += piece.byteLength
      digest.update(piece)
      yield piece
    }
  }
  return { pieces: pass(), found: () => ({ size, sha256: digest.digest('hex'), head }) }
}

/** Reads a stream to its end. */
export async function measure (bytes: Pieces): Promise<StoredBytes> {
  const { pieces, found } = measured(bytes)
  while ((await pieces.next()).done !== true);
  return found()
}

async function openStored (path: string, { key }: StoredFile): Promise<FileHandle> {
  return open(path).catch((error: unknown) => {
    throw isMissing(error) ? missing(key, error) : error
  })
}

/** Opens and checks a small file at once. */
async function readWhole ({ find }: FileKeys, file: StoredFile, handle: FileHandle): Promise<Buffer> {
  const stored = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: readOnce })
  const bytes = Buffer.concat(await Array.fromAsync(opened(find, file.key, stored)))
  mustBeSame(file, { size: bytes.length, sha256: hash('sha256', bytes) })
  return bytes
}

/** Reads and checks the whole file. */
async function mustBeWhole ({ find }: FileKeys, file: StoredFile, handle: FileHandle): Promise<void> {
  mustBeSame(file, await measure(opened(find, file.key, handle.createReadStream({ start: 0, autoClose: false }))))
}

/** Throws a FileDamaged where a file has other bytes than were stored. */
export function mustBeSame (stored: StoredFile, { size, sha256 }: Pick<StoredBytes, 'size' | 'sha256'>): void {
  if (size !== stored.size) throw new FileDamaged(stored.key, `it has ${size} bytes instead of ${stored.size}`)
  if (sha256 !== stored.sha256) throw new FileDamaged(stored.key, 'its SHA-256 is another')
}

export function missing (key: string, cause: unknown): FileDamaged {
  return new FileDamaged(key, 'its file is missing', cause)
}
