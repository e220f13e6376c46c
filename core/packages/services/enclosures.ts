import { type DocumentHandle, Line, pointer, type Problem, Uuid } from '@dispatch/common'
import type { PdfPage, PdfReading } from '@dispatch/documents'
import { type Static, type TProperties, Type } from 'typebox'
import { checkMax } from './limits.ts'

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

/** A document that a dispatch sends as it is, in the place of one that is made of a template. */
export const GivenDocument = Type.Unsafe<DocumentSource>({
  ...Type.Union([...eitherOf({})]),
  title: 'GivenDocument',
  description: 'a PDF that is there already; since version 1.1.0',
  examples: [{ fileId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90' }]
})

/** The field for it. */
export const givenDocument = 'document'

/** Fields beside which the request may give the document. */
export type WithGivenDocument = { document?: DocumentSource }

/** The field for those that follow it, or follow the one that is made. */
export const furtherDocuments = 'documents'

/** The most documents that follow one. */
const maxFurther = 20

/** Documents that are put after the first one. `what`: what they become a part of. */
export const FurtherDocuments = (what: string) =>
  Type.Optional(
    Type.Array(
      GivenDocument,
      {
        'x-since': '1.1.0',
        minItems: 1,
        maxItems: maxFurther,
        description: `PDFs whose pages follow those of the document, in this order: ${what}. Since version 1.1.0.`
      }
    )
  )

/** Files beside an invoice. */
export const BesideInvoice = Type.Optional(
  Type.Array(
    Type.Unsafe<DocumentSource & { filename?: string }>({
      ...Type.Union([
        ...eitherOf({ filename: Type.Optional(Line(150, { description: 'The name that it has there.', examples: ['timesheet.pdf'] })) })
      ]),
      title: 'InvoiceAttachment',
      examples: [{ fileId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90' }]
    }),
    {
      'x-since': '1.1.0',
      minItems: 1,
      maxItems: maxFurther,
      description: 'Files that the vendor keeps with the invoice, where it takes some. Since version 1.1.0.'
    }
  )
)

/** Fields that name documents to be put after the first one. */
export type WithFurtherDocuments = { documents?: readonly DocumentSource[] }

/** What a provider says of the one PDF that it takes. Whatever follows its first document is a part of it. */
export const pdfLimits = {
  maxPages: Type.Optional(Type.Integer({ minimum: 1, description: 'The most pages of the PDF.' })),
  maxSize: Type.Optional(Type.Integer({ minimum: 1, description: 'The largest PDF in bytes.' }))
}

/** A document that the fields of a service name, and where: a field, or a place in the list that it is. */
export type Enclosure = DocumentSource & { field: string, index?: number, filename?: string, inline?: string }

/** An enclosure with the document that was found for it. `pdf`: what stands in it, where somebody has to print, sign or join it. */
export type Enclosed = Enclosure & { document: DocumentHandle, pdf?: PdfReading }

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
  return index === undefined ? at(field) : pointer(at(field), index)
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
    ...checkMax(provider, at(first.field), enclosed.length, most, 'files'),
    ...enclosed.flatMap((one) => [
      ...checkMax(provider, placeOf(one, at), one.document.size, maxSize, 'bytes a file'),
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

/** The document that a request gives, as what its fields name. */
export function givenIn ({ document }: WithGivenDocument): Enclosure[] {
  return document === undefined ? [] : [{ field: givenDocument, ...document }]
}

/** The document that a request gives, and those that follow it. */
export function givenAndFurtherIn ({ documents = [], ...fields }: WithGivenDocument & WithFurtherDocuments): Enclosure[] {
  return [...givenIn(fields), ...documents.map((document, index) => ({ field: furtherDocuments, index, ...document }))]
}

/** In bytes. PDFs are joined, and a page is put before one, in memory: several times their size. */
export const largestJoined = 20 * 1024 * 1024

/**
 * Checks the document that a request gives, and those that follow it: nothing is made of them, so they must be what is sent. `given`: what
 * the step takes over at the beginning of its path. `signing`: it is to be signed.
 */
export function checkGiven (
  enclosed: readonly Enclosed[],
  at: (field: string) => string,
  { given, signing = false }: { given?: Enclosed | undefined, signing?: boolean } = {}
): Problem[] {
  const own = enclosed.filter(({ field }) => field === givenDocument || field === furtherDocuments)
  const pdfs = given === undefined || own.includes(given) ? own : [given, ...own]
  const joined = pdfs.some(({ field }) => field === furtherDocuments)
  const size = pdfs.reduce((sum, { document }) => sum + document.size, 0)
  return [
    ...pdfs.flatMap((one) => {
      const found = faultOf(one, { joined, signing })
      return found === undefined ? [] : [{ path: own.includes(one) ? placeOf(one, at) : `/${givenDocument}`, ...found }]
    }),
    ...joined ? checkJoined(size, at) : []
  ]
}

/** Checks how many bytes PDFs have together that are joined. */
export function checkJoined (size: number, at: (field: string) => string): Problem[] {
  return size <= largestJoined ? [] : [{
    path: at(furtherDocuments),
    code: 'too_large',
    message: `PDFs that are joined may have ${largestJoined} bytes together, and these have ${size}.`
  }]
}

function faultOf (
  { document: { contentType, size }, pdf }: Enclosed,
  { joined, signing }: { joined: boolean, signing: boolean }
): Omit<Problem, 'path'> | undefined {
  if (contentType !== 'application/pdf') {
    return { code: 'no_pdf', message: `A document that is sent as it is must be a PDF, and this is ${contentType}.` }
  }
  if (signing && !joined && size > largestJoined) {
    const message = `A PDF that is to be signed is read for its pages: it may have ${largestJoined} bytes, and this one has ${size}.`
    return { code: 'too_large', message }
  }
  if (pdf === undefined) return undefined
  if (!pdf.ok) return pdf.problem
  return (joined || signing) && pdf.signed
    ? { code: 'signed_pdf', message: 'The PDF is signed already: what is added to it breaks that signature.' }
    : undefined
}

/** The pages of documents together; undefined where not all of them are known. */
export function pagesIn (enclosed: readonly Enclosed[]): PdfPage[] | undefined {
  const all = enclosed.map(({ pdf }) => pdf?.ok === true ? pdf.pages : undefined)
  return all.every((pages) => pages !== undefined) ? all.flat() : undefined
}

/** Where the pages of a document that is too large come from: the documents that follow it, or its template. */
export function placeOfPages ({ documents }: WithFurtherDocuments, at: (field: string) => string): string {
  return documents === undefined ? '/template' : at(furtherDocuments)
}

/** A found document as a provider gets it: under the name that the client wants. */
export function handleOf ({ document, filename }: Enclosed): DocumentHandle {
  return filename === undefined ? document : { ...document, filename }
}
