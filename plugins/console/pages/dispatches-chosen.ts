import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import type { DispatchView } from '../session/api.ts'
import { type Visit, visitOf } from '../session/visit.ts'
import type { Confirmation, ConfirmRequest } from './confirm.ts'
import type { Filter } from './dispatches-filter.ts'
import { chosenIn, chosenOf, dispatchTable, listField, listOf } from './dispatches-table.ts'
import { dispatchColumns, sendRows } from './export.ts'
import { notice, page, sentences, table } from './layout.ts'
import { readProviders } from './provider-names.ts'

/** How many are done at once. */
export const maxChosen = 200

/** The form whose buttons do something with the dispatches that are chosen in the list. */
export const chosenForm = 'chosen'

/** `said`: why it was not done; undefined: it was. */
export type Outcome = { id: string, said: Html | undefined }

/** What is done with the dispatches that a reader has chosen in the list. */
export const dispatchesChosenPages: FastifyPluginCallback = (app, _options, done) => {
  app.post<{ Body: URLSearchParams }>('/dispatches/chosen.csv', async (request, reply) => {
    const visit = visitOf(request)
    const chosen = await readChosen(visit, request.body)
    if (chosen.length === 0) return reply.code(422).page(nothing(visit, request.body))
    return sendRows(reply, 'dispatches', dispatchColumns, chosen)
  })

  for (const act of ['retry', 'cancel'] as const) {
    const confirms = (requested: ConfirmRequest): Promise<Confirmation | undefined> => confirmation(requested, act)
    app.post<{ Body: URLSearchParams }>(`/dispatches/chosen/${act}`, { config: { confirms } }, async (request, reply) => {
      const visit = visitOf(request)
      const chosen = chosenIn(request.body).slice(0, maxChosen)
      if (chosen.length === 0) return reply.code(422).page(nothing(visit, request.body))
      const outcomes: Outcome[] = []
      for (const one of chosen) outcomes.push(await changed(visit, one, act))
      return reply.page(outcomePage(visit, act, outcomes, listOf(request.body)))
    })
  }
  done()
}

/** The buttons below a list. */
export function chosenButtons (words: Words, filter: Filter): Html {
  const button = (act: string, label: string): Html =>
    html`<button class="second" formaction="/console/dispatches/${act}">${label}</button>`
  return html`<form method="post" id="${chosenForm}" action="/console/dispatches/chosen.csv">${
    listField(filter)
  }<div class="actions"><span class="quiet">${words.chosenDo}</span>${button('chosen.csv', words.chosenExport)}${
    button('chosen/retry', words.chosenRetry)
  }${button('chosen/cancel', words.chosenCancel)}</div></form>`
}

const pathOf = (chosen: string): string => `/api/v1/dispatches/${encodeURIComponent(chosen.split(' ')[0] ?? '')}`

/** Those that were chosen and are still there. */
async function readChosen ({ api }: Visit, body: URLSearchParams): Promise<DispatchView[]> {
  const answers = await Promise.all(chosenIn(body).slice(0, maxChosen).map((one) => api.send<DispatchView>('GET', pathOf(one))))
  return answers.flatMap((answer) => answer.ok ? [answer.body] : [])
}

/** Names all that is touched. Where nothing was chosen, the form says so. */
async function confirmation (request: ConfirmRequest, act: 'retry' | 'cancel'): Promise<Confirmation | undefined> {
  const visit = visitOf(request)
  const { words } = visit
  const [chosen, providers] = await Promise.all([readChosen(visit, request.body), readProviders(visit)])
  if (chosen.length === 0) return undefined
  const title = act === 'retry' ? words.chosenRetry : words.chosenCancel
  return {
    title,
    says: [act === 'retry' ? words.retryIntro : words.cancelIntro],
    touches: [[words.dispatches, chosen.length]],
    more: dispatchTable(words, chosen, providers),
    button: title,
    back: listOf(request.body)
  }
}

/** Does something with a dispatch as it was shown: one that has ended or failed again since is left alone. */
export async function changed ({ api, words }: Visit, chosen: string, act: 'retry' | 'cancel'): Promise<Outcome> {
  const [id = ''] = chosen.split(' ')
  const now = await api.send<DispatchView>('GET', pathOf(chosen))
  if (!now.ok) return { id, said: sentences(words, now.error) }
  if (chosenOf(now.body) !== chosen) return { id, said: html`${words.retryAllChanged}` }
  if (act === 'retry' && now.body.status !== 'failed') return { id, said: html`${words.retryOnlyFailed}` }
  const answer = act === 'retry'
    ? await api.send('POST', `${pathOf(chosen)}/retry?async=true`, {})
    : await api.send('POST', `${pathOf(chosen)}/cancel`)
  return { id, said: answer.ok ? undefined : sentences(words, answer.error) }
}

function nothing (visit: Visit, body: URLSearchParams): Html {
  const { words } = visit
  const main = html`${notice('bad', html`<p>${words.chosenNone}</p>`)}<p><a href="${listOf(body)}">${words.retryAllBack}</a></p>`
  return page({ ...visit, path: listOf(body) }, { title: words.dispatches, section: 'dispatches', main })
}

/** What came of each. */
export function outcomePage (visit: Visit, act: 'retry' | 'cancel', outcomes: readonly Outcome[], back: string): Html {
  const { words } = visit
  const refused = outcomes.filter(({ said }) => said !== undefined)
  const [title, done, not] = act === 'retry'
    ? [words.retryAll, words.retryAllDone, words.retryAllRefused]
    : [words.chosenCancel, words.chosenCancelled, words.chosenNotCancelled]
  const rows = refused.map(({ id, said = html`` }) =>
    html`<tr><th scope="row"><a href="/console/dispatches/${encodeURIComponent(id)}"><code>${id}</code></a></th><td>${said}</td></tr>\n`
  )
  const main = html`${notice('good', html`<p>${fill(done, { n: outcomes.length - refused.length })}</p>`)}${
    rows.length === 0
      ? html``
      : html`<section aria-labelledby="refused"><h2 id="refused">${not}</h2>${table(not, [words.dispatchId, words.reason], rows)}</section>`
  }<p><a href="${back}">${words.retryAllBack}</a></p>`
  return page({ ...visit, path: '/console/dispatches' }, { title, section: 'dispatches', main })
}
