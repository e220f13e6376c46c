import { isRecord, type JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { sentenceOf } from '../form/sentence.ts'
import { wordFor, type Words } from '../language/language.ts'
import type { ValidationResponse } from '../session/api.ts'
import { badge, facts, notice, table } from './layout.ts'

/** What a request would do: who gets it, who does each step, what it costs, and what the service remarks. */
export function planned (
  words: Words,
  caption: string,
  { plan, recipient, warnings }: Pick<ValidationResponse, 'plan' | 'warnings' | 'recipient'>
): Html {
  const rows = plan.map(({ service, providerName, sandbox, credits }) =>
    html`<tr><th scope="row">${wordFor(words, 'service', service)}</th><td>${providerName ?? words.noProvider}</td><td>${
      String(credits)
    }</td><td>${badge(words, 'earnest', sandbox === true ? 'test' : 'real')}</td></tr>\n`
  )
  return html`${facts([[words.recipient, recipient]])}${table(caption, [words.service, words.provider, words.price, words.earnest], rows)}${
    warnings.length === 0
      ? html``
      : notice('warn', html`<ul>${warnings.map((warning) => html`<li>${sentenceOf(words, warning)}</li>`)}</ul>`)
  }`
}

/**
 * The stored documents and the uploaded files that a request names, outside of the data of its template, each once and in their order. What
 * is sent of them is what a person has to see.
 */
export function namedIn (request: JsonObject): { documents: string[], files: string[] } {
  const [documents, files] = [new Set<string>(), new Set<string>()]
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) { for (const item of value) visit(item) }
    if (!isRecord(value)) return
    if (typeof value['documentId'] === 'string') documents.add(value['documentId'])
    if (typeof value['fileId'] === 'string') files.add(value['fileId'])
    for (const within of Object.values(value)) visit(within)
  }
  const { template: _template, metadata: _metadata, ...rest } = request
  visit(rest)
  return { documents: [...documents], files: [...files] }
}

/** A template that a request names, by its number or by its name, with its data. */
export type NamedTemplate = ({ id: number } | { name: string }) & { data: object }

/** The templates that a request names, of its first step and of the later ones, in their order. */
export function templatesIn (request: JsonObject): NamedTemplate[] {
  const { metadata: _metadata, template, fileContent, ...later } = request
  const dataOf = ({ data }: JsonObject): object => isRecord(data) ? data : {}
  const own: NamedTemplate[] = []
  if (isRecord(template) && typeof template['id'] === 'number') own.push({ id: template['id'], data: dataOf(template) })
  if (isRecord(fileContent) && typeof fileContent['templateName'] === 'string') {
    own.push({ name: fileContent['templateName'], data: dataOf(fileContent) })
  }
  return [...own, ...Object.values(later).flat().flatMap((step) => isRecord(step) ? templatesIn(step) : [])]
}
