import { DispatchError } from '@dispatch/contract'
import type { Download, Downloads } from '@dispatch/core'
import { fileFormats } from '@dispatch/documents'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

const Download = {
  description: 'The generated, the provider\'s or the uploaded document.',
  content: Object.fromEntries(
    [...Object.values(fileFormats).map(({ contentType }) => contentType), 'application/octet-stream'].map(
      (type) => [type, { schema: { type: 'string', format: 'binary' } }]
    )
  )
}

/** Downloads of documents: with credentials, or by a signed link that is valid as long as the document is kept. */
export const documentsRoutes: FastifyPluginCallbackTypebox<{ downloads: Downloads }> = (app, { downloads }, done) => {
  function send (reply: FastifyReply, download: Download | undefined, absent: () => DispatchError): FastifyReply {
    if (download === undefined) throw absent()
    return reply.headers({
      'content-type': download.contentType,
      'content-length': download.size,
      'content-disposition': contentDisposition(download.filename),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'content-security-policy': 'default-src \'none\'; sandbox'
    }).send(download.content)
  }

  app.get<{ Params: { id: string } }>('/api/v1/documents/:id', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found', 'document_damaged'] },
    schema: {
      operationId: 'downloadDocument',
      tags: ['Documents'],
      summary: 'Downloads a generated document.',
      response: { 200: Download }
    }
  },
    async ({ actor, params }, reply) =>
      send(reply, await downloads.open(actor, uuidIn(params.id, 'document')), () => resourceNotFound('document', params.id)))

  app.get<{ Params: { token: string } }>('/d/:token', {
    config: { public: true, errors: ['not_found', 'document_damaged'] },
    schema: {
      operationId: 'downloadLinkedDocument',
      tags: ['Documents'],
      summary: 'Downloads a generated document by its signed link.',
      response: { 200: Download }
    }
  }, async ({ params }, reply) => send(reply, await downloads.openLinked(params.token), deadLink))
  done()
}

function deadLink (): DispatchError {
  return new DispatchError('not_found', 'There is no document for this link: the link is incomplete, or the document has been deleted.')
}

/** A download under its name, ASCII and in full (RFC 6266, RFC 8187). */
export function contentDisposition (filename: string): string {
  const ascii = filename.replaceAll(/[^\w.-]/g, '_')
  return `attachment; filename="${ascii}"; ` +
    `filename*=UTF-8''${encodeURIComponent(filename).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`
}
