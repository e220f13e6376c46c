import { type DocumentHandle, Line, pointer, type Problem, Uuid } from '@dispatch/common'
import { type Static, type TProperties, Type } from 'typebox'
import { checkMost } from './limits.ts'

const closed = { additionalProperties: false } as const

/** A document that is there already: a file that was uploaded, or the document of another dispatch. */
const known = {
  fileId: { fileId: Type.Unsafe<string>({ ...Uuid, description: 'A file of `POST /api/v1/files`.' }) },
  documentId: { documentId: Type.Unsafe<string>({ ...Uuid, description: 'The `generatedDocument.id` of another dispatch.' }) }
}

/** One or the other, with the same fields beside it. */
function eitherOf<Own extends TProperties> (own: Own) {
  return [Type.Object({ ...known.fileId, ...own }, closed), Type.Object({ ...known.documentId, ...own }, closed)] as const
}

/** A file that goes with a mail. */
export const Attachment = Type.Union([
  ...eitherOf({
    filename: Type.Optional(Line(150, { description: 'The name that it has in the mail; its own unless given.', examples: ['terms.pdf'] })),
    inline: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$',
        examples: ['logo'],
        description: 'A picture that the HTML shows as `cid:` and this name, instead of a file beside the text.'
      })
    )
  })
], { title: 'EmailAttachment', examples: [{ fileId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90', filename: 'terms.pdf' }] })
export type Attachment = Static<typeof Attachment>

/** Where a document comes from that the fields of a service name: one of the two ids. */
export type DocumentSource = { fileId?: string, documentId?: string }

/** A document beside its own that the fields of a service name, and where: a place in a list. */
export type Enclosure = DocumentSource & { field: string, index: number, filename?: string, inline?: string }

/** An enclosure with the document that was found for it. */
export type Enclosed = Enclosure & { document: DocumentHandle }

/** What a provider says of the files that it takes beside the document. */
export const EnclosureLimits = Type.Object({
  most: Type.Optional(Type.Integer({ minimum: 0, description: 'How many files; 0: none.' })),
  maxSize: Type.Optional(Type.Integer({ minimum: 1, description: 'The largest file in bytes.' })),
  types: Type.Optional(
    Type.Array(Type.String({ pattern: '^[a-z]+/([a-z0-9.+-]+|\\*)$' }), {
      minItems: 1,
      uniqueItems: true,
      description: 'The content types that it takes, such as `application/pdf` or `image/*`; any unless given.'
    })
  )
}, { ...closed, title: 'EnclosureLimits' })
export type EnclosureLimits = Static<typeof EnclosureLimits>

/** Where an enclosure stands in the request. */
export function placeOf ({ field, index }: Pick<Enclosure, 'field' | 'index'>, at: (field: string) => string): string {
  return pointer(at(field), index)
}

/** Checks documents beside the main one against what the provider takes. */
export function checkEnclosed (
  enclosed: readonly Enclosed[],
  at: (field: string) => string,
  provider: { code: string },
  { most, maxSize, types }: EnclosureLimits
): Problem[] {
  const [first] = enclosed
  if (first === undefined) return []
  return [
    ...checkMost(provider, at(first.field), enclosed.length, most, 'files'),
    ...enclosed.flatMap((one) => [
      ...checkMost(provider, placeOf(one, at), one.document.size, maxSize, 'bytes a file'),
      ...types === undefined || types.some((type) => isOfType(one.document.contentType, type)) ? [] : [{
        path: placeOf(one, at),
        code: 'not_supported_by_provider',
        message: `The provider "${provider.code}" does not take ${one.document.contentType}; it takes ${types.join(', ')}.`
      }]
    ])
  ]
}

function isOfType (contentType: string, type: string): boolean {
  return type.endsWith('/*') ? contentType.startsWith(type.slice(0, -1)) : contentType === type
}

/** A found document as a provider gets it: under the name that the client wants. */
export function handleOf ({ document, filename }: Enclosed): DocumentHandle {
  return filename === undefined ? document : { ...document, filename }
}
