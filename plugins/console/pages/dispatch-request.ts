import type { JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { pretty } from '../form/json.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { templateName } from '../language/template-names.ts'
import type { ApiAnswer, DispatchRequestView, DispatchView } from '../session/api.ts'

/** In characters, so that the page stays small. */
const longest = 4_000

/** What a dispatch was asked to do: the data of its template, and what each service was asked besides. */
export function requestSection (words: Words, requested: ApiAnswer<DispatchRequestView>): Html {
  if (!requested.ok) {
    return html`<section aria-labelledby="request"><h2 id="request">${words.request}</h2><p>${words.requestGone}</p></section>`
  }
  const { data, steps } = requested.body
  const parts = [
    ...hasAny(data) ? [partOf(words, words.sendData, data)] : [],
    ...steps.flatMap(({ service, fields, data: own = {} }) => [
      ...hasAny(fields) ? [partOf(words, wordFor(words, 'service', service), fields)] : [],
      ...hasAny(own) ? [partOf(words, fill(words.dataOf, { service: wordFor(words, 'service', service) }), own)] : []
    ])
  ]
  return parts.length === 0
    ? html``
    : html`<section aria-labelledby="request"><h2 id="request">${words.request}</h2>${parts}</section>`
}

function hasAny (values: object): boolean {
  return Object.keys(values).length > 0
}

function partOf (words: Words, title: string, values: JsonObject): Html {
  const text = pretty(values)
  return html`<details><summary>${title}</summary><pre>${text.slice(0, longest)}</pre>${
    text.length > longest ? html`<p class="quiet">${fill(words.requestCut, { n: longest })}</p>` : html``
  }</details>`
}

/** The template and the version of which a dispatch was made. */
export function templateLink (words: Words, { id, version, name }: NonNullable<DispatchView['template']>): Html {
  const text = name === undefined
    ? fill(words.templateVersion, { id, version })
    : fill(words.templateNamed, { name: templateName(words, { id, name }), version })
  return html`<a href="/console/templates/${String(id)}">${text}</a>`
}
