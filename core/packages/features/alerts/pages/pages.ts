import { ApiRefused, errorOf, fill, type Html, html, notice, numberOf, page, type Query, reasonOf, sentenceOf, table, time, type Typed,
  withQuery, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { type AlertView, factsOf, type TrialView } from '../contract/alerts.ts'
import { alertForm, alertIn, newValues, numberLabel, type Provider, valuesOf } from './form.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/alerts'
const apiPath = '/api/v1/alerts'

type Sent = { Body: URLSearchParams }
type Named = { Params: { id: string } }

/** The alerts of the reader's company, for its admins. */
export const pages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/alerts', async (request, reply) => {
    const [{ words }, { query }] = [visitOf(request), request]
    const done = query['saved'] !== undefined ? words.alertSaved : query['removed'] !== undefined ? words.alertRemoved : undefined
    const reported = done === undefined ? html`` : notice('good', html`<p>${done}</p>`)
    return reply.page(await list(visitOf(request), reported))
  })

  app.post<Sent>('/alerts', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const added = await visit.api.send('POST', apiPath, alertIn(body, visit.words.code))
    if (added.ok) return reply.redirect(`${at}?saved=1`, 303)
    const typed = { body, error: errorOf(added) }
    return reply.code(added.status).page(await list(visit, html``, typed))
  })

  app.get<Named>('/alerts/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(await one(visit, await read(visit, request.params.id)))
  })

  app.post<Named & Sent>('/alerts/:id', async (request, reply) => {
    const [visit, { body, params: { id } }] = [visitOf(request), request]
    const alert = await read(visit, id)
    const changed = await visit.api.send('PUT', pathOf(id), alertIn(body, alert.language))
    if (changed.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(changed.status)
      .page(await one(visit, alert, { typed: { body, error: errorOf(changed) } }))
  })

  app.post<Named>('/alerts/:id/try', async (request, reply) => {
    const [visit, { params: { id } }] = [visitOf(request), request]
    const tried = await visit.api.send<TrialView>('POST', `${pathOf(id)}/try`)
    if (!tried.ok && tried.status !== 409) throw new ApiRefused(tried)
    const alert = await read(visit, id)
    const reported = tried.ok ? trial(visit.words, tried.body) : notice('warn', html`<p>${sentenceOf(visit.words, tried.error)}</p>`)
    return reply.code(tried.ok ? 200 : tried.status).page(await one(visit, alert, { message: reported }))
  })

  app.post<Named>('/alerts/:id/remove', {
    config: {
      confirms: async (request) => {
        const visit = visitOf(request)
        const { words } = visit
        const { name, kind, emails, callback, chat } = await read(visit, request.params.id)
        return {
          title: fill(words.alertRemoveTitle, { name }),
          says: [words.alertRemoveWhat],
          touches: [
            [words.alertKind, words[`alertKind_${kind}`]],
            [words.alertEmails, emails.length],
            [words.alertTells, [...callback ? [words.alertWay_callback] : [], ...chat === null ? [] : [words.alertWay_chat]].join(', ')]
          ],
          button: words.alertRemove,
          back: `${at}/${request.params.id}`
        }
      }
    }
  }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', pathOf(request.params.id))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(`${at}?removed=1`, 303)
  })
  done()
}

const pathOf = (id: string): string => `${apiPath}/${encodeURIComponent(id)}`
const read = (visit: Visit, id: string): Promise<AlertView> => visit.api.read<AlertView>(pathOf(id))

const readProviders = async ({ api }: Visit): Promise<readonly Provider[]> =>
  (await api.read<{ data: Provider[] }>('/api/v1/providers?schemas=false')).data

async function list (visit: Visit, message: Html, typed?: Typed): Promise<Html> {
  const { words, api, actor } = visit
  const [{ data }, providers] = await Promise.all([api.read<{ data: AlertView[] }>(apiPath), readProviders(visit)])
  const rows = data.map((alert) => {
    const { id, name, kind, since, undelivered } = alert
    return html`<tr><th scope="row"><a href="${at}/${id}">${name}</a></th><td>${words[`alertKind_${kind}`]}<div class="quiet">${
      conditionOf(words, alert)
    }</div></td><td>${waysOf(words, alert)}${
      undelivered.length === 0 ? html`` : html`<div class="quiet">${words.alertUndelivered}</div>`
    }</td><td>${stateOf(words, alert)}</td><td>${since === null ? html`` : time(since)}</td></tr>\n`
  })
  const main = html`${message}<section aria-label="${words.alerts}"><p>${words.alertsIntro}</p>${
    rows.length === 0
      ? html`<p>${words.alertsNone}</p>`
      : table(words.alerts, [words.alertName, words.alertKind, words.alertTells, words.status, words.alertSince], rows)
  }</section>
<section aria-labelledby="new"><h2 id="new">${words.alertNew}</h2>${
    alertForm(words, at, { values: typed?.body ?? newValues(actor.email), providers, typed })
  }</section>`
  return page({ ...visit, path: at }, { title: words.alerts, section: 'alerts', main })
}

const stateOf = (words: Words, { firing }: AlertView): Html =>
  html`<span class="badge ${firing ? 'bad' : 'good'}">${firing ? words.alertFiring : words.alertQuiet}</span>`

function waysOf (words: Words, { emails, callback, chat }: AlertView): string {
  return [
    ...emails.length === 0 ? [] : [`${words.alertWay_mail} (${emails.join(', ')})`],
    ...chat === null ? [] : [`${words.alertWay_chat} (${chat.host})`],
    ...callback ? [words.alertWay_callback] : []
  ].join(', ')
}

function trial (words: Words, { results }: TrialView): Html {
  return notice(results.every(({ sent }) => sent) ? 'good' : 'warn',
    html`<p>${words.alertTried}</p><ul>${
      results.map(({ way, sent, reason }) =>
        html`<li>${words[`alertWay_${way}`]}${words.colon}${sent ? words.alertSent : words.alertNotSent} ${
          reasonOf(words, { reason })
        }</li>`
      )
    }</ul>`)
}

/** Its numbers and filters, as the form calls them. */
function conditionOf (words: Words, alert: AlertView): string {
  const reported = factsOf[alert.kind].numbers.map((name) =>
    `${numberLabel(words, alert.kind, name)}${words.colon}${numberOf(words, alert[name] ?? 0)}`
  )
  const { service, provider } = alert
  return [...reported, ...service === undefined ? [] : [wordFor(words, 'service', service)], ...provider === undefined ? [] : [provider]]
    .join(
      ' · '
    )
}

/** The list of what an alert is about. Tests are none of it, also where its reader looks at tests. */
function listOf ({ kind, service, provider }: AlertView): string {
  const dispatches = (filter: Readonly<Record<string, string>>): string =>
    withQuery('/console/live/dispatches', { ...filter, service: service ?? '', providerName: provider ?? '' })
  return {
    failures: dispatches({ status: 'failed' }),
    provider_unavailable: dispatches({ stepStatus: 'unavailable' }),
    credits_low: '/console/credits',
    callbacks_failing: '/console/developers/endpoints',
    doubt: dispatches({ status: 'uncertain' })
  }[kind]
}

async function one (
  visit: Visit,
  alert: AlertView,
  { message = html``, typed }: { message?: Html, typed?: Typed } = {}
): Promise<Html> {
  const { words } = visit
  const { id, name, since, chat, kind } = alert
  const providers = await readProviders(visit)
  const path = `${at}/${id}`
  const main = html`<p><a href="${at}">${words.alertsAll}</a></p>${message}<section aria-label="${name}"><p class="quiet">${
    words[`alertKind_${kind}`]
  }</p><p>${stateOf(words, alert)} ${since === null ? html`` : time(since)} <a href="${listOf(alert)}">${
    words[`alertList_${kind}`]
  }</a></p>${alertForm(words, path, { values: typed?.body ?? valuesOf(alert), providers, host: chat?.host, typed })}</section>
<section aria-label="${words.alertTry}"><div class="actions"><form method="post" action="${path}/try"><button class="second">${words.alertTry}</button></form>
<form method="post" action="${path}/remove"><button class="danger">${words.alertRemove}</button></form></div></section>`
  return page({ ...visit, path }, { title: name, section: 'alerts', main })
}
