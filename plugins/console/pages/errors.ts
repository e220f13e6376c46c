import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import type { ErrorBody } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { document, page, requestNumber, sentences } from './layout.ts'

export type Failure = { status: number, error?: ErrorBody, foreign?: true, otherIdentity?: true, retryAfter?: number, requestId: string }

/** What stands in place of a page that cannot be shown. */
export function errorPage (words: Words, visit: Visit | null, { status, error, foreign, otherIdentity, requestId }: Failure): Html {
  const main = html`${
    foreign === true
      ? html`<p>${words.foreignForm}</p>`
      : otherIdentity === true
      ? html`<p>${words.otherIdentity}</p>`
      : status === 404
      ? html`<p>${words.notFoundText}</p>`
      : error === undefined
      ? html``
      : html`<p>${words.serviceSays}</p>${sentences(words, error)}`
  }
<p><a href="/console">${words.backHome}</a></p>${requestNumber(words, requestId)}`
  const title = foreign === true ? words.errorTitle : titleOf(words, status)
  return visit === null ? document(words, { title, main, path: '/console' }) : page({ ...visit, path: '/console' }, { title, main })
}

function titleOf (words: Words, status: number): string {
  if (status === 404) return words.notFoundTitle
  if (status === 403) return words.forbiddenTitle
  return status === 429 ? words.tooManyTitle : words.errorTitle
}
