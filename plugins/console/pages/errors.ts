import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import type { ErrorBody } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'
import { document, page, requestNumber, sentences } from './layout.ts'

/** `retryAfter`: in how many seconds it may be tried again. `ofForm`: a form was sent, so there was no page to show. */
export type Failure = {
  status: number
  error?: ErrorBody
  foreign?: true
  otherIdentity?: true
  retryAfter?: number
  ofForm?: boolean
  requestId: string
}

/** What stands in place of a page that cannot be shown. */
export function errorPage (words: Words, visit: Visit | null, failure: Failure): Html {
  const { status, error, foreign, otherIdentity, retryAfter, requestId } = failure
  const main = html`${
    foreign === true
      ? html`<p>${words.foreignForm}</p>`
      : otherIdentity === true
      ? html`<p>${words.otherIdentity}</p>`
      : status === 404
      ? html`<p>${words.notFoundText}</p>`
      : retryAfter !== undefined
      ? html`<p>${fill(words.tooManyWait, { n: retryAfter })}</p>`
      : error === undefined
      ? html`<p>${words[faultOf(status)]}</p>`
      : html`<p>${words.serviceSays}</p>${sentences(words, error)}`
  }
<p><a href="/console">${words.backHome}</a></p>${requestNumber(words, requestId)}`
  const title = foreign === true ? words.errorTitle : titleOf(words, failure)
  return visit === null ? document(words, { title, main, path: '/console' }) : page({ ...visit, path: '/console' }, { title, main })
}

/** What a status says that comes without a word of the API. */
function faultOf (status: number): 'faultTooLarge' | 'faultUnavailable' | 'faultUnreadable' | 'faultOwn' {
  if (status === 413) return 'faultTooLarge'
  if (status === 503) return 'faultUnavailable'
  return status < 500 ? 'faultUnreadable' : 'faultOwn'
}

function titleOf (words: Words, { status, ofForm }: Failure): string {
  if (status === 429) return words.tooManyTitle
  if (ofForm === true) return words.notDoneTitle
  if (status === 404) return words.notFoundTitle
  return status === 403 ? words.forbiddenTitle : words.errorTitle
}
