import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { choiceField } from '../form/fields.ts'
import { reasonOf } from '../form/sentence.ts'
import { fill, type Words } from '../language/language.ts'
import { ApiRefused, type ProcessView, type ProviderView, type QueueView } from '../session/api.ts'
import { visitOf } from '../session/visit.ts'
import { notice, page, table } from './layout.ts'
import { searchForm } from './operation-dispatches.ts'
import { nameOf, readProviders } from './provider-names.ts'

/** How the service does, for operators: the queue, its processes, and the providers that fail. */
export const operationPage: FastifyPluginCallback = (app, _options, done) => {
  app.post<{ Body: URLSearchParams }>('/operation/release', async (request, reply) => {
    const providerName = request.body.get('providerName') ?? ''
    const chosen = providerName === '' ? {} : { providerName }
    const released = await visitOf(request).api.send<{ released: number }>('POST', '/api/v1/queue/release', chosen)
    if (!released.ok) throw new ApiRefused(released)
    return reply.redirect(`/console/operation?released=${String(released.body.released)}`, 303)
  })

  app.get<{ Querystring: { released?: unknown } }>('/operation', async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const [queue, { data: processes }, providers] = await Promise.all([
      api.read<QueueView>('/api/v1/queue'),
      api.read<{ data: ProcessView[] }>('/api/v1/providers/processes'),
      readProviders(visit)
    ])
    const main = html`${releasedSaid(words, request.query.released)}${searchForm(words)}${queueSection(words, queue, providers)}${
      processSection(words, processes, providers)
    }${failingSection(words, providers)}`
    return reply.page(page(visit, { title: words.operation, section: 'operation', main }))
  })
  done()
}

function releasedSaid (words: Words, released: unknown): Html {
  const count = typeof released === 'string' && /^\d{1,9}$/.test(released) ? released : undefined
  return count === undefined ? html`` : notice('good', html`<p>${fill(words.releaseDone, { n: count })}</p>`)
}

function queueSection (
  words: Words,
  { dispatches: { queued, running, uncertain, triedAgain, oldest }, jobs }: QueueView,
  providers: readonly ProviderView[]
): Html {
  const options = providers.flatMap(({ code, name }) => code === undefined ? [] : [{ value: code, label: name ?? code }])
  const facts = [
    [words.status_queued, String(queued)],
    [words.status_running, String(running)],
    [words.queueAgain, String(triedAgain)],
    [words.queueUncertain, String(uncertain)],
    [words.queueOldest, secondsOf(words, oldest)]
  ] as const
  const rows = jobs.map((job) =>
    html`<tr><th scope="row"><code>${job.name}</code></th>${
      [job.ready, job.active, job.later, job.again].map((count) => html`<td class="count">${String(count)}</td>`)
    }<td class="count">${secondsOf(words, job.oldest)}</td></tr>\n`
  )
  const head = [words.job, words.jobReady, words.jobActive, words.jobLater, words.queueAgain, words.queueOldest]
  return html`<section aria-labelledby="queue"><h2 id="queue">${words.queue}</h2>
<dl>${facts.map(([title, value]) => html`<dt>${title}</dt><dd>${value}</dd>`)}</dl>
<p><a href="/console/operation/holds">${words.holdsAll}</a> · <a href="/console/operation/holds?uncertain=true">${words.holdsUncertain}</a></p>
<form method="post" action="/console/operation/release"><p>${words.releaseIntro}</p>${
    choiceField({ name: 'providerName', label: words.provider, options, none: words.any })
  }
<div class="actions"><button class="second">${words.release}</button></div></form>${
    rows.length === 0 ? html`` : html`<h3>${words.jobs}</h3>${table(words.jobs, head, rows)}`
  }</section>`
}

function secondsOf (words: Words, seconds: number | null): string {
  return seconds === null ? words.nothingWaits : fill(words.secondsLong, { n: Math.round(seconds) })
}

function processSection (words: Words, processes: readonly ProcessView[], installed: readonly ProviderView[]): Html {
  const rows = processes.map(({ machine, pid, converged, providers: running }) =>
    html`<tr><th scope="row">${machine}</th><td class="count">${String(pid)}</td><td>${
      converged
        ? html`<span class="badge good">${words.health_ok}</span>`
        : html`<span class="badge warn">${words.notConverged}</span>`
    }</td><td class="long">${running.map(({ code, version }) => `${nameOf(installed, code)} ${version}`).join(', ')}</td></tr>\n`
  )
  return html`<section aria-labelledby="processes"><h2 id="processes">${words.processes}</h2>${
    table(words.processes, [words.machine, words.process, words.status, words.providers], rows)
  }</section>`
}

function failingSection (words: Words, providers: readonly ProviderView[]): Html {
  const failing = providers.filter(({ state, health }) => state === 'refused' || health.state === 'failing')
  return html`<section aria-labelledby="failing"><h2 id="failing">${words.providersHealth}</h2>${
    failing.length === 0
      ? html`<p>${words.providersFine}</p>`
      : html`<ul class="list">${
        failing.map(({ code, name, folder, state, health }) =>
          html`<li>${name ?? html`<code>${code ?? folder}</code>`} <span class="badge warn">${
            state === 'refused' ? words.refused : words.failingVendor
          }</span> ${reasonOf(words, health)}</li>\n`
        )
      }</ul>`
  }</section>`
}
