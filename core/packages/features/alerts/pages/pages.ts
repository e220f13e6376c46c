import { ApiRefused, errorOf, fill, type Html, html, notice, page, type Query, sentenceOf, table, time,
  type Typed } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import type { AlertView, TrialView } from '../contract/alerts.ts'
import { alertForm, alertIn } from './form.ts'
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
    return reply.page(await list(visitOf(request), done === undefined ? html`` : notice('good', html`<p>${done}</p>`)))
  })

  app.post<Sent>('/alerts', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const added = await visit.api.send('POST', apiPath, alertIn(body, visit.words.code))
    if (added.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(added.status).page(await list(visit, html``, { body, error: errorOf(added) }))
  })

  app.get<Named>('/alerts/:id', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(one(visit, await read(visit, request.params.id)))
  })

  app.post<Named & Sent>('/alerts/:id', async (request, reply) => {
    const [visit, { body, params: { id } }] = [visitOf(request), request]
    const alert = await read(visit, id)
    const changed = await visit.api.send('PUT', pathOf(id), alertIn(body, alert.language))
    if (changed.ok) return reply.redirect(`${at}?saved=1`, 303)
    return reply.code(changed.status).page(one(visit, alert, { typed: { body, error: errorOf(changed) } }))
  })

  app.post<Named>('/alerts/:id/try', async (request, reply) => {
    const [visit, { params: { id } }] = [visitOf(request), request]
    const tried = await visit.api.send<TrialView>('POST', `${pathOf(id)}/try`)
    if (!tried.ok && tried.status !== 409) throw new ApiRefused(tried)
    const alert = await read(visit, id)
    const told = tried.ok ? trial(visit.words, tried.body) : notice('warn', html`<p>${sentenceOf(visit.words, tried.error)}</p>`)
    return reply.code(tried.ok ? 200 : tried.status).page(one(visit, alert, { told }))
  })

  app.post<Named>('/alerts/:id/remove', {
    config: {
      confirms: async (request) => {
        const visit = visitOf(request)
        const { words } = visit
        const { name } = await read(visit, request.params.id)
        return {
          title: fill(words.alertRemoveTitle, { name }),
          says: [words.alertRemoveWhat],
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

async function list (visit: Visit, told: Html, typed?: Typed): Promise<Html> {
  const { words, api } = visit
  const { data } = await api.read<{ data: AlertView[] }>(apiPath)
  const rows = data.map((alert) => {
    const { id, name, kind, since, undelivered } = alert
    return html`<tr><th scope="row"><a href="${at}/${id}">${name}</a></th><td>${words[`alertKind_${kind}`]}</td><td>${
      waysOf(words, alert)
    }${undelivered.length === 0 ? html`` : html`<div class="quiet">${words.alertUndelivered}</div>`}</td><td>${
      stateOf(words, alert)
    }</td><td>${since === null ? html`` : time(since)}</td></tr>\n`
  })
  const main = html`${told}<section aria-label="${words.alerts}"><p>${words.alertsIntro}</p>${
    rows.length === 0
      ? html`<p>${words.alertsNone}</p>`
      : table(words.alerts, [words.alertName, words.alertKind, words.alertTells, words.status, words.alertSince], rows)
  }</section>
<section aria-labelledby="new"><h2 id="new">${words.alertNew}</h2>${alertForm(words, at, { typed })}</section>`
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
        html`<li>${words[`alertWay_${way}`]}: ${sent ? words.alertSent : words.alertNotSent}${
          reason === undefined ? html`` : html` <span lang="en">${reason}</span>`
        }</li>`
      )
    }</ul>`)
}

function one (visit: Visit, alert: AlertView, { told = html``, typed }: { told?: Html, typed?: Typed } = {}): Html {
  const { words } = visit
  const { id, name, since } = alert
  const path = `${at}/${id}`
  const main = html`<p><a href="${at}">${words.alertsAll}</a></p>${told}<section aria-label="${name}"><p>${stateOf(words, alert)} ${
    since === null ? html`` : time(since)
  }</p>${alertForm(words, path, { alert, typed })}</section>
<section aria-label="${words.alertTry}"><div class="actions"><form method="post" action="${path}/try"><button class="second">${words.alertTry}</button></form>
<form method="post" action="${path}/remove"><button class="danger">${words.alertRemove}</button></form></div></section>`
  return page({ ...visit, path }, { title: name, section: 'alerts', main })
}
