import { ApiRefused, badge, type Confirmation, type ConfirmRequest, facts, fill, following, type Html, html, notice, page, pathIn,
  sentences, serviceNames, table, time } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import type { Readable } from 'node:stream'
import type { BatchView, ResultView } from '../contract/batches.ts'
import { stateWord, statusWord, type Visit, visitOf, type Words } from './words.ts'

type Named = { Params: { id: string } }

const apiPath = (id: string): string => `/api/v1/batches/${encodeURIComponent(id)}`
const shownFaults = 20
const actions = ['pause', 'resume', 'cancel', 'retry'] as const
/** What the results of a batch are filtered by. */
const filters = ['refused', 'failed']

/** A batch while it is checked and sent, and what became of its rows. */
export const batchPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/batches/:id', async (request, reply) => {
    const visit = visitOf(request)
    const { id } = request.params
    const { test } = await visit.api.read<BatchView>(apiPath(id))
    const its = test ? 'test' : 'live'
    if (its !== visit.mode) return reply.redirect(pathIn(its, `/console/batches/${encodeURIComponent(id)}`), 303)
    return show(visit, reply, id)
  })

  for (const action of actions) {
    const confirms = questions[action]
    const config = confirms === undefined ? {} : { confirms }
    app.post<Named>(`/batches/:id/${action}`, { config }, async (request, reply) => {
      const visit = visitOf(request)
      const { id } = request.params
      const changed = await visit.api.send('POST', `${apiPath(id)}/${action}`)
      if (changed.ok) return reply.redirect(`/console/batches/${encodeURIComponent(id)}`, 303)
      if (changed.status !== 409) throw new ApiRefused(changed)
      return show(visit, reply.code(409), id, notice('bad', sentences(visit.words, changed.error)))
    })
  }

  app.get<Named & { Querystring: { status?: unknown } }>('/batches/:id/results.csv', async (request, reply) => {
    const { params: { id }, query: { status } } = request
    const only = filters.find((name) => name === status)
    const stream = await resultsOf(visitOf(request), reply, id, `format=csv${only === undefined ? '' : `&status=${only}`}`)
    return reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="batch-${encodeURIComponent(id)}.csv"`,
      'content-security-policy': 'default-src \'none\'; sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(stream)
  })
  done()
}

/**
 * Asks before the rest of a batch is cancelled: how many rows wait, and how many are on their way; and before what failed is sent again:
 * how many rows that are.
 */
const questions: Partial<Record<typeof actions[number], (request: ConfirmRequest) => Promise<Confirmation>>> = {
  cancel: (request) => question(request, { title: 'batchCancel', intro: 'batchCancelIntro', states: shownStates }),
  retry: (request) => question(request, { title: 'batchRetry', intro: 'batchRetryIntro', states: retried })
}

/** The states of the rows that are sent again. */
const retried = ['failed', 'partial', 'refused'] as const

type Question = { title: keyof Words, intro: keyof Words, states: readonly typeof shownStates[number][] }

async function question (request: ConfirmRequest, { title, intro, states }: Question): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const { id } = request.params
  const { counts } = await api.read<BatchView>(apiPath(id))
  const button = words[title]
  return {
    title: button,
    says: [words[intro]],
    touches: states.filter((state) => counts[state] > 0).map((state) => [stateWord(words, state), counts[state]] as const),
    button,
    back: `/console/batches/${encodeURIComponent(id)}`
  }
}

function resultsOf ({ api }: Visit, reply: FastifyReply, id: string, query: string): Promise<Readable> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return api.stream(`${apiPath(id)}/results?${query}`, gone.signal)
}

/** The first rows of which no dispatch was made. */
async function faultsOf (visit: Visit, reply: FastifyReply, id: string): Promise<ResultView[]> {
  let text = ''
  for await (const piece of await resultsOf(visit, reply, id, 'status=refused')) {
    text += String(piece)
    if (text.split('\n').length > shownFaults) break
  }
  return text.split('\n').slice(0, -1).slice(0, shownFaults).map((line) => JSON.parse(line) as ResultView)
}

async function show (visit: Visit, reply: FastifyReply, id: string, said: Html = html``): Promise<FastifyReply> {
  const { api, words } = visit
  const batch = await api.read<BatchView>(apiPath(id))
  const { status, service, counts, credits, createdAt, finishedAt, test, problem } = batch
  const faults = counts.refused === 0 ? [] : await faultsOf(visit, reply, id)
  const at = `/console/batches/${encodeURIComponent(id)}`
  const main = html`<p><a href="/console/batches">${words.batchBack}</a></p>${said}${
    problem === undefined ? html`` : notice('bad', sentences(words, problem))
  }${isReady(batch) ? notice('good', html`<p>${fill(words.batchReady, { refused: counts.refused, total: counts.total })}</p>`) : html``}
<section aria-labelledby="state"><h2 id="state">${words.status}</h2>${progress(words, batch)}${
    finishedAt === null ? following(words, { changes: '/console/dispatches/changes', page: at }) : html``
  }${
    facts([
      [words.status, html`${statusWord(words, status)}${test ? html` ${badge(words, 'mode', 'test')}` : html``}`],
      [words.batchService, serviceNames(words, service.split('/'), ' → ')],
      [words.batchCredits, credits === null ? undefined : String(credits)],
      [words.batchStarted, time(createdAt)],
      [words.finished, finishedAt === null ? undefined : time(finishedAt)]
    ])
  }${buttons(words, batch, at)}</section>
<section aria-labelledby="counts"><h2 id="counts">${words.batchCounts}</h2>${countTable(words, batch)}</section>
<section aria-labelledby="results"><h2 id="results">${words.batchResults}</h2>${links(words, batch, at)}${
    faults.length === 0 ? html`` : faultTable(words, faults)
  }</section>`
  return reply.page(page({ ...visit, path: at }, { title: fill(words.batchOne, { at: createdAt.slice(0, 10) }), section: 'batches', main }))
}

/** Whether all rows are checked, and nothing but its sender keeps it from being sent. */
function isReady ({ status, counts, problem }: BatchView): boolean {
  return status === 'paused' && problem === undefined && counts.unchecked === 0 && counts.waiting === counts.total - counts.refused
}

function progress (words: Words, { status, counts }: BatchView): Html {
  const { total, unchecked, waiting, running } = counts
  const isChecking = status === 'checking'
  const done = isChecking ? total - unchecked : total - unchecked - waiting - running
  const label = fill(isChecking ? words.batchChecked : words.batchProgress, { done, total })
  return html`<p><label for="progress">${label}</label><br><progress id="progress" max="${String(total)}" value="${
    String(done)
  }"></progress></p>`
}

function buttons (words: Words, batch: BatchView, at: string): Html {
  const { status, counts } = batch
  const failed = retried.some((state) => counts[state] > 0)
  const offered: readonly [action: typeof actions[number], label: string, kind: string, when: boolean][] = [
    ['resume', isReady(batch) ? fill(words.batchSendNow, { n: counts.waiting }) : words.batchResume, '', status === 'paused'],
    ['pause', words.batchPause, 'second', ['checking', 'queued', 'running'].includes(status)],
    ['retry', words.batchRetry, 'second', status === 'finished' && failed],
    ['cancel', words.batchCancel, 'danger', ['checking', 'queued', 'running', 'paused'].includes(status)]
  ]
  return html`<div class="actions">${
    offered.filter(([, , , when]) => when).map(([action, label, kind]) =>
      html`<form method="post" action="${at}/${action}"><button class="${kind}">${label}</button></form>`
    )
  }</div>`
}

const shownStates = ['unchecked', 'waiting', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled', 'refused'] as const

function countTable (words: Words, { counts }: BatchView): Html {
  return table(words.batchCounts, [words.status, words.batchCount],
    shownStates.filter((state) => counts[state] > 0).map((state) =>
      html`<tr><th scope="row">${stateWord(words, state)}</th><td class="count">${String(counts[state])}</td></tr>
`
    ))
}

function links (words: Words, { counts }: BatchView, at: string): Html {
  const link = (query: string, label: string): Html => html`<li><a href="${at}/results.csv${query}">${label}</a></li>`
  return html`<ul>${link('', words.batchResultsCsv)}${
    counts.failed + counts.partial > 0 ? link('?status=failed', words.batchResultsFailed) : html``
  }${counts.refused > 0 ? link('?status=refused', words.batchResultsRefused) : html``}</ul>`
}

function faultTable (words: Words, faults: readonly ResultView[]): Html {
  return html`<h3>${words.batchFaults}</h3>${
    table(words.batchFaults, [words.batchRow, words.batchFault], faults.map(({ row, problem }) =>
      html`<tr><th scope="row">${String(row)}</th><td>${problem === undefined ? html`` : sentences(words, problem)}</td></tr>
`
    ))
  }`
}
