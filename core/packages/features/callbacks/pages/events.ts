import { fill, type Html, html, notice, page, pretty, table, time, withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { EventsView } from '../contract/events.ts'
import { endpointsAt } from './endpoints.ts'
import { type Visit, visitOf, type Words } from './words.ts'

/** Where the feed of a company is read. */
export const eventsAt = '/console/developers/events'

/** In characters, and so many events on a page, so that it stays small. */
const [longest, onPage] = [4_000, '20']

/** What callbacks tell the company, in order, as programs without a public address read it. */
export const eventsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/developers/events', async (request, reply) => {
    const [visit, { after }] = [visitOf(request), request.query]
    const from = typeof after === 'string' && /^\d{1,15}$/.test(after) ? after : '0'
    const feed = await visit.api.read<EventsView>(withQuery('/api/v1/events', { after: from, limit: onPage }))
    return reply.page(view(visit, feed))
  })
  done()
}

function view (visit: Visit, { since, data, more }: EventsView): Html {
  const { words } = visit
  const last = data.at(-1)
  const main = html`<p><a href="${endpointsAt}">${words.endpoints}</a></p><section aria-label="${words.events}"><p>${words.eventsIntro}</p>
<p class="quiet">${words.eventsSince}${words.colon}${time(since)}</p>${
    data.length === 0
      ? notice('good', html`<p>${words.eventsNone}</p>`)
      : table(words.events, [words.eventNumber, words.eventAt, words.eventType, words.eventAbout, words.eventBody],
        data.map((event) => row(words, event)))
  }${
    more && last !== undefined
      ? html`<hr><p><a href="${withQuery(eventsAt, { after: last.id })}" rel="next">${words.eventsMore}</a></p>`
      : html``
  }</section>`
  return page({ ...visit, path: eventsAt }, { title: words.events, section: 'developers', main })
}

function row (words: Words, { id, body }: EventsView['data'][number]): Html {
  const { type, timestamp, data } = body
  const { dispatchId } = data
  const text = pretty(body)
  return html`<tr><th scope="row">${id}</th><td>${time(timestamp)}</td><td><code>${type}</code></td><td>${
    typeof dispatchId === 'string' ? html`<a href="/console/dispatches/${dispatchId}">${words.eventDispatch}</a>` : words.eventCompany
  }</td><td><details><summary aria-label="${fill(words.eventBodyOf, { id })}">${words.eventBody}</summary><pre tabindex="0">${
    text.slice(0, longest).toWellFormed()
  }</pre>${text.length > longest ? html`<p class="quiet">${fill(words.requestCut, { n: longest })}</p>` : html``}</details></td></tr>\n`
}
