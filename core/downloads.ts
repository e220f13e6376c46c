import { type Actor, type DocumentLinks, isUnbounded, maySee, sightOf } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import type { Readable } from 'node:stream'
import { storedFile } from './pipeline/stored-document.ts'
import { type DocumentRow, findDispatch, findDocument, findLinkedDocument } from './store/dispatch/dispatch-views.ts'
import { noteDamage } from './store/dispatch/documents.ts'

/** A document that is handed out. `size` is in bytes. */
export type Download = { filename: string, contentType: string, size: number, content: Readable }

/**
 * Downloads of documents, as long as they are kept. Undefined: there is none, or the actor may not see its dispatch. A file that is missing
 * or changed throws `document_damaged`, and the timeline of its dispatch says so.
 */
export type Downloads = {
  open: (actor: Actor, documentId: string) => Promise<Download | undefined>
  /** By the token of a signed link. */
  openLinked: (token: string) => Promise<Download | undefined>
}

type Options = { database: Database, files: Pick<FileStore, 'stream'>, links: Pick<DocumentLinks, 'verify'>, now: () => Date }

/**
 * Opens stored documents for those who may read them. An expired one is undefined. Throws `document_damaged` where the file is not what was
 * stored, after it has noted that.
 */
export function createDownloads ({ database, files, links, now }: Options): Downloads {
  async function download (document: DocumentRow | undefined): Promise<Download | undefined> {
    if (document === undefined || document.expires_at <= now()) return undefined
    const content = await files.stream(storedFile(document)).catch(async (error: unknown) => {
      if (error instanceof DispatchError && error.word === 'document_damaged') await noteDamage(database, document)
      throw error
    })
    return { filename: document.filename, contentType: document.content_type, size: Number(document.size), content }
  }

  async function findVisible (actor: Actor, documentId: string): Promise<DocumentRow | undefined> {
    const document = await findDocument(database, actor.companyId, documentId)
    if (document === undefined || isUnbounded(sightOf(actor))) return document
    const dispatch = await findDispatch(database, actor.companyId, document.dispatch_id)
    return dispatch !== undefined && maySee(actor, dispatch) ? document : undefined
  }

  return {
    open: async (actor, documentId) => download(await findVisible(actor, documentId)),
    async openLinked (token) {
      const documentId = links.verify(token)
      return documentId === undefined ? undefined : download(await findLinkedDocument(database, documentId))
    }
  }
}
