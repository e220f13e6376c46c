import type { DocumentHandle } from '@dispatch/common'
import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ReadDocument } from '../documents/own-documents.ts'
import { readPieces } from '../documents/pieces.ts'
import { type LeaseCheck, requireLease } from '../outcome/lease-check.ts'
import { type CallProgress, codeOf, letOut, providerErrorOf, RequestFailure } from '../outcome/request-outcome.ts'
import { isInFolder } from './folder.ts'

/** The disk that the operator gave to providers (`root`), and this company's folder on it. */
export type CompanyDisk = { root: string, folder: string }

/** A provider's access to the operator's disk, below its company's folder only. */
export type Files = {
  /**
   * Writes a document under a path such as `invoices/F-1.pdf`. It creates the folders and replaces an existing file. Others see the whole
   * document or none, and it survives a power failure. Throws an error that `failureOf` reads. After an error nothing was written, unless
   * it says that the outcome is unknown.
   */
  put: (path: string, document: DocumentHandle) => Promise<void>
}

/** The options of one call's `files`. */
export type FilesOptions = {
  provider: string
  disk?: CompanyDisk
  documents: { read: ReadDocument }
  progress: CallProgress
  ended: AbortSignal
  holds: LeaseCheck
}

/** The `files` of one call of a provider's verb. Writing throws the provider's error for a file that could not be written. */
export function createFiles ({ provider, disk, documents: { read }, progress, ended, holds }: FilesOptions): Files {
  return {
    async put (path, document) {
      const request = { unsafe: true }
      try {
        if (disk === undefined) {
          throw new RequestFailure('not done', 'The operator has not provided a disk: DISPATCH_DISK_ROOT is not set.', { ours: true })
        }
        if (ended.aborted) {
          throw new RequestFailure('not done', `The provider "${provider}" wrote a file after its call had ended.`, { ours: true })
        }
        requireLease(holds)
        const target = await pathBelow(disk, path)
        letOut({ provider, progress, ended }, { request })
        await place(target, document, read, ended)
        progress.done(request)
      } catch (error) {
        throw providerErrorOf(error instanceof RequestFailure ? error : unwritten('not done', error), progress, request)
      }
    }
  }
}

/** The message leaves out the server's own paths. */
function unwritten (verdict: 'not done' | 'uncertain', cause: unknown): RequestFailure {
  return new RequestFailure(verdict, `The file could not be written (${codeOf(cause) || 'for an unknown reason'}).`, { cause })
}

/** A name that does not lead upwards, is not hidden, and is short enough for file systems. */
const isName = (name: string): boolean => /^[^./\\\p{C}][^/\\\p{C}]*$/u.test(name) && Buffer.byteLength(name) <= 255
const maxNames = 10

/** The absolute path. Its folders are created one by one, and a link that leaves the company's folder is not followed. */
async function pathBelow ({ root, folder }: CompanyDisk, path: string): Promise<string> {
  const names = path.split('/')
  if (names.length > maxNames || !names.every(isName)) {
    throw new RequestFailure('refused',
      'A file\'s path is names of at most 255 bytes separated by "/", ten at most; none begins with a dot.', { code: 'path', ours: true })
  }
  // The root belongs to the operator. If it is missing, a disk is not mounted.
  const own = await folderIn(await realpath(root), folder)
  let at = own
  for (const name of names.slice(0, -1)) {
    at = await folderIn(at, name)
    if (!isInFolder(own, at)) {
      throw new RequestFailure('refused', `"${name}" leads outside the company's folder.`, { code: 'path', ours: true })
    }
  }
  return join(at, names.at(-1) ?? '')
}

async function folderIn (parent: string, name: string): Promise<string> {
  const path = join(parent, name)
  const made = await mkdir(path, { recursive: true })
  if (made !== undefined) await withFile(parent, 'r', (entries) => entries.sync())
  return await realpath(path)
}

/** The document is first written completely under another name, which no provider can use. */
async function place (path: string, document: DocumentHandle, read: ReadDocument, ended: AbortSignal): Promise<void> {
  const folder = dirname(path)
  const draft = join(folder, `.${randomUUID()}.part`)
  try {
    await withFile(draft, 'wx', (file) => write(file, document, read, ended))
    await commit(draft, path, folder)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function write (file: FileHandle, document: DocumentHandle, read: ReadDocument, ended: AbortSignal): Promise<void> {
  const digest = createHash('sha256')
  for await (const piece of readPieces([document], read)) {
    ended.throwIfAborted()
    digest.update(piece)
    await file.writeFile(piece)
  }
  if (digest.digest('hex') !== document.sha256) {
    throw new RequestFailure('not done', `The document ${document.id} differs from the one that was stored.`, { ours: true })
  }
  await file.sync()
  ended.throwIfAborted()
}

/** The point of no return: after a failed rename, it is unknown whether the rename took place. */
async function commit (draft: string, path: string, folder: string): Promise<void> {
  try {
    await rename(draft, path)
    await withFile(folder, 'r', (entries) => entries.sync())
  } catch (error) {
    throw unwritten('uncertain', error)
  }
}

async function withFile (path: string, flags: string, work: (file: FileHandle) => Promise<void>): Promise<void> {
  await using file = await open(path, flags)
  await work(file)
}
