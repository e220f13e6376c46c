import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import type { ProviderView, VendorCallView } from '../session/api.ts'
import { badge, time } from './layout.ts'
import { providerTitle } from './provider-names.ts'

type Exchange = VendorCallView['exchanges'][number]

/** So that the page stays small: exchanges of a call, and characters of a body or an answer. The API has more. */
const [max, longest] = [4, 1_500]

/** So many calls are shown, each with up to 8 KB an exchange. */
export const shownCalls = 3

/** What was asked of vendors for a dispatch last, and what they have answered; each exchange is folded. */
export function vendorCallsSection (words: Words, calls: readonly VendorCallView[], providers: readonly ProviderView[]): Html {
  if (calls.length === 0) return html``
  return html`<section aria-labelledby="calls"><h2 id="calls">${words.vendorCalls}</h2><p class="quiet">${words.vendorCallsIntro}</p>
<ol class="list">${
    calls.slice(0, shownCalls).map(({ service, providerName, outcome, exchanges, at }) =>
      html`<li><span>${providerTitle(providers, providerName)}</span> <span class="quiet">${wordFor(words, 'service', service)}</span> ${
        badge(words, 'status', outcome)
      } ${time(at)}
<div class="whole">${exchanges.slice(0, max).map((exchange) => exchangeOf(words, exchange))}${
        exchanges.length > max ? html`<p class="quiet">${fill(words.exchangesMore, { n: exchanges.length - max })}</p>` : html``
      }</div></li>\n`
    )
  }</ol>${calls.length <= shownCalls ? html`` : html`<p class="quiet">${words.vendorCallsMore}</p>`}</section>`
}

function exchangeOf (words: Words, { method, url, headers, body, status, answer, failure, milliseconds }: Exchange): Html {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n')
  const part = (title: string, text: string | undefined): Html =>
    text === undefined || text === ''
      ? html``
      : html`<h3>${title}</h3><pre>${text.length > longest ? `${text.slice(0, longest)}…` : text}</pre>`
  return html`<details><summary><code>${method} ${url}</code> <span class="quiet">${status === undefined ? '' : String(status)} ${
    fill(words.milliseconds, { n: milliseconds })
  }</span></summary>${part(words.exchangeSent, body === undefined ? head : `${head}\n\n${body}`)}${part(words.exchangeAnswered, answer)}${
    failure === undefined ? html`` : html`<p class="wrong">${sentenceOf(words, { message: failure })}</p>`
  }</details>`
}
