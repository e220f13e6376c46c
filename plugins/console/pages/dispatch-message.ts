import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import type { Api, DispatchRequestView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { previewFrame, sendNoPreview, sendPreview } from './preview.ts'

type Message = NonNullable<DispatchRequestView['steps'][number]['message']>
type Named = { Params: { id: string, step: string }, Querystring: Readonly<Record<string, unknown>> }

/** A text of so many characters stands in the page; a longer one has a frame of its own. */
const longestText = 2_000

/** What all references to the pictures of a mail may add to it, in characters of base64: about 4 MB of pictures. */
const maxPictures = 6 * 1024 * 1024

/** E-mails and other messages as their recipients got them, for the frames of the page of their dispatch. */
export const dispatchMessagePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/dispatches/:id/messages/:step', async (request, reply) => {
    const { params: { id, step }, query } = request
    const { api, words } = visitOf(request)
    const { steps } = await api.read<DispatchRequestView>(`/api/v1/dispatches/${encodeURIComponent(id)}/request`)
    const message = /^\d{1,4}$/.test(step) ? steps[Number(step)]?.message : undefined
    const text = query['as'] === 'source' ? message?.html : query['as'] === 'text' ? message?.text : undefined
    if (text !== undefined) return sendPreview(reply, { bytes: Buffer.from(text), contentType: 'text/plain; charset=utf-8' })
    if (message?.html === undefined || query['as'] !== undefined) return sendNoPreview(reply, 404, [words.notFoundText])
    const bytes = Buffer.from(await withPictures(api, message.html, message.pictures ?? []))
    return sendPreview(reply, { bytes, contentType: 'text/html; charset=utf-8' })
  })
  done()
}

/**
 * The HTML with its pictures in it: nothing is fetched for a frame. A picture stands in it as often as it is referred to. One that is no
 * longer kept, or would be too much, is left out.
 */
async function withPictures (api: Api, source: string, pictures: NonNullable<Message['pictures']>): Promise<string> {
  let [shown, size] = [source, 0]
  for (const { contentId, id } of pictures) {
    const file = await api.file(`/api/v1/documents/${id}`)
    if (!file.ok || !/^image\/(?:png|jpeg|gif)\b/.test(file.body.contentType)) continue
    const data = `data:${file.body.contentType};base64,${file.body.bytes.toString('base64')}`
    const parts = shown.split(`cid:${contentId}`)
    const added = (parts.length - 1) * data.length
    if (size + added > maxPictures) continue
    size += added
    shown = parts.join(data)
  }
  return shown
}

/** Whether the page of a dispatch has frames with messages: it then needs the policy `framing`. */
export function hasFramedMessage (request: DispatchRequestView | undefined): boolean {
  return request?.steps.some(({ message }) => message !== undefined && isFramed(message)) === true
}

function isFramed ({ html: markup, text = '' }: Message): boolean {
  return markup !== undefined || text.length > longestText
}

/** The messages of a dispatch in their places. */
export function messageSections (words: Words, at: string, request: DispatchRequestView | undefined): Html[] {
  return (request?.steps ?? []).flatMap(({ service, message }, index) => {
    if (message === undefined || (message.html === undefined && message.text === undefined)) return []
    const id = `message-${String(index)}`
    const name = wordFor(words, 'service', service)
    const source = `${at}/messages/${String(index)}`
    return [html`<section aria-labelledby="${id}"><h2 id="${id}">${fill(words.messageOf, { service: name })}</h2>
${message.html === undefined ? textOf(words, name, source, message) : mailOf(words, name, source, message)}</section>
`]
  })
}

function textOf (words: Words, name: string, source: string, message: Message): Html {
  return isFramed(message) ? previewFrame(words, { name, source: `${source}?as=text` }) : html`<pre>${message.text ?? ''}</pre>`
}

/** As on a desktop; the others are loaded when they are opened. */
function mailOf (words: Words, name: string, source: string, { text }: Message): Html {
  const folded = (title: string, path: string, kind = 'wide'): Html =>
    html`<details><summary>${title}</summary><div class="frame ${kind}">${
      previewFrame(words, { name: `${name} (${title})`, source: path })
    }</div></details>`
  return html`${previewFrame(words, { name, source })}${folded(words.messagePhone, source, 'phone')}${
    text === undefined ? html`` : folded(words.messageText, `${source}?as=text`)
  }${folded(words.messageSource, `${source}?as=source`)}`
}
