import type { DocumentHandle } from '@dispatch/common'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { RequestFailure } from '../outcome/request-outcome.ts'

/** Downloaded documents on the local disk, with hash and size, until they are stored or dropped. */
export type DocumentSpool = {
  /**
   * Writes a document to the spool. Throws a {@link RequestFailure} when it is too large, and passes on an error of the stream. After an
   * error nothing is left on the disk.
   */
  keep: (bytes: Readable, about: { filename: string, contentType: string }) => Promise<DocumentHandle>
  /** Throws (`ENOENT`) when the document is not in the spool. */
  read: (document: DocumentHandle) => Promise<Readable>
  drop: (document: DocumentHandle) => Promise<void>
}

/** The size limit of a document in bytes. */
export const largestDocument = 50 * 1024 * 1024

/**
 * Keeps documents of a call on the disk until it ends. The folder is created when it is needed. `limit` is in bytes: keeping a larger
 * document throws a `RequestFailure`.
 */
export function createDocumentSpool ({ folder, newId, limit = largestDocument }: {
  folder: string
  newId: () => string
  limit?: number
}): DocumentSpool {
  const pathOf = ({ id }: Pick<DocumentHandle, 'id'>): string => join(folder, id)
  return {
    async keep (bytes, about) {
      const id = newId()
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        return { id, ...about, ...await write(bytes, pathOf({ id }), limit) }
      } catch (error) {
        await rm(pathOf({ id }), { force: true })
        throw error
      }
    },
    async read (document) {
      const file = await open(pathOf(document))
      return createReadStream('', { fd: file })
    },
    drop: (document) => rm(pathOf(document), { force: true })
  }
}

async function write (bytes: Readable, path: string, limit: number): Promise<{ size: number, sha256: string }> {
  const digest = createHash('sha256')
  let size = 0
  // The file is opened first. Otherwise a stream that fails at once would leave a file that is created after its removal.
  const file = await open(path, 'wx', 0o600)
  await pipeline(bytes, async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      size += piece.byteLength
      if (size > limit) throw new RequestFailure('uncertain', `The document is larger than ${limit} bytes.`)
      digest.update(piece)
      yield piece
    }
  }, file.createWriteStream())
  return { size, sha256: digest.digest('hex') }
}
