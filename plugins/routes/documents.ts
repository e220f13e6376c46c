import { type Actor, type Database, DispatchError, type DocumentLinks, type DocumentRow, type FileStore, findDispatch, findDocument,
  findLinkedDocument, maySee, noteDamage, storedFile } from '@dispatch/core'
import { fileFormats } from '@dispatch/documents'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

const Download = {
  description: 'The document, as a download: what was made, what a provider made of it, or the file that was uploaded.',
  content: Object.fromEntries(
    [...Object.values(fileFormats).map(({ contentType }) => contentType), 'application/octet-stream'].map(
      (type) => [type, { schema: { type: 'string', format: 'binary' } }]
    )
  )
}

/** Downloads of documents: with credentials, or by a signed link that is valid as long as the document is kept. */
export const documentsRoutes: FastifyPluginCallbackTypebox<
  { database: Database, files: FileStore, links: DocumentLinks, now: () => Date }
> = (app, { database, files, links, now }, done) => {
  async function send (reply: FastifyReply, document: DocumentRow | undefined, absent: () => DispatchError): Promise<FastifyReply> {
    if (document === undefined || document.expires_at <= now()) throw absent()
    const stream = await files.stream(storedFile(document)).catch(async (error: unknown) => {
      if (error instanceof DispatchError) await noteDamage(database, document)
      throw error
    })
    return reply.headers({
      'content-type': document.content_type,
      'content-length': document.size,
      'content-disposition': contentDisposition(document.filename),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'content-security-policy': 'default-src \'none\'; sandbox'
    }).send(stream)
  }

  /** Whoever may not see a dispatch does not see its document either. */
  async function find (actor: Actor, documentId: string): Promise<DocumentRow | undefined> {
    const document = await findDocument(database, actor.companyId, documentId)
    if (document === undefined || maySee(actor, { test: false })) return document
    const dispatch = await findDispatch(database, actor.companyId, document.dispatch_id)
    return dispatch?.test === true ? document : undefined
  }

  app.get<{ Params: { id: string } }>('/api/v1/documents/:id', {
    config: { errors: ['not_found', 'document_damaged'] },
    schema: {
      operationId: 'downloadDocument',
      tags: ['Documents'],
      summary: 'Downloads a generated document.',
      response: { 200: Download }
    }
  },
    async ({ actor, params }, reply) =>
      send(reply, await find(actor, uuidIn(params.id, 'document')), () => resourceNotFound('document', params.id)))

  app.get<{ Params: { token: string } }>('/d/:token', {
    config: { public: true, errors: ['not_found', 'document_damaged'] },
    schema: {
      operationId: 'downloadLinkedDocument',
      tags: ['Documents'],
      summary: 'Downloads a generated document by its signed link.',
      response: { 200: Download }
    }
  }, async ({ params }, reply) => {
    const documentId = links.verify(params.token)
    return send(reply, documentId === undefined ? undefined : await findLinkedDocument(database, documentId), deadLink)
  })
  done()
}

function deadLink (): DispatchError {
  return new DispatchError('not_found', 'This link leads to no document: it was not copied whole, or the document is not kept any more.')
}

/** A download under its name, ASCII and in full (RFC 6266, RFC 8187). */
export function contentDisposition (filename: string): string {
  const ascii = filename.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${ascii}"; ` +
    `filename*=UTF-8''${encodeURIComponent(filename).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`
}
