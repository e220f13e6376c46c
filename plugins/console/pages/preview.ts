import type { FastifyReply } from 'fastify'
import { type Html, html } from '../../html.ts'
import { placeTextIn } from '../form/place.ts'
import { fill, type Words } from '../language/language.ts'
import { textOfSaid } from '../language/problems.ts'
import type { ApiFile, Refusal } from '../session/api.ts'

/** A preview is its author's content: nothing in it runs, and nothing is fetched for it. */
const sandboxed = 'sandbox; default-src \'none\'; img-src data:; style-src \'unsafe-inline\'; frame-ancestors \'self\''

/** A browser's own viewer shows a PDF in no sandbox. */
const viewed = 'default-src \'none\'; object-src \'self\'; style-src \'unsafe-inline\'; frame-ancestors \'self\''

/** The types of what browsers show; everything else they save. */
const shown = /^(application\/pdf|text\/(html|plain))\b/

/** Answers with a preview, for a frame of the console or a window of its own. */
export function sendPreview (reply: FastifyReply, file: ApiFile): FastifyReply {
  return send(reply, file.contentType === 'application/pdf' ? viewed : sandboxed, file)
}

function send (reply: FastifyReply, policy: string, { bytes, contentType, filename }: ApiFile): FastifyReply {
  return reply.headers({
    'content-type': contentType,
    'content-disposition': `${shown.test(contentType) ? 'inline' : 'attachment'}${filename === undefined ? '' : `; ${filename}`}`,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store'
  }).send(bytes)
}

/** A file with the subject of its mail above it, as a mail program shows it. Only HTML has a place for it. */
export function withSubject ({ subject, ...file }: ApiFile, words: Words): ApiFile {
  if (subject === undefined || !file.contentType.startsWith('text/html')) return file
  const head =
    html`<p style="margin:0;padding:12px 8px;font:16px/1.4 sans-serif;background:#fff;color:#111"><b>${words.data_subject}</b>${words.colon}${subject}</p>`
  return { ...file, bytes: Buffer.from(file.bytes.toString().replace(/<body[^>]*>/, (body) => body + head.markup)) }
}

/** Answers a frame whose preview cannot be made, with the API's sentences. */
export function sendNoPreview (reply: FastifyReply, status: number, lines: readonly string[]): FastifyReply {
  return sendPreview(reply.code(status), { bytes: Buffer.from(lines.join('\n')), contentType: 'text/plain; charset=utf-8' })
}

/** The same with what is said of an error, of each problem, and where that is. */
export function sendRefusedPreview (reply: FastifyReply, words: Words, { status, error }: Refusal): FastifyReply {
  return sendNoPreview(reply, status, linesOfSaid(words, error))
}

/** What is said of an error and of each problem, as lines. The message of an error with problems is that of the first one. */
export function linesOfSaid (words: Words, { details = [], ...error }: Refusal['error']): string[] {
  const [first] = details
  const own = first !== undefined && error.message.includes(first.message) ? [] : [textOfSaid(words, error)]
  const problems = details.map(({ path, ...problem }) => {
    const text = textOfSaid(words, problem)
    return path === '' ? text : `${placeTextIn(words, path)}${words.colon}${text}`
  })
  return [...own, ...problems]
}

/** Answers a script of a page of this origin, which reads the answer out of a frame. */
export function sendToScript (reply: FastifyReply, status: number, answer: object): FastifyReply {
  return send(reply.code(status), 'default-src \'none\'; frame-ancestors \'self\'', {
    bytes: Buffer.from(JSON.stringify(answer)),
    contentType: 'text/plain; charset=utf-8'
  })
}

/** A frame with a preview. Its page needs the policy `framing`. */
export function previewFrame (words: Words, { name, source }: { name: string, source: string }): Html {
  return html`<iframe src="${source}" title="${fill(words.previewOf, { name })}" loading="lazy"></iframe>`
}
