import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill } from '../language/language.ts'
import { type DispatchView, withQuery } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { apiFilterOf, type Filter, filterOf, missingIn } from './dispatches-filter.ts'
import { dispatchTable, incomplete } from './dispatches.ts'
import { notice, page, sentences, table } from './layout.ts'
import { readProviders } from './provider-names.ts'

type List = { data: DispatchView[], nextCursor: string | null }
/** `said`: why it was not retried; undefined: it was. */
type Outcome = { id: string, said: Html | undefined }

/** How many are retried at once, and how many the API lists at once. */
const [most, listed] = [200, 100]

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
    for (const chosen of request.body.getAll('dispatch').slice(0, most)) outcomes.push(await retried(visit, chosen))
    return reply.page(result(visit, outcomes))
  })
  done()
}

/** What a form says of a dispatch: its id, and when it failed. */
function chosenOf ({ dispatchId, finishedAt }: DispatchView): string {
  return `${dispatchId} ${finishedAt ?? ''}`
}

/** Retries a dispatch as it was shown: one that a form was sent for before has failed again since, or has not failed. */
async function retried ({ api, words }: Visit, chosen: string): Promise<Outcome> {
  const [id = ''] = chosen.split(' ')
  const path = `/api/v1/dispatches/${encodeURIComponent(id)}`
  const now = await api.send<DispatchView>('GET', path)
  if (!now.ok) return { id, said: sentences(words, now.error) }
  if (now.body.status !== 'failed' || chosenOf(now.body) !== chosen) return { id, said: html`${words.retryAllChanged}` }
  const answer = await api.send('POST', `${path}/retry?async=true`, {}, undefined, { newest: true })
  return { id, said: answer.ok ? undefined : sentences(words, answer.error) }
}

async function preview (visit: Visit, filter: Filter): Promise<Html> {
  const { words, api } = visit
  const read = (cursor: string): Promise<List> =>
    api.read<List>(withQuery('/api/v1/dispatches', { ...apiFilterOf(visit, filter), limit: String(listed), cursor }), { newest: true })
  const [first, providers] = await Promise.all([read(''), readProviders(visit)])
  const second = first.nextCursor === null ? { data: [], nextCursor: null } : await read(first.nextCursor)
  const found = [...first.data, ...second.data].slice(0, most)
  const back = withQuery('/console/dispatches', filter)
  const main = found.length === 0
    ? html`<p>${words.retryAllNone}</p><p><a href="${back}">${words.retryAllBack}</a></p>`
    : html`<section aria-labelledby="what"><h2 id="what">${fill(words.retryAllCount, { n: found.length })}</h2><p>${words.retryIntro}</p>${
      second.nextCursor === null ? html`` : html`<p>${fill(words.retryAllMore, { most })}</p>`
    }<form method="post" action="/console/dispatches/retry">${
      found.map((dispatch) => html`<input type="hidden" name="dispatch" value="${chosenOf(dispatch)}">`)
    }
<div class="actions"><button>${words.retryAll}</button><a href="${back}">${words.cancelBack}</a></div></form></section>
<section aria-label="${words.dispatches}">${dispatchTable(words, found, providers)}</section>`
  return page(visit, { title: words.retryAll, section: 'dispatches', main })
}

function result (visit: Visit, outcomes: readonly Outcome[]): Html {
  const { words } = visit
  const refused = outcomes.filter(({ said }) => said !== undefined)
  const rows = refused.map(({ id, said = html`` }) =>
    html`<tr><th scope="row"><a href="/console/dispatches/${encodeURIComponent(id)}"><code>${id}</code></a></th><td>${said}</td></tr>\n`
  )
  const main = html`${notice('good', html`<p>${fill(words.retryAllDone, { n: outcomes.length - refused.length })}</p>`)}${
    rows.length === 0
      ? html``
      : html`<section aria-labelledby="refused"><h2 id="refused">${words.retryAllRefused}</h2>${
        table(words.retryAllRefused, [words.dispatchId, words.reason], rows)
      }</section>`
  }<p><a href="/console/dispatches">${words.retryAllBack}</a></p>`
  return page({ ...visit, path: '/console/dispatches' }, { title: words.retryAll, section: 'dispatches', main })
}
