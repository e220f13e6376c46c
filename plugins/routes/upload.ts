import { requireService } from '@dispatch/accounts'
import type { Problem } from '@dispatch/common'
import { DispatchError, DispatchResponse, refusal } from '@dispatch/contract'
import type { Addresses, Pipeline, Receive, ReceivedFile } from '@dispatch/core'
import { services, uploadServices } from '@dispatch/services'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { boundaryOf, type FormPart, readForm } from '../hooks/form.ts'
import { answerDispatch, callerOf, dispatchRouteOptions, idempotencyKeyOf, operationOf } from './dispatch-route.ts'
import { decodedWords } from './encoded-words.ts'

/** Size limits in bytes: of the file, and of each text field. */
const largestFile = 50 * 1024 * 1024
const largestField = 64 * 1024
const maxParts = 21

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
export const uploadRoutes: FastifyPluginCallback<{ pipeline: Pipeline, addresses: Addresses, receive: Receive }> = (
  app,
  { pipeline, addresses, receive },
  done
) => {
  // The handler reads the form.
  app.addContentTypeParser('multipart/form-data', (_request, _form, parsed) => {
    parsed(null)
  })

  for (const service of uploadServices) {
    app.post(`/api/${service}`, {
      bodyLimit: largestFile + 1024 * 1024,
      ...dispatchRouteOptions({
        operationId: operationOf('dispatch', [service]),
        summary: services[service].summary,
        consumes: ['multipart/form-data'],
        body: UploadForm
      }, [DispatchResponse])
    }, async (request, reply) => {
      // Before a byte of the file is taken.
      requireService(request.actor, service)
      requirePlain(request, reply)
      const call = { ...callerOf(request), ...idempotencyKeyOf(request), services: [service] } as const
      const { fields, file } = await received(request, receive)
      return answerDispatch({ pipeline, addresses }, { ...call, body: fields, file }, request, reply)
    })
  }
  done()
}

/** A form is read while it comes, so its coding is that of its file. */
function requirePlain ({ headers: { 'content-encoding': coding = 'identity' } }: FastifyRequest, reply: FastifyReply): void {
  if (coding.trim().toLowerCase() === 'identity') return
  reply.header('accept-encoding', 'identity')
  throw new DispatchError('unsupported_media_type', 'A form is sent as it is, without "Content-Encoding".')
}

type Form = { fields: Record<string, string>, file: ReceivedFile }

async function received ({ raw, headers, actor: { companyId } }: FastifyRequest, receive: Receive): Promise<Form> {
  const boundary = boundaryOf(headers['content-type'])
  if (boundary === undefined) {
    throw new DispatchError('unsupported_media_type', 'A file comes as a form: send "Content-Type: multipart/form-data" with its boundary.')
  }
  const taken: { file?: ReceivedFile } = {}
  const take = async ({ bytes, filename = '', type: contentType }: FormPart): Promise<void> => {
    taken.file = await receive(companyId, {
      bytes: Readable.from(bytes(largestFile), { objectMode: false }),
      filename: nameIn(filename),
      contentType
    })
  }
  try {
    const fields = await readParts(readForm(raw, { boundary, max: maxParts, tooLarge }), take)
    if (taken.file === undefined) {
      throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'The file part "file" is required.' }])
    }
    return { fields, file: taken.file }
  } catch (error) {
    await taken.file?.discard()
    throw formErrorIn(error) ?? error
  }
}

/** Hands over the file, and resolves to the texts. */
async function readParts (parts: AsyncIterable<FormPart>, take: (file: FormPart) => Promise<void>): Promise<Record<string, string>> {
  const fields: Record<string, string> = {}
  const problems: Problem[] = []
  const known = new Set<string>()
  for await (const part of parts) {
    const { name } = part
    const isNew = !known.has(name)
    known.add(name)
    if (name === 'file' && isFile(part) && isNew) {
      await take(part)
    } else if (textFields.includes(name) && isNew) {
      // Clients write JSON as a part with a type, and many give each such part a file name.
      fields[name] = await part.text(largestField)
    } else if (isFile(part)) {
      problems.push(oneFile)
    } else if (name === 'file') {
      problems.push({ path: '/file', code: 'type', message: 'A text, not a file: give the part a filename.' })
    } else {
      problems.push({
        path: `/${name.slice(0, 60)}`,
        code: 'unknown_field',
        message: `The permitted fields, each once, are: ${textFields.join(', ')}, file.`
      })
    }
  }
  if (problems.length > 0) throw refusal('validation_error', problems)
  return fields
}

function isFile ({ filename, type }: FormPart): boolean {
  return filename !== undefined || type === 'application/octet-stream'
}

const oneFile: Problem = { path: '/file', code: 'too_many', message: 'One file is sent, in the part "file".' }
const tooLarge = 'The form exceeds its limits: one file of 50 MiB, texts of 64 KiB, 21 parts.'

/** The name of a file without folders, which some clients write before it. */
function nameIn (given: string): string {
  return decodedWords(given).split(/[\\/]/).at(-1) ?? ''
}

/** The error of the form behind that of the storage, which could not take the rest of it. */
function formErrorIn (error: unknown): DispatchError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DispatchError) return cause
  return undefined
}
