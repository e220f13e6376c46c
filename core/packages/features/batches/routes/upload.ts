import { compile, type JsonObject, type Validator } from '@dispatch/common'
import { AnyJsonObject, DispatchError, refusal } from '@dispatch/contract'
import { boundaryOf, decodedBits, readForm } from '@dispatch/plugins/routes'
import type { FastifyRequest } from 'fastify'
import { Mapping } from '../contract/batches.ts'
import { maxBytes } from '../service/batches.ts'
import type { Upload } from '../service/receive.ts'

/** The types of a body, and how their rows are written. */
export const formats = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv'
} as const

const [asCommon, asMapping] = [compile(AnyJsonObject), compile(Mapping)]

const largestText = 5 * 1024 * 1024
const maxParts = 4
const tooLarge = `The form is too large: the file may have ${maxBytes / 1024 / 1024} MiB, each text ${largestText / 1024 / 1024}.`

/** The rows in a request: its body, or the file of a form, after its texts. */
export async function uploadIn (request: FastifyRequest): Promise<Upload> {
  const { raw, headers, mediaType = '' } = request
  if (Object.hasOwn(formats, mediaType)) {
    return { format: formats[mediaType as keyof typeof formats], bytes: toItsEnd(decodedBits(raw, headers['content-encoding'])) }
  }
  const boundary = boundaryOf(headers['content-type'])
  if (boundary === undefined) {
    throw new DispatchError('unsupported_media_type', `A batch comes as ${Object.keys(formats).join(', ')} or multipart/form-data.`)
  }
  if ((headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity') {
    throw new DispatchError('unsupported_media_type', 'A form is sent as it is, without "Content-Encoding".')
  }
  const texts: { common?: JsonObject, mapping?: Mapping } = {}
  const parts = readForm(raw, { boundary, max: maxParts, tooLarge })
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    const part = next.value
    if (part.name === 'file') {
      const format = formatOf(part.type, part.filename ?? '')
      if (format === 'ndjson' && texts.mapping !== undefined) {
        throw fault('/mapping', 'unused_field', 'Only the columns of CSV are mapped: leave it out.')
      }
      return { ...texts, format, bytes: lastOf(parts, part.bytes(maxBytes)) }
    }
    if (part.name === 'common') texts.common = objectIn(asCommon, await part.text(largestText), '/common')
    else if (part.name === 'mapping') texts.mapping = objectIn(asMapping, await part.text(largestText), '/mapping')
    else throw fault(`/${part.name.slice(0, 60)}`, 'unknown_field', 'The permitted fields are common, mapping and, as the last one, file.')
  }
  throw fault('/file', 'required', 'The file part "file" is required.')
}

/** The bytes of the last part of a form. The form is read as they are. */
async function* lastOf (parts: AsyncGenerator<unknown, void>, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* bytes
    if ((await parts.next()).done !== true) throw fault('/file', 'order', 'The file is the last part of the form.')
  } finally {
    await parts.return()
  }
}

function fault (path: string, code: string, message: string): DispatchError {
  return refusal('validation_error', [{ path, code, message }])
}

function formatOf (type: string, filename: string): Upload['format'] {
  if (Object.hasOwn(formats, type)) return formats[type as keyof typeof formats]
  if (/\.csv$/i.test(filename) || type === 'application/vnd.ms-excel') return 'csv'
  if (/\.(ndjson|jsonl)$/i.test(filename)) return 'ndjson'
  throw fault('/file', 'type', 'The file is neither CSV nor NDJSON: name it so (.csv, .ndjson), or give its content type.')
}

function objectIn<Value> (check: Validator<Value>, text: string, path: string): Value {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault(path, 'unreadable', 'It is not JSON.')
  }
  const fit = check(value, path)
  if (!fit.ok) throw refusal('validation_error', fit.problems)
  return fit.value
}

/** The bytes of a body; one that ends too early is the client's fault. */
async function* toItsEnd (bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* bytes
  } catch (cause) {
    if (cause instanceof DispatchError) throw cause
    throw fault('', 'unreadable', 'The body cannot be read to its end.')
  }
}
