import { compile, type DocumentHandle, isRecord, type JsonObject } from '@dispatch/common'
import { AnyJsonObject } from '@dispatch/contract'
import { type ProvidedName, providedNames, services } from '@dispatch/services'
import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'

/** A request as a provider gets it, and the bytes of its documents by JSON pointer into it. */
export type FixtureRequest = { request: JsonObject, documents: ReadonlyMap<string, Buffer> }

const closed = { additionalProperties: false }
const Document = Type.Object({
  filename: Type.Optional(Type.String({ minLength: 1 })),
  contentType: Type.Optional(Type.String({ minLength: 1 })),
  content: Type.Optional(Type.String({ minLength: 1 }))
}, closed)
type Document = Static<typeof Document>

/** The fields of a fixture's request besides the service's own object. */
const fitBesides = compile(Type.Object({
  data: Type.Optional(AnyJsonObject),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  document: Type.Optional(Document),
  inline: Type.Optional(Type.Array(Type.Object({ contentId: Type.String({ minLength: 1 }), ...Document.properties }, closed))),
  attachments: Type.Optional(Type.Array(Document)),
  signatures: Type.Optional(
    Type.Array(
      Type.Object({
        signer: Type.Number(),
        page: Type.Number(),
        x: Type.Number(),
        y: Type.Number(),
        width: Type.Number(),
        height: Type.Number(),
        pageSize: Type.Optional(Type.Object({ width: Type.Number(), height: Type.Number() }, closed))
      }, closed)
    )
  )
}, closed))

/** The service's own object, with the fields that it needs. */
const fitOwn = byService((service) => {
  const { fields, required } = services[service]
  return compile(Type.Unsafe<JsonObject>({ ...fields, required }))
})

function byService<Value> (valueOf: (service: ProvidedName) => Value): Record<ProvidedName, Value> {
  return Object.fromEntries(providedNames.map((service) => [service, valueOf(service)])) as Record<ProvidedName, Value>
}

const usual = {
  filename: 'document.pdf',
  contentType: 'application/pdf',
  content: '%PDF-1.7\n% A document of the conformance kit.\n'
} as const
const picture = { filename: 'picture.png', contentType: 'image/png', content: 'A picture of the conformance kit.\n' } as const
const place = { signer: 1, page: 1, x: 72, y: 680, width: 200, height: 60 }

/**
 * Turns the request of a fixture into the request that the service would give to a provider: with defaults, and with handles for documents.
 * Throws an Error that names what does not fit. `capabilities`: what the provider declares. `content` replaces that of the documents.
 */
export function materialOf (
  service: ProvidedName,
  written: JsonObject,
  { capabilities, content }: { capabilities?: JsonObject | undefined, content?: Buffer | undefined }
): FixtureRequest {
  const { [service]: own = {}, ...others } = written
  const { html, text, ...fields } = isRecord(own) ? own : {}
  const isMail = services[service].content === 'message'
  const message = isMail ? { ...(html !== undefined && { html }), ...(text !== undefined && { text }) } : {}
  const besides = fitting(fitBesides(others))
  fitting(fitOwn[service](isMail ? fields : own, `/${service}`))
  const { data = {}, metadata = {}, document = {}, inline = [], attachments = [], signatures = [place] } = besides
  const whole = handleOf(document, 0, content)
  const attached = attachments.map((one, index) => handleOf(one, index + 1, content))
  const pictures = inline.map(({ contentId, ...one }, index) => ({
    contentId,
    ...handleOf({ ...picture, ...one }, attached.length + 1 + index, content)
  }))
  const made = {
    data,
    metadata,
    document: whole.handle,
    pages: 1,
    signatures,
    inline: pictures.map(({ contentId, handle }) => ({ ...handle, contentId })),
    attachments: attached.map(({ handle }) => handle),
    ...message
  }
  const request = services[service].request(isMail ? fields : own as JsonObject, made, capabilities) as JsonObject
  return {
    request,
    documents: new Map([
      ...'document' in request ? [['/document', whole.bytes] as const] : [],
      ...attached.map(({ bytes }, index) => [`/attachments/${index}`, bytes] as const),
      ...pictures.map(({ bytes }, index) => [`/inline/${index}`, bytes] as const)
    ])
  }
}

function handleOf (document: Document, index: number, other?: Buffer): { handle: DocumentHandle, bytes: Buffer } {
  const { filename, contentType, content } = { ...usual, ...document }
  const bytes = other ?? Buffer.from(content)
  return {
    bytes,
    handle: {
      id: `01960000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      filename,
      contentType,
      size: bytes.byteLength,
      sha256: hash('sha256', bytes)
    }
  }
}

function fitting<Value> (fit: { ok: true, value: Value } | { ok: false, problems: readonly { path: string, message: string }[] }): Value {
  if (fit.ok) return fit.value
  throw new Error(`The request does not fit: ${fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')}`)
}
