import multipart from '@fastify/multipart'
import { answerOf, DispatchError, DispatchHeaders, DispatchResponse, refusal, requireService, services, type DocumentUrl, type Pipeline, type Problem, type ReceivedFile, type Receive } from '@dispatch/core'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { dispatchErrors, idempotencyKeyOf, validatorCompiler } from './dispatch.ts'

/** Bytes of a file, and of each text beside it. */
const largestFile = 50 * 1024 * 1024
const largestField = 64 * 1024

/** The form as it is documented. */
const UploadForm = Type.Object({
  file: Type.String({ format: 'binary' }),
  metadata: Type.Optional(Type.String({ description: 'A JSON object of texts.', examples: ['{"orderId":"A-1001"}'] })),
  providerName: Type.Optional(Type.String()),
  callbackUrl: Type.Optional(Type.String()),
  settings: Type.Optional(Type.String({ description: 'A JSON object: runtime parameters of the provider, as it declares them.' }))
})
const textFields = Object.keys(UploadForm.properties).filter((name) => name !== 'file')

/** `POST /api/upload`: a form with one file and texts, in any order. The file goes to the storage as it comes, before anything is dispatched. */
export const uploadRoutes: FastifyPluginAsyncTypebox<{ pipeline: Pipeline, documentUrl: DocumentUrl, receive: Receive }> = async (app, { pipeline, documentUrl, receive }) => {
  await app.register(multipart, { limits: { fileSize: largestFile, fieldSize: largestField, fields: 20, files: 1, parts: 21, headerPairs: 50 }, throwFileSizeLimit: true })

  app.post('/api/upload', {
    validatorCompiler,
    bodyLimit: largestFile + 1024 * 1024,
    config: { errors: dispatchErrors },
    schema: { tags: ['Dispatch'], summary: services.upload.summary, consumes: ['multipart/form-data'], body: UploadForm, headers: DispatchHeaders, response: { 200: DispatchResponse } }
  }, async (request, reply) => {
    // Before a byte of the file is taken.
    requireService(request.actor, 'upload')
    const idempotencyKey = idempotencyKeyOf(request)
    const { fields, file } = await readForm(request, receive)
    const { result, replayed } = await pipeline.dispatch({
      actor: request.actor, services: ['upload'], body: fields, requestId: request.id, file, ...(idempotencyKey === undefined ? {} : { idempotencyKey })
    })
    request.dispatchId = result.dispatchId
    if (replayed) reply.header('idempotency-replayed', 'true')
    return answerOf(result, documentUrl)
  })
}

type Form = { fields: Record<string, string>, file: ReceivedFile }

async function readForm (request: FastifyRequest, receive: Receive): Promise<Form> {
  if (!request.isMultipart()) throw new DispatchError('unsupported_media_type', 'A file comes as a form: send "Content-Type: multipart/form-data".')
  const received: { file?: ReceivedFile } = {}
  try {
    const fields = await readParts(request, receive, received)
    if (received.file === undefined) throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'The file part "file" is required.' }])
    return { fields, file: received.file }
  } catch (error) {
    await received.file?.discard()
    throw formError(error)
  }
}

async function readParts (request: FastifyRequest, receive: Receive, received: { file?: ReceivedFile }): Promise<Record<string, string>> {
  const fields: Record<string, string> = {}
  const problems: Problem[] = []
  for await (const part of request.parts()) {
    if (part.type === 'file' && part.fieldname === 'file' && received.file === undefined) {
      received.file = await receive(request.actor.companyId, { bytes: part.file, filename: part.filename, contentType: part.mimetype })
    } else if (part.type === 'file') {
      part.file.resume()
      problems.push({ path: `/${part.fieldname}`, code: 'unknown_field', message: 'One file is sent, in the part "file".' })
    } else if (textFields.includes(part.fieldname) && !Object.hasOwn(fields, part.fieldname)) {
      fields[part.fieldname] = String(part.value)
    } else {
      problems.push({ path: `/${part.fieldname.slice(0, 60)}`, code: 'unknown_field', message: `Known once each are: ${textFields.join(', ')}, file.` })
    }
  }
  if (problems.length > 0) throw refusal('validation_error', problems)
  return fields
}

/** The form reader's own errors, by their code. */
const tooLarge = new Set(['FST_REQ_FILE_TOO_LARGE', 'FST_PARTS_LIMIT', 'FST_FILES_LIMIT', 'FST_FIELDS_LIMIT'])

function formError (error: unknown): unknown {
  if (error instanceof DispatchError || !(error instanceof Error)) return error
  if ('code' in error && tooLarge.has(String(error.code))) return new DispatchError('payload_too_large', 'The form is larger than its limits: one file of 50 MiB, texts of 64 KiB.', { cause: error })
  return refusal('validation_error', [{ path: '', code: 'unreadable', message: 'The form cannot be read to its end.' }])
}
