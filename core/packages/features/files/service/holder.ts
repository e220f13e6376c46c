import { DispatchError } from '@dispatch/contract'
import type { Found, Holder, Person } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import { forgetFiles } from '../store/files.ts'
import { hideFiles, isUsedForThemAlone, listHidden, listUploads, type Upload } from '../store/holder.ts'

type Needs = { database: Database, files: FileStore, now: () => Date }

/** Characters that two pieces of a file share, so that what lies across their border is found too: more than any reference has. */
const overlap = 4_500

/**
 * Uploaded files: those whose name or text names the person, and those that were sent to nobody else. The text of a compressed file, such
 * as most PDFs, is not read.
 */
export function filesHolder ({ database, files, now }: Needs): Holder {
  async function names (person: Person, { storage_key: key, size, sha256 }: Upload): Promise<boolean> {
    try {
      // In another encoding than UTF-8 letters with accents are lost; no identifier consists of them alone.
      const decoder = new TextDecoder()
      let before = ''
      for await (const piece of await files.stream({ key, size: Number(size), sha256 }) as AsyncIterable<Buffer>) {
        const text = before + decoder.decode(piece, { stream: true })
        if (person.isIn(text)) return true
        before = text.slice(-overlap)
      }
      return false
    } catch (error) {
      // Nobody can tell whose it is.
      if (error instanceof DispatchError && error.word === 'document_damaged') return false
      throw error
    }
  }

  async function isTheirs (companyId: number, person: Person, file: Upload): Promise<boolean> {
    if (person.isIn(file.filename)) return true
    return await isUsedForThemAlone(database, { companyId, person, file }) || names(person, file)
  }

  return {
    kind: 'files',
    async search (companyId, person, after) {
      const { uploads, next } = await listUploads(database, companyId, after)
      const found: Found[] = []
      for (const file of uploads) {
        const { file_id: id, filename, content_type: contentType, size, created_at: createdAt } = file
        const content = { fileId: id, filename, contentType, size: Number(size), createdAt: createdAt.toISOString() }
        if (await isTheirs(companyId, person, file)) found.push({ id, content })
      }
      return next === undefined ? { found } : { found, next }
    },

    async erase (queries, { companyId }, ids) {
      const hidden = await hideFiles(queries, { companyId, now: now() }, ids)
      return { counts: { files: hidden }, waiting: ids.length - hidden }
    },

    async clean (companyId) {
      for (let left = await listHidden(database, companyId); left.length > 0; left = await listHidden(database, companyId)) {
        for (const { storage_key: key } of left) await files.remove(key)
        await forgetFiles(database, left)
      }
    }
  }
}
