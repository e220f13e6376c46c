import type { Problem } from '@dispatch/common'
import { type Addresses, DispatchError, DispatchResponse, type Pipeline, type Receive, type ReceivedFile, refusal, requireService,
  services } from '@dispatch/core'
import multipart, { type MultipartValue } from '@fastify/multipart'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { answerDispatch, callerOf, dispatchRouteOptions, idempotencyKeyOf } from './dispatch-route.ts'
import { decodedWords } from './encoded-words.ts'

/** Size limits in bytes: of the file, and of each text field. */
const largestFile = 50 * 1024 * 1024
const largestField = 64 * 1024

/** The form as it is documented. */
const UploadForm = Type.Object({
  file: Type.String({ format: 'binary' }),
  metadata: Type.Optional(Type.String({ description: 'A JSON object of texts.', examples: ['{"orderId":"A-1001"}'] })),
  providerName: Type.Optional(Type.String()),
  callbackUrl: Type.Optional(Type.String()),
  settings: Type.Optional(Type.String({ description: 'A JSON object: the request settings that the provider declares.' }))
}, { title: 'UploadForm' })
const textFields = Object.keys(UploadForm.properties).filter((name) => name !== 'file')

/**
 * `POST /api/upload`: a form with one file and text fields, in any order. The file is streamed to the storage before anything is
 * dispatched.
 */
export const uploadRoutes: FastifyPluginAsync<{ pipeline: Pipeline, addresses: Addresses, receive: Receive }> = async (
  app,
  { pipeline, addresses, receive }
) => {
  await app.register(multipart, {
    // An encoded name may have slashes that begin no folder.
    preservePath: true,
    limits: { fileSize: largestFile, fieldSize: largestField, fields: 20, files: 1 + textFields.length, parts: 21, headerPairs: 50 },
    throwFileSizeLimit: true
  })

  app.post('/api/upload', {
    bodyLimit: largestFile + 1024 * 1024,
    ...dispatchRouteOptions({
      operationId: 'dispatchUpload',
      summary: services.upload.summary,
      consumes: ['multipart/form-data'],
      body: UploadForm
    }, [DispatchResponse])
  }, async (request, reply) => {
    // Before a byte of the file is taken.
    requireService(request.actor, 'upload')
    const call = { ...callerOf(request), ...idempotencyKeyOf(request), services: ['upload'] } as const
    const { fields, file } = await readForm(request, receive)
    return answerDispatch({ pipeline, addresses }, { ...call, body: fields, file }, request, reply)
  })
}

type Form = { fields: Record<string, string>, file: ReceivedFile }

async function readForm (request: FastifyRequest, receive: Receive): Promise<Form> {
  if (!request.isMultipart()) {
    throw new DispatchError('unsupported_media_type', 'A file comes as a form: send "Content-Type: multipart/form-data".')
  }
  const received: { file?: ReceivedFile } = {}
  try {
    const fields = await readParts(request, receive, received)
    if (received.file === undefined) {
      throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'The file part "file" is required.' }])
    }
    return { fields, file: received.file }
  } catch (error) {
    await received.file?.discard()
    throw formErrorIn(error) ?? error
  }
}

async function readParts (request: FastifyRequest, receive: Receive, received: { file?: ReceivedFile }): Promise<Record<string, string>> {
  const fields: Record<string, string> = {}
  const problems: Problem[] = []
  for await (const part of piecesOf(request.parts())) {
    if (part.type === 'file' && part.fieldname === 'file' && received.file === undefined) {
      received.file = await receive(request.actor.companyId, {
        bytes: Readable.from(piecesOf(part.file), { objectMode: false }),
        filename: nameIn(part.filename),
        contentType: part.mimetype
      })
    } else if (part.type === 'file' && isNewText(part.fieldname, fields)) {
      // Clients write JSON as a part with a type, and many give each such part a file name.
      fields[part.fieldname] = await textIn(part.file)
    } else if (part.type === 'file') {
      part.file.resume()
      problems.push(oneFile)
    } else if (isNewText(part.fieldname, fields)) {
      fields[part.fieldname] = textOf(part)
    } else if (part.fieldname === 'file') {
      problems.push({ path: '/file', code: 'type', message: 'A text, not a file: give the part a filename.' })
    } else {
      problems.push({
        path: `/${part.fieldname.slice(0, 60)}`,
        code: 'unknown_field',
        message: `The permitted fields, each once, are: ${textFields.join(', ')}, file.`
      })
    }
  }
  if (problems.length > 0) throw refusal('validation_error', problems)
  return fields
}

const oneFile: Problem = { path: '/file', code: 'too_many', message: 'One file is sent, in the part "file".' }
const tooLarge = 'The form exceeds its limits: one file of 50 MiB, texts of 64 KiB.'

/** The name of a file without folders, which some clients write before it. */
function nameIn (given: string): string {
  return decodedWords(given).split(/[\\/]/).at(-1) ?? ''
}

function isNewText (name: string, fields: Readonly<Record<string, string>>): boolean {
  return textFields.includes(name) && !Object.hasOwn(fields, name)
}

/** The text of a part that has a file name. */
async function textIn (bytes: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of piecesOf(bytes)) {
    size += piece.length
    if (size > largestField) throw new DispatchError('payload_too_large', tooLarge)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The text of a field. The form parser has already parsed a field whose content type is JSON, so it is serialised again. */
function textOf ({ value, valueTruncated }: MultipartValue): string {
  if (valueTruncated) throw new DispatchError('payload_too_large', tooLarge)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The parts of the form. Errors of the form become client errors here; errors of the storage do not. */
async function* piecesOf<Piece> (form: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  try {
    yield* form
  } catch (cause) {
    throw formError(cause)
  }
}

/** The form reader's own errors, by their code. */
const formErrors: Record<string, (cause: Error) => DispatchError> = {
  FST_REQ_FILE_TOO_LARGE: (cause) => new DispatchError('payload_too_large', tooLarge, { cause }),
  FST_PARTS_LIMIT: (cause) => new DispatchError('payload_too_large', tooLarge, { cause }),
  FST_FIELDS_LIMIT: (cause) => new DispatchError('payload_too_large', tooLarge, { cause }),
  FST_FILES_LIMIT: () => refusal('validation_error', [oneFile]),
  FST_INVALID_JSON_FIELD_ERROR: () =>
    refusal('validation_error', [{ path: '', code: 'json', message: 'A part of the type application/json is not JSON.' }])
}

function formError (error: unknown): DispatchError {
  const known = error instanceof Error && 'code' in error ? formErrors[String(error.code)]?.(error) : undefined
  return known ?? refusal('validation_error', [{ path: '', code: 'unreadable', message: 'The form cannot be read to its end.' }])
}

/** The error of the form behind that of the storage, which could not take the rest of it. */
function formErrorIn (error: unknown): DispatchError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DispatchError) return cause
  return undefined
}
