import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { DispatchView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { previewFrame, sendNoPreview, sendPreview, sendRefusedPreview } from './preview.ts'

type Document = NonNullable<DispatchView['steps'][number]['generatedDocument']>
type Named = { Params: { id: string, document: string } }

/** What browsers show by themselves, and as what they get it: XML would be laid out by style sheets of its author. */
const shownAs: Readonly<Record<string, string>> = {
  'application/pdf': 'application/pdf',
  'text/html': 'text/html',
  'text/plain': 'text/plain',
  'text/csv': 'text/plain',
  'application/json': 'text/plain',
  'application/xml': 'text/plain',
  'text/xml': 'text/plain',
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg'
}

/** The largest document that is shown, in bytes: it is read whole. Larger ones are downloaded. */
const largest = 10 * 1024 * 1024

/** The documents of a dispatch, for the frames of its page. */
export const dispatchDocumentPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/dispatches/:id/documents/:document', async (request, reply) => {
    const { params: { id, document } } = request
    const { api, words } = visitOf(request)
    const found = shownOf(await api.read<DispatchView>(`/api/v1/dispatches/${encodeURIComponent(id)}`)).find((shown) =>
      shown.id === document
    )
    if (found === undefined) return sendNoPreview(reply, 404, [words.notFoundText])
    const file = await api.file(`/api/v1/documents/${found.id}`)
    if (!file.ok) return sendRefusedPreview(reply, words, file)
    const contentType = shownType(found)
    return sendPreview(reply, {
      ...file.body,
      contentType: contentType?.startsWith('text/') === true ? `${contentType}; charset=utf-8` : contentType ?? 'application/octet-stream'
    })
  })
  done()
}

/** The documents of a dispatch that a browser can show; steps of a chain share theirs. */
export function shownOf ({ steps }: DispatchView): Document[] {
  const all = new Map(steps.flatMap(({ generatedDocument: made }) => made === null ? [] : [[made.id, made] as const]))
  return [...all.values()].filter((document) => shownType(document) !== undefined && document.size <= largest)
}

function shownType ({ contentType }: Document): string | undefined {
  const type = contentType.split(';', 1)[0] ?? ''
  return Object.hasOwn(shownAs, type) ? shownAs[type] : undefined
}

/** The documents in their places. The page needs the policy `framing`. */
export function documentSections (words: Words, at: string, documents: readonly Document[]): Html[] {
  return documents.map(({ id, filename, url }) =>
    html`<section aria-labelledby="document-${id}"><h2 id="document-${id}">${filename}</h2>
<p><a href="${url}">${words.download}</a></p>${previewFrame(words, { name: filename, source: `${at}/documents/${id}` })}</section>
`
  )
}
