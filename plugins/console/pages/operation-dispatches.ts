import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { textField } from '../form/fields.ts'
import { sentenceOf } from '../form/sentence.ts'
import { wordFor, type Words } from '../language/language.ts'
import { type FoundDispatchView, type ProviderView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { badge, page, table, time } from './layout.ts'
import { providerTitle, readProviders } from './provider-names.ts'

type Found = { data: FoundDispatchView[], nextCursor: string | null }

/** The dispatches of all companies that an operator searches for, with why each step was not accepted. */
export const operationDispatchesPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/operation/dispatches', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const textOf = (value: unknown): string => typeof value === 'string' ? value.trim() : ''
    const [search, cursor] = [textOf(request.query['search']), textOf(request.query['cursor'])]
    const [{ data, nextCursor }, providers] = await Promise.all([
      search === '' ? { data: [], nextCursor: null } : api.read<Found>(withQuery('/api/v1/platform/dispatches', { search, cursor })),
      readProviders(visit)
    ])
    const more = nextCursor === null
      ? html``
      : html`<hr><p><a href="${
        withQuery('/console/operation/dispatches', { search, cursor: nextCursor })
      }" rel="next">${words.older}</a></p>`
    const main = html`<p><a href="/console/operation">${words.operation}</a></p>${searchForm(words, search)}${
      search === '' ?
        html`` :
        html`<section aria-labelledby="list"><h2 id="list">${words.dispatches}</h2>${
          data.length === 0 ? html`<p>${words.platformSearchNone}</p>` : foundTable(visit, data, providers)
        }${more}</section>`
    }`
    return reply.page(page(visit, { title: words.platformSearch, section: 'operation', main }))
  })
  done()
}

/** Its fields are at the top of the operators' page too. */
export function searchForm (words: Words, search = ''): Html {
  return html`<form action="/console/operation/dispatches" class="filters" role="search" aria-label="${words.platformSearch}">
${textField({ name: 'search', label: words.platformSearch, help: words.platformSearchHelp, value: search, type: 'search' })}
<div class="actions"><button class="second">${words.search}</button></div></form>`
}

/** Operators read the dispatches of their own company; those of others as one of their users. */
function foundTable ({ words, actor }: Visit, found: readonly FoundDispatchView[], providers: readonly ProviderView[]): Html {
  const rows = found.map(({ companyId, companyName, dispatchId, documentNumber, recipient, status, createdAt, steps }) =>
    html`<tr><th scope="row"><a href="/console/companies/${String(companyId)}">${companyName}</a></th><td>${
      companyId === actor.companyId
        ? html`<a href="/console/dispatches/${dispatchId}"><code>${dispatchId}</code></a>`
        : html`<code>${dispatchId}</code>`
    }</td><td>${documentNumber ?? ''}</td><td>${recipient ?? ''}</td><td>${badge(words, 'status', status)}</td><td class="long">${
      steps.map((step) => stepLine(words, step, providers))
    }</td><td>${time(createdAt)}</td></tr>\n`
  )
  const head = [words.company, words.dispatch, words.number, words.recipient, words.status, words.service, words.created]
  return table(words.platformSearch, head, rows)
}

function stepLine (
  words: Words,
  { service, providerName, status, deliveryStatus, error, nextTryAt }: FoundDispatchView['steps'][number],
  providers: readonly ProviderView[]
): Html {
  return html`<p>${wordFor(words, 'service', service)}${
    providerName === null ? html`` : html` · ${providerTitle(providers, providerName)}`
  } ${badge(words, 'status', status)}${deliveryStatus === null ? html`` : html` ${badge(words, 'delivery', deliveryStatus)}`}${
    error === null ? html`` : html`<br><code>${error.error}</code> ${sentenceOf(words, error)}`
  }${nextTryAt === null ? html`` : html`<br>${words.nextTry} ${time(nextTryAt)}`}</p>`
}
