import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { choiceField, textField } from '../form/fields.ts'
import { type Query, readFilter, textOf } from '../form/filter.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import { type DispatchView, withQuery } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { type Columns, mostRows, sendCsv } from './export.ts'
import { following } from './follow.ts'
import { badge, notice, page, sentences, table, time } from './layout.ts'

export type Filter = Readonly<Record<typeof fields[number], string>>

/** What the list is filtered by, as the API calls it. All of it stands in the address of the page. */
const fields = ['status', 'service', 'invoiceNumber', 'recipient', 'from', 'to', 'deferred', 'cursor'] as const

const statuses = ['queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled']
const services = ['invoicing', 'esign', 'postal', 'sms', 'email', 'file', 'upload']

const columns: Columns<DispatchView> = {
  dispatchId: ({ dispatchId }) => dispatchId,
  services: ({ services }) => services.join(' '),
  status: ({ status }) => status,
  test: ({ test }) => test === true ? 'true' : '',
  recipient: ({ recipient }) => recipient,
  documentType: ({ documentType }) => documentType,
  documentNumber: ({ documentNumber }) => documentNumber,
  createdAt: ({ createdAt }) => createdAt,
  finishedAt: ({ finishedAt }) => finishedAt,
  creditsCharged: ({ creditsCharged }) => creditsCharged,
  providers: ({ steps }) => steps.flatMap(({ providerName }) => providerName ?? []).join(' '),
  error: ({ steps }) => steps.find(({ error }) => error !== undefined)?.error?.message,
  requestId: ({ requestId }) => requestId,
  metadata: ({ metadata }) => JSON.stringify(metadata)
}

/** The dispatches of the company, filtered, a page at a time; an id leads to its dispatch. */
export const dispatchesPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/dispatches', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const id = textOf(request.query['id'])
    if (isId(id)) return reply.redirect(`/console/dispatches/${id}`, 303)
    const filter = filterOf(request.query)
    const answer = await api.send<{ data: DispatchView[], nextCursor: string | null }>('GET', withQuery('/api/v1/dispatches', filter))
    const found = answer.ok ? list(words, answer.body, filter) : notice('bad', sentences(words, answer.error))
    const main = html`<section aria-label="${words.filter}">${form(words, filter, id)}</section>
${
      filter.cursor === ''
        ? following(words, { changes: '/console/dispatches/changes', page: withQuery('/console/dispatches', filter) })
        : html``
    }<section aria-label="${words.dispatches}">${found}</section>`
    return reply.code(answer.ok ? 200 : answer.status).page(page(visit, { title: words.dispatches, section: 'dispatches', main }))
  })

  app.get<{ Querystring: Query }>('/dispatches.csv', async (request, reply) =>
    sendCsv<DispatchView>(visitOf(request), reply, {
      name: 'dispatches',
      path: '/api/v1/dispatches',
      filter: filterOf(request.query),
      columns
    }))
  done()
}

function isId (text: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
}

/** The filter in the address of a page. */
export function filterOf (query: Query): Filter {
  return readFilter(query, fields)
}

function form (words: Words, filter: Filter, id: string): Html {
  const statusOptions = statuses.map((value) => ({ value, label: wordFor(words, 'status', value) }))
  return html`<form action="/console/dispatches" class="filters">
${choiceField({ name: 'status', label: words.status, options: statusOptions, value: filter.status, none: words.any })}
${
    choiceField({
      name: 'service',
      label: words.service,
      options: services.map((value) => ({ value, label: value })),
      value: filter.service,
      none: words.any
    })
  }
${textField({ name: 'invoiceNumber', label: words.number, value: filter.invoiceNumber })}
${textField({ name: 'recipient', label: words.recipient, value: filter.recipient })}
${textField({ name: 'from', label: words.from, value: filter.from, type: 'date' })}
${textField({ name: 'to', label: words.before, value: filter.to, type: 'date' })}
${textField({ name: 'id', label: words.dispatchId, value: id })}
<div class="actions"><button>${words.show}</button><a href="/console/dispatches">${words.showAll}</a></div>
</form>`
}

function list (words: Words, { data, nextCursor }: { data: DispatchView[], nextCursor: string | null }, filter: Filter): Html {
  if (data.length === 0) {
    const isFiltered = Object.values(filter).some((value) => value !== '')
    return html`<p>${isFiltered ? words.noneFiltered : words.noneYet}</p>${
      isFiltered ? html`` : html`<p><a href="/docs">${words.stepSend}</a></p>`
    }`
  }
  const next = nextCursor === null
    ? html``
    : html`<hr><p><a href="${withQuery('/console/dispatches', { ...filter, cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  return html`${dispatchTable(words, data)}${next}${whole(words, filter)}`
}

/** What can be done with all dispatches of a filter. */
function whole (words: Words, filter: Filter): Html {
  const all = { ...filter, cursor: '' }
  return html`<hr><div class="actions"><a class="button second" href="${withQuery('/console/dispatches.csv', all)}">${words.export}</a>${
    filter.status === '' || filter.status === 'failed'
      ? html`<a class="button second" href="${withQuery('/console/dispatches/retry', all)}">${words.retryAll}</a>`
      : html``
  }<span class="quiet">${fill(words.exportMost, { most: mostRows })}</span></div>`
}

export function dispatchTable (words: Words, dispatches: readonly DispatchView[]): Html {
  const head = [words.dispatch, words.status, words.recipient, words.number, words.created]
  return table(words.dispatches, head, dispatches.map((dispatch) => row(words, dispatch)))
}

function row (
  words: Words,
  { dispatchId, services: path, status, test, recipient = '', documentNumber = '', createdAt }: DispatchView
): Html {
  return html`<tr><th scope="row"><a href="/console/dispatches/${dispatchId}">${path.join(' + ')}</a>${
    test === true ? html` <span class="badge">${words.testData}</span>` : html``
  }</th><td>${badge(words, 'status', status)}</td><td>${recipient}</td><td class="count">${documentNumber}</td><td>${
    time(createdAt)
  }</td></tr>\n`
}
