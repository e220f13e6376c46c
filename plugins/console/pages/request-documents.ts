import type { JsonObject } from '@dispatch/common'
import type { FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { type ApiAnswer, type ApiFile, withQuery } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { namedIn, type NamedTemplate, templatesIn } from './planned.ts'
import { previewFrame, sendPreview, sendRefusedPreview } from './preview.ts'

/**
 * What a request sends, in frames: what the templates of its steps make (`<source>/templates/0`), and the stored documents that it names
 * (`<source>/documents/0`). Nothing where there is none. `name`: what the request is, for readers who hear the page.
 */
export function documentFrames (
  words: Words,
  request: JsonObject,
  { title, name, source, query = {} }: { title: string, name: string, source: string, query?: Readonly<Record<string, string>> }
): Html {
  const paths = [
    ...templatesIn(request).map((_, nth) => `${source}/templates/${nth}`),
    ...namedIn(request).documents.map((_, nth) => `${source}/documents/${nth}`)
  ]
  if (paths.length === 0) return html``
  return html`<section aria-labelledby="document"><h2 id="document">${title}</h2>${
    paths.map((path, nth) =>
      previewFrame(words, { name: `${name}${paths.length === 1 ? '' : ` (${nth + 1})`}`, source: withQuery(path, query) })
    )
  }</section>`
}

/** Answers such a frame with what a template that a request names makes of its data. */
export async function sendTemplateDocument (reply: FastifyReply, visit: Visit, request: JsonObject, nth: string): Promise<FastifyReply> {
  const template = templatesIn(request)[Number(nth)]
  const id = template === undefined ? 0 : await numberOfTemplate(visit, template)
  return sendFile(reply, visit, await visit.api.file(`/api/v1/templates/${id}/preview`, { data: template?.data ?? {} }))
}

/** Of two templates with one name, the company's own is meant. */
async function numberOfTemplate ({ api }: Visit, template: NamedTemplate): Promise<number> {
  if ('id' in template) return template.id
  const { data } = await api.read<{ data: { id: number, companyId: number | null }[] }>(
    withQuery('/api/v1/templates', { name: template.name, status: 'published' })
  )
  return (data.find(({ companyId }) => companyId !== null) ?? data[0])?.id ?? 0
}

/** Answers such a frame with a stored document that a request names, and with no other. */
export async function sendNamedDocument (reply: FastifyReply, visit: Visit, request: JsonObject, nth: string): Promise<FastifyReply> {
  const { documents } = namedIn(request)
  return sendFile(reply, visit, await visit.api.file(`/api/v1/documents/${encodeURIComponent(documents[Number(nth)] ?? '')}`))
}

function sendFile (reply: FastifyReply, { words }: Visit, file: ApiAnswer<ApiFile>): FastifyReply {
  return file.ok ? sendPreview(reply, file.body) : sendRefusedPreview(reply, words, file)
}
