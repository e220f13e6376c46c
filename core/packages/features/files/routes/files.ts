import { createFairSemaphore } from '@dispatch/common'
import { DispatchError, page, UuidPageQuery } from '@dispatch/contract'
import { compileValidator, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { FileForm, FileQuery, FileView, UploadQuery } from '../contract/files.ts'
import type { UploadedFiles } from '../service/files.ts'
import { takeFile } from './upload.ts'

const tags = ['Documents']
/** A file as a client reads it, for the documentation. */
const example: FileView = {
  id: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
  filename: 'terms.pdf',
  contentType: 'application/pdf',
  size: 48_213,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  userId: 7,
  createdAt: '2026-11-27T08:00:00.000Z',
  expiresAt: '2026-11-28T08:00:00.000Z'
}

type Named = { Params: { id: string } }

/** Files that a company uploads for its dispatches. */
export const filesRoutes: FastifyPluginCallbackTypebox<{ uploadedFiles: UploadedFiles }> = (app, { uploadedFiles }, done) => {
  /** Each is written to the storage while it comes. */
  const receiving = createFairSemaphore({
    total: 16,
    perOwner: 4,
    waiting: 20,
    full: () =>
      new DispatchError('rate_limited', 'Other files of the company are being taken in: try again in a few seconds.', { retryAfter: 5 })
  })

  app.get('/api/v1/files', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listFiles',
      tags,
      summary: 'Lists the files that the company has uploaded, the newest first.',
      querystring: UuidPageQuery,
      response: { 200: page(FileView) }
    }
  }, async ({ actor, query: { limit = 25, cursor } }) => {
    const found = await uploadedFiles.list(actor, { limit: limit + 1, after: cursor })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.get<Named & { Querystring: FileQuery }>('/api/v1/files/:id', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'readFile',
      tags,
      summary: 'Tells what is known of an uploaded file.',
      querystring: FileQuery,
      response: { 200: { ...FileView, examples: [example] } }
    }
  }, async ({ actor, params: { id }, query: { waiting: counts = false } }) => {
    const file = await uploadedFiles.read(actor, uuidIn(id, 'file'), { counts })
    if (file === undefined) throw resourceNotFound('file', id)
    return file
  })

  app.delete<Named>('/api/v1/files/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'removeFile',
      tags,
      summary: 'Removes an uploaded file.',
      description: 'A dispatch that names it and has not been sent yet fails.',
      response: { 204: Type.Null() }
    }
  }, async ({ actor, params: { id } }, reply) => {
    if (!await uploadedFiles.remove(actor, uuidIn(id, 'file'))) throw resourceNotFound('file', id)
    return reply.code(204).send(null)
  })

  // In a scope of its own: a file may have any type, and the handler reads it bit by bit.
  app.register((uploads, _options, ready) => {
    uploads.removeAllContentTypeParsers()
    uploads.addContentTypeParser('*', (_request, _body, parsed) => {
      parsed(null)
    })
    uploads.post<{ Querystring: UploadQuery }>('/api/v1/files', {
      config: {
        errors: ['validation_failed', 'payload_too_large', 'unsupported_media_type'],
        limit: 'dispatch',
        readsBitByBit: true
      },
      schema: {
        operationId: 'uploadFile',
        tags,
        summary: 'Takes in a file of 50 MiB at most, for dispatches that name it by its id.',
        description:
          'A form with one part `file`, or the bytes themselves. The type is found from the bytes; a file that is not what its name or ' +
          'its type say is refused, and so is one in which the scanner of the installation finds something. It is kept for 24 hours, and ' +
          'until 30 days after a dispatch that uses it is sent (`email.attachments`, `document`). All files of a company have a limit ' +
          'together.',
        consumes: ['multipart/form-data', 'application/octet-stream'],
        querystring: UploadQuery,
        body: FileForm,
        response: { 201: { ...FileView, examples: [example] } }
      },
      validatorCompiler: (part) => part.httpPart === 'querystring' ? compileValidator(part) : (value: unknown) => ({ value })
    }, async (request, reply) => {
      const { actor } = request
      const file = await receiving.run(actor.companyId, () => takeFile(request, (incoming) => uploadedFiles.add(actor, incoming)))
      return reply.code(201).send(file)
    })
    ready()
  })
  done()
}
