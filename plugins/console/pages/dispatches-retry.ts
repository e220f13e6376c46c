import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill } from '../language/language.ts'
import { type DispatchView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { changed, maxChosen as max, type Outcome, outcomePage } from './dispatches-chosen.ts'
import { apiFilterOf, type Filter, filterOf, missingIn } from './dispatches-filter.ts'
import { chosenOf, dispatchTable } from './dispatches-table.ts'
import { incomplete } from './dispatches.ts'
import { page } from './layout.ts'
import { readProviders } from './provider-names.ts'

type List = { data: DispatchView[], nextCursor: string | null }

/** How many the API lists at once. */
const listed = 100

/** Retries all failed dispatches of a filter, after a page that shows them. */
export const dispatchesRetryPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/dispatches/retry', async (request, reply) => {
    const visit = visitOf(request)
    const filter: Filter = { ...filterOf(request.query), status: 'failed', cursor: '' }
    if (missingIn(filter) !== undefined) return reply.code(400).page(await incomplete(visit, filter))
    return reply.page(await preview(visit, filter))
  })

  app.post<{ Body: URLSearchParams }>('/dispatches/retry', async (request, reply) => {
    const visit = visitOf(request)
    const outcomes: Outcome[] = []
    for (const chosen of request.body.getAll('dispatch').slice(0, max)) outcomes.push(await changed(visit, chosen, 'retry'))
    return reply.page(outcomePage(visit, 'retry', outcomes, '/console/dispatches'))
  })
  done()
}

async function preview (visit: Visit, filter: Filter): Promise<Html> {
  const { words, api } = visit
  const read = (cursor: string): Promise<List> =>
    api.read<List>(withQuery('/api/v1/dispatches', { ...apiFilterOf(visit, filter), limit: String(listed), cursor }))
  const [first, providers] = await Promise.all([read(''), readProviders(visit)])
  const second = first.nextCursor === null ? { data: [], nextCursor: null } : await read(first.nextCursor)
  const found = [...first.data, ...second.data].slice(0, max)
  const back = withQuery('/console/dispatches', filter)
  const main = found.length === 0
    ? html`<p>${words.retryAllNone}</p><p><a href="${back}">${words.retryAllBack}</a></p>`
    : html`<section aria-labelledby="what"><h2 id="what">${fill(words.retryAllCount, { n: found.length })}</h2><p>${words.retryIntro}</p>${
      second.nextCursor === null ? html`` : html`<p>${fill(words.retryAllMore, { max })}</p>`
    }<form method="post" action="/console/dispatches/retry">${
      found.map((dispatch) => html`<input type="hidden" name="dispatch" value="${chosenOf(dispatch)}">`)
    }
<div class="actions"><button>${words.retryAll}</button><a href="${back}">${words.cancelBack}</a></div></form></section>
<section aria-label="${words.dispatches}">${dispatchTable(words, found, providers)}</section>`
  return page(visit, { title: words.retryAll, section: 'dispatches', main })
}
