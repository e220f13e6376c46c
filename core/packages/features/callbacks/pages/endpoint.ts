import type { CallbackView, EndpointTest, EndpointView, NewCallbackSecret, Resent } from '@dispatch/contract'
import { ApiRefused, badge, callbackTable, choiceField, type Confirmation, type ConfirmRequest, errorOf, fill, type Html, html, longList,
  notice, optionsFor, page, picks, picksForm, reasonOf, said, secretRenewal, sentenceOf, table, textField, time, type Typed, withMany,
  withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { endpointFields, endpointIn, endpointsAt, secretPage, stateBadge } from './endpoints.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Query = Readonly<Record<string, unknown>>
type Named = { Params: { id: string }, Body: URLSearchParams, Querystring: Query }
type Callbacks = { data: CallbackView[], nextCursor: string | null }
type Shown = { message?: Html, typed?: Typed, query?: Query }

const states = ['pending', 'delivered', 'failed', 'stopped']

/** One endpoint: its settings, its secret, a test, and what was delivered. */
export const endpointPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<Named>('/developers/endpoints/:id', async (request, reply) => {
    const [visit, { query }] = [visitOf(request), request]
    return reply.page(await view(visit, request.params.id, { message: doneOf(visit.words, query), query }))
  })

  app.post<Named>('/developers/endpoints/:id', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const changed = await visit.api.send('PUT', pathOf(request), endpointIn(body))
    if (changed.ok) return reply.redirect(`${at(request)}?saved=1`, 303)
    if (changed.status === 404) throw new ApiRefused(changed)
    return reply.code(changed.status).page(await view(visit, request.params.id, { typed: { body, error: errorOf(changed) } }))
  })

  app.post<Named>('/developers/endpoints/:id/pause', async (request, reply) => {
    const pausedUntil = request.body.get('pause') === 'day' ? new Date(Date.now() + day).toISOString() : null
    const changed = await visitOf(request).api.send('PUT', pathOf(request), { pausedUntil })
    if (!changed.ok) throw new ApiRefused(changed)
    return reply.redirect(`${at(request)}?saved=1`, 303)
  })

  app.post<Named>('/developers/endpoints/:id/remove', { config: { confirms: removal } }, async (request, reply) => {
    const removed = await visitOf(request).api.send('DELETE', pathOf(request))
    if (!removed.ok) throw new ApiRefused(removed)
    return reply.redirect(`${endpointsAt}?removed=1`, 303)
  })

  const renewal = {
    async confirms (request: ConfirmRequest): Promise<Confirmation> {
      const { words, api } = visitOf(request)
      // Only whoever may see the endpoint is asked.
      await api.read<EndpointView>(pathOf(request))
      return secretRenewal(words, at(request))
    }
  }
  app.post<Named>('/developers/endpoints/:id/secret', { config: renewal }, async (request, reply) => {
    const visit = visitOf(request)
    const { words, api } = visit
    const endpoint = await api.read<EndpointView>(pathOf(request))
    // As for the secret of the callbacks: a form that is sent again must not replace what its first sending has made.
    if (newestOf(endpoint) !== (request.body.get('newest') ?? '')) {
      const reported = notice('warn', html`<p>${words.callbackSecretMadeAlready}</p>`)
      return reply.code(409).page(await view(visit, endpoint.id, { message: reported }))
    }
    const made = await api.send<NewCallbackSecret>('POST', `${pathOf(request)}/secret`)
    if (!made.ok) throw new ApiRefused(made)
    const { previousUntil } = made.body
    const until = previousUntil === null ? html`` : html`<p>${words.callbackSecretUntil} ${time(previousUntil)}</p>`
    return reply.page(secretPage(visit, { ...endpoint, ...made.body }, until))
  })

  app.post<Named>('/developers/endpoints/:id/test', async (request, reply) => {
    const visit = visitOf(request)
    const tested = await visit.api.send<EndpointTest>('POST', `${pathOf(request)}/test`)
    if (!tested.ok) throw new ApiRefused(tested)
    return reply.page(await view(visit, request.params.id, { message: testNotice(visit.words, tested.body) }))
  })

  app.post<Named>('/developers/endpoints/:id/resend', { config: { confirms: resending } }, async (request, reply) => {
    const visit = visitOf(request)
    const resent = await visit.api.send<Resent>('POST', `${pathOf(request)}/resend`, { since: sinceIn(request.body) })
    if (resent.ok) {
      return reply.redirect(`${at(request)}?queued=${String(resent.body.queued)}${resent.body.more ? '&more=1' : ''}`, 303)
    }
    const reported = notice('bad', html`<p>${sentenceOf(visit.words, errorOf(resent))}</p>`)
    return reply.code(resent.status).page(await view(visit, request.params.id, { message: reported }))
  })

  app.post<{ Params: { id: string, callback: string } }>('/developers/endpoints/:id/callbacks/:callback', async (request, reply) => {
    const sent = await visitOf(request).api.send('POST', `/api/v1/callbacks/${encodeURIComponent(request.params.callback)}/replay`)
    if (!sent.ok) throw new ApiRefused(sent)
    return reply.redirect(`${endpointsAt}/${encodeURIComponent(request.params.id)}?sent=1`, 303)
  })

  withMany(app, {
    path: '/developers/endpoints/:id/chosen/send',
    list: ({ params }) => at({ params: params as Named['Params'] }),
    section: 'developers',
    title: ({ words }) => words.sendAgain,
    act: ({ api }, id) => api.send('POST', `/api/v1/callbacks/${encodeURIComponent(id)}/replay`)
  })
  done()
}

/** Asks before an endpoint is removed: how many callbacks wait for it. */
async function removal (request: ConfirmRequest): Promise<Confirmation> {
  const { words, api } = visitOf(request)
  const [{ name, url }, waiting] = await Promise.all([
    api.read<EndpointView>(pathOf(request)),
    api.read<Callbacks>(`${pathOf(request)}/callbacks?state=pending&limit=100`)
  ])
  return {
    title: fill(words.endpointRemoveFull, { name }),
    says: [words.endpointRemoveIntro],
    touches: [[words.endpointAddress, url], [words.endpointWaiting, countOf(waiting)]],
    button: words.endpointRemove,
    back: at(request)
  }
}

/** The beginning of the day that a form names; what is none is the API's to judge. */
function sinceIn (body: URLSearchParams): string {
  const since = body.get('since') ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(since) ? `${since}T00:00:00Z` : since
}

/** Asks before callbacks are sent again: how many would be. Undefined where there are none, or the day is none. */
async function resending (request: ConfirmRequest): Promise<Confirmation | undefined> {
  const { words, api } = visitOf(request)
  const since = encodeURIComponent(sinceIn(request.body))
  const found = await api.send<Callbacks>('GET', `${pathOf(request)}/callbacks?failedSince=${since}&limit=100`)
  if (!found.ok || found.body.data.length === 0) return undefined
  return {
    title: words.endpointResend,
    says: [words.endpointResendIntro],
    touches: [[words.endpointNotReceived, countOf(found.body)]],
    button: words.sendAgain,
    back: at(request)
  }
}

/** How many callbacks a page has, and whether there are more. */
const countOf = ({ data, nextCursor }: Callbacks): string => `${String(data.length)}${nextCursor === null ? '' : '+'}`

/** In milliseconds. */
const day = 86_400_000

type OfEndpoint = { params: { id: string } }

function pathOf ({ params: { id } }: OfEndpoint): string {
  return `/api/v1/company/callback-endpoints/${encodeURIComponent(id)}`
}

function at ({ params: { id } }: OfEndpoint): string {
  return `${endpointsAt}/${encodeURIComponent(id)}`
}

function newestOf ({ secrets }: EndpointView): string {
  return secrets[0]?.createdAt ?? ''
}

/** What was just done, as the address tells it. */
function doneOf (words: Words, { saved, sent, queued, more }: Query): Html {
  if (saved !== undefined) return notice('good', html`<p>${words.endpointSaved}</p>`)
  if (sent !== undefined) return notice('good', html`<p>${words.callbackSent}</p>`)
  if (typeof queued !== 'string' || !/^\d{1,6}$/.test(queued)) return html``
  return notice('good', html`<p>${fill(words.endpointResent, { n: queued })} ${more === undefined ? '' : words.endpointResentMore}</p>`)
}

function testNotice (words: Words, { outcome, status, milliseconds, reason }: EndpointTest): Html {
  const answer = status === undefined ? '' : fill(words.endpointTestAnswer, { status, milliseconds })
  return notice(outcome === 'delivered' ? 'good' : 'bad',
    html`<p>${words.endpointTested} ${badge(words, 'state', outcome)} ${answer} ${reasonOf(words, { reason })}</p>`)
}

async function view (visit: Visit, id: string, { message = html``, typed, query = {} }: Shown): Promise<Html> {
  const { words, api, mode } = visit
  const path = `/api/v1/company/callback-endpoints/${encodeURIComponent(id)}`
  const [state, cursor] = ['state', 'cursor'].map((name) => typeof query[name] === 'string' ? query[name] : '')
  const [endpoint, callbacks] = await Promise.all([
    api.read<EndpointView>(path),
    api.read<Callbacks>(
      withQuery(`${path}/callbacks`, { limit: '25', test: String(mode === 'test'), state, cursor })
    )
  ])
  const own = `${endpointsAt}/${endpoint.id}`
  const main = html`<p><a href="${endpointsAt}">${words.endpoints}</a></p>${message}
<section aria-labelledby="settings"><h2 id="settings">${words.settings} ${stateBadge(words, endpoint)}</h2>${
    said(words, typed, 'name', 'url', 'types')
  }
<form method="post" action="${own}" novalidate>${
    endpointFields(words, typed === undefined ? endpoint : endpointIn(typed.body), typed)
  }<div class="actions"><button>${words.save}</button></div></form>
${
    pauseForm(words, endpoint, own)
  }<hr><p>${words.endpointTestIntro}</p><form method="post" action="${own}/test"><button class="second">${words.endpointTestSend}</button></form>
</section>
${secretSection(words, endpoint, own)}
<section aria-labelledby="sent"><h2 id="sent">${words.endpointCallbacks}</h2>${filterForm(words, own, state)}${
    callbacks.data.length === 0
      ? html`<p>${words.endpointCallbacksNone}</p>`
      : callbacksOf({ ...visit, path: withQuery(own, { state, cursor }) }, callbacks.data, own)
  }${
    callbacks.nextCursor === null
      ? html``
      : html`<hr><p><a href="${withQuery(own, { state, cursor: callbacks.nextCursor })}" rel="next">${words.older}</a></p>`
  }${resendForm(words, endpoint, own)}</section>
<section aria-label="${words.endpointRemove}"><form method="post" action="${own}/remove"><button class="danger">${
    fill(words.endpointRemoveFull, { name: endpoint.name })
  }</button></form></section>`
  return page({ ...visit, path: own }, { title: endpoint.name, section: 'developers', main })
}

/** Those that are not on their way can be sent again: each, or many. */
function callbacksOf (visit: Visit, callbacks: readonly CallbackView[], own: string): Html {
  const { words } = visit
  const cell = ({ id, state }: CallbackView): Html =>
    state === 'pending'
      ? html``
      : html`<form method="post" action="${own}/callbacks/${id}"><button class="second">${words.sendAgain}</button></form>`
  return html`${
    longList(visit, callbackTable, {
      label: words.endpointCallbacks,
      rows: callbacks,
      known: { words },
      pick: picks(words, 'many',
        ({ id, type, createdAt, state }) => state === 'pending' ? undefined : { id, name: `${type} ${createdAt}` }),
      act: { title: words.action, cell }
    })
  }${picksForm(words, 'many', { action: `${own}/chosen/send`, label: words.sendAgain })}`
}

function pauseForm (words: Words, { enabled, pausedUntil }: EndpointView, own: string): Html {
  if (!enabled) return html``
  const [intro, value, does] = pausedUntil === undefined
    ? [words.endpointPauseIntro, 'day', words.endpointPause]
    : [words.endpointPaused, 'none', words.endpointGoOn]
  return html`<hr><p>${intro}</p><form method="post" action="${own}/pause"><button class="second" name="pause" value="${value}">${does}</button></form>`
}

function secretSection (words: Words, endpoint: EndpointView, own: string): Html {
  const rows = endpoint.secrets.map(({ createdAt, expiresAt }) =>
    html`<tr><td>${time(createdAt)}</td><td>${expiresAt === null ? words.callbackSecretCurrent : time(expiresAt)}</td></tr>\n`
  )
  return html`<section aria-labelledby="secret"><h2 id="secret">${words.endpointSecret}</h2>${
    table(words.endpointSecret, [words.created, words.callbackSecretValid], rows)
  }<form method="post" action="${own}/secret"><input type="hidden" name="newest" value="${newestOf(endpoint)}">
<div class="actions"><button class="danger">${words.callbackSecretNew}</button></div></form></section>`
}

function filterForm (words: Words, own: string, state: string | undefined): Html {
  const options = optionsFor(words, 'state', states)
  return html`<form action="${own}" class="filters">${
    choiceField({ name: 'state', label: words.status, value: state, none: words.any, options })
  }<div class="actions"><button class="second">${words.show}</button></div></form><hr>`
}

function resendForm (words: Words, { failingSince, enabled }: EndpointView, own: string): Html {
  if (!enabled) return html``
  return html`<hr><h3>${words.endpointResend}</h3><p>${words.endpointResendIntro}</p>
<form method="post" action="${own}/resend" class="filters">${
    textField({ name: 'since', required: true, label: words.endpointSince, type: 'date', value: (failingSince ?? '').slice(0, 10) })
  }<div class="actions"><button class="second">${words.sendAgain}</button></div></form>`
}
