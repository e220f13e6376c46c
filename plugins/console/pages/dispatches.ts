import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import type { Query } from '../form/filter.ts'
import { fill, type Words } from '../language/language.ts'
import { ApiRefused, type DispatchView, type ProviderView, withQuery } from '../session/api.ts'
import { pathIn } from '../session/mode.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import { columnsForm, columnsOf } from './columns.ts'
import { chosenButtons, chosenForm } from './dispatches-chosen.ts'
import { apiFilterOf, type Filter, filterForm, filterOf, isFiltered, missingIn, readChoices, viewLinks } from './dispatches-filter.ts'
import { dispatchList, dispatchTable } from './dispatches-table.ts'
import { dispatchColumns, maxRows, sendCsv } from './export.ts'
import { following } from './follow.ts'
import { notice, page, sentences } from './layout.ts'
import { nameOf } from './provider-names.ts'

type List = { data: DispatchView[], nextCursor: string | null }

/** The dispatches of the company, filtered, a page at a time; a search that finds one dispatch leads there. */
export const dispatchesPage: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/dispatches', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const filter = filterOf(request.query)
    // Addresses that were kept from when tests were a filter.
    const kept = { true: 'test', false: 'live' }[String(request.query['test'])]
    if (kept !== undefined && kept !== visit.mode) {
      return reply.redirect(pathIn(kept === 'test' ? kept : 'live', withQuery('/console/dispatches', filter)), 303)
    }
    if (missingIn(filter) !== undefined) return reply.code(400).page(await incomplete(visit, filter))
    const path = withQuery('/api/v1/dispatches', apiFilterOf(visit, filter))
    const [answer, choices] = await Promise.all([api.send<List>('GET', path), readChoices(visit)])
    const only = answer.ok ? soleOf(filter, answer.body) : undefined
    if (only !== undefined) return reply.redirect(`/console/dispatches/${only.dispatchId}`, 303)
    const found = answer.ok
      ? list(visit, answer.body, { filter, providers: choices.providers })
      : notice('bad', sentences(words, answer.error))
    const main = html`${releasedSaid(words, request.query['released'])}${viewLinks(words, filter)}
<section aria-label="${words.filter}">${filterForm(visit, filter, choices)}</section>
${
      filter.cursor === ''
        ? following(words, { changes: '/console/dispatches/changes', page: withQuery('/console/dispatches', filter) })
        : html``
    }<section aria-label="${words.dispatches}">${found}</section>`
    return reply.code(answer.ok ? 200 : answer.status).page(page(visit, { title: words.dispatches, section: 'dispatches', main }))
  })

  app.get<{ Querystring: Query }>('/dispatches.csv', async (request, reply) => {
    const visit = visitOf(request)
    const filter = filterOf(request.query)
    if (missingIn(filter) !== undefined) return reply.code(400).page(await incomplete(visit, filter))
    return sendCsv<DispatchView>(visit, reply, {
      name: 'dispatches',
      path: '/api/v1/dispatches',
      filter: apiFilterOf(visit, filter),
      columns: dispatchColumns
    })
  })

  app.post<{ Body: URLSearchParams }>('/dispatches/release', async (request, reply) => {
    const { api, mode } = visitOf(request)
    const filter = filterOf(Object.fromEntries(request.body))
    // A release is one of all that waits, what is real with it.
    if (mode === 'test') return reply.redirect(pathIn('live', withQuery('/console/dispatches', filter)), 303)
    const chosen = filter.providerName === '' ? {} : { providerName: filter.providerName }
    const released = await api.send<{ released: number }>('POST', '/api/v1/queue/release', chosen)
    if (!released.ok) throw new ApiRefused(released)
    return reply.redirect(withQuery('/console/dispatches', { ...filter, released: String(released.body.released) }), 303)
  })
  done()
}

/** The form of a filter that says half of something, with a sentence at what is missing; nothing is listed. */
export async function incomplete (visit: Visit, filter: Filter): Promise<Html> {
  const { words } = visit
  const main = html`${viewLinks(words, filter)}
<section aria-label="${words.filter}">${filterForm(visit, filter, await readChoices(visit))}</section>`
  return page({ ...visit, path: '/console/dispatches' }, { title: words.dispatches, section: 'dispatches', main })
}

/** The one dispatch that was searched for, and by nothing else. */
function soleOf ({ search, ...others }: Filter, { data: [only, ...more] }: List): DispatchView | undefined {
  return search !== '' && more.length === 0 && Object.values(others).every((value) => value === '') ? only : undefined
}

function releasedSaid (words: Words, released: unknown): Html {
  const count = typeof released === 'string' && /^\d{1,9}$/.test(released) ? released : undefined
  return count === undefined ? html`` : notice('good', html`<p>${fill(words.releaseDoneHere, { n: count })}</p>`)
}

type Shown = { filter: Filter, providers: readonly ProviderView[] }

function list (visit: Visit, { data, nextCursor }: List, { filter, providers }: Shown): Html {
  const { words } = visit
  if (data.length === 0) {
    return isFiltered(filter)
      ? html`<p>${words.noneFiltered}</p>`
      : html`<p>${words.noneYet}</p><p><a href="/console/send">${words.stepSend}</a></p>`
  }
  const next = nextCursor === null
    ? html``
    : html`<hr><p><a href="${withQuery('/console/dispatches', { ...filter, cursor: nextCursor })}" rel="next">${words.older}</a></p>`
  const columns = columnsOf(visit, dispatchList)
  return html`${columnsForm(visit, dispatchList)}${dispatchTable(words, data, providers, { columns, chosenBy: chosenForm })}${
    chosenButtons(words, filter)
  }${next}${whole(visit, filter, providers)}`
}

/** What can be done with all dispatches of a filter. */
function whole ({ words, actor, mode }: Visit, filter: Filter, providers: readonly ProviderView[]): Html {
  const all = { ...filter, cursor: '' }
  return html`<hr><div class="actions"><a class="button second" href="${withQuery('/console/dispatches.csv', all)}">${words.export}</a>${
    filter.status === '' || filter.status === 'failed'
      ? html`<a class="button second" href="${withQuery('/console/dispatches/retry', all)}">${words.retryAll}</a>`
      : html``
  }<span class="quiet">${fill(words.exportMost, { max: maxRows })}</span></div>${
    mode === 'live' && actor.role === 'admin' && (filter.stepStatus === 'unavailable' || filter.status === 'queued')
      ? releaseForm(words, all, providers)
      : html``
  }`
}

/** Lets those go on at once that wait for another try: an operator's release would be that of all companies. */
function releaseForm (words: Words, filter: Filter, providers: readonly ProviderView[]): Html {
  const kept = Object.entries(filter).filter(([, value]) => value !== '')
  return html`<hr><form method="post" action="/console/dispatches/release"><p>${words.releaseIntro}</p>${
    kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  }<div class="actions"><button class="second">${
    filter.providerName === '' ? words.releaseAny : fill(words.releaseCompany, { provider: nameOf(providers, filter.providerName) })
  }</button></div></form>`
}
