import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import type { Words } from '../language/language.ts'
import { ApiRefused, type ErrorBody, type Refusal } from '../session/api.ts'
import { notice, sentences } from './layout.ts'

/** A form as it was sent, and why the API refused it. */
export type Typed = { body: URLSearchParams, error: ErrorBody }

/** The error of a refusal that a form can show; one for want of rights takes the place of the page. */
export function errorOf (refusal: Refusal): ErrorBody {
  if (refusal.status === 401 || refusal.status === 403 && refusal.error.details === undefined) throw new ApiRefused(refusal)
  return refusal.error
}

/** Why a form was refused. What stands beside one of its fields, which are named as the API names them, is not said twice. */
export function said (words: Words, typed: Typed | undefined, ...fields: readonly string[]): Html {
  if (typed === undefined) return html``
  const { error, reason, message, details = [] } = typed.error
  const elsewhere = details.filter(({ path }) => !fields.some((name) => isWithin(path, `/${name}`)))
  if (elsewhere.length === details.length) return explained(words, sentences(words, { error, reason, message, details }))
  const [first] = elsewhere
  return explained(words,
    first === undefined ? html`<p>${words.seeFields}</p>` : sentences(words, { message: first.message, details: elsewhere }))
}

function explained (words: Words, why: Html): Html {
  return notice('bad', html`<p>${words.companyUnchanged}</p>${why}`)
}

function isWithin (path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`)
}

/** The sentences about the value at a path. */
export function wrongOf (words: Words, typed: Typed | undefined, path: string): Html[] {
  const sentences = (typed?.error.details ?? []).filter((detail) => isWithin(detail.path, path)).map((detail) => sentenceOf(words, detail))
  // Several items of a list may lack the same.
  return [...new Map(sentences.map((sentence) => [sentence.markup, sentence])).values()]
}
