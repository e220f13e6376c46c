import { callbackTypes, type EndpointView, type NewEndpointView } from '@dispatch/contract'
import { checkField, copied, errorOf, fill, type Html, html, notice, page, said, table, textField, time, type Typed,
  wrongOf } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { type Visit, visitOf, type Words } from './words.ts'

export const endpointsAt = '/console/developers/endpoints'
const path = '/api/v1/company/callback-endpoints'

/** The endpoints of the company, for its admins: which there are, and a form for a new one. */
export const endpointsPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>('/developers/endpoints', async (request, reply) => {
    const visit = visitOf(request)
    const reported = request.query['removed'] === undefined ? html`` : notice('good', html`<p>${visit.words.endpointRemoved}</p>`)
    return reply.page(await view(visit, { message: reported }))
  })

  app.post<{ Body: URLSearchParams }>('/developers/endpoints', async (request, reply) => {
    const [visit, { body }] = [visitOf(request), request]
    const endpoint = endpointIn(body)
    // A secret is shown once: a form that is sent again must not make another endpoint. Ids grow with time.
    const made = (await endpointsOf(visit)).find(({ id, name }) => name === endpoint.name && id > (body.get('newest') ?? ''))
    if (made !== undefined) {
      const reported = notice('warn', html`<p>${fill(visit.words.endpointMadeAlready, { name: made.name })}</p>`)
      return reply.code(409).page(await view(visit, { message: reported }))
    }
    const created = await visit.api.send<NewEndpointView>('POST', path, endpoint)
    if (!created.ok) return reply.code(created.status).page(await view(visit, { typed: { body, error: errorOf(created) } }))
    return reply.page(secretPage(visit, created.body, html``))
  })
  done()
}

/** What a form says of an endpoint. */
export function endpointIn (body: URLSearchParams): { name: string, url: string, types: string[] | null, enabled: boolean } {
  return {
    name: (body.get('name') ?? '').trim(),
    url: (body.get('url') ?? '').trim(),
    types: body.get('allTypes') === 'true' ? null : body.getAll('type'),
    enabled: body.get('enabled') === 'true'
  }
}

/** The fields of an endpoint. */
export function endpointFields (
  words: Words,
  { name, url, types, enabled }: ReturnType<typeof endpointIn>,
  typed: Typed | undefined
): Html {
  const box = (id: string, field: string, value: string, label: string, checked: boolean): Html =>
    html`<div class="choice"><input type="checkbox" id="${id}" name="${field}" value="${value}"${
      checked ? html` checked` : html``
    }><label for="${id}">${label}</label></div>`
  const isRefused = wrongOf(words, typed, '/types').length > 0
  return html`${
    textField({ name: 'name', label: words.name, help: words.endpointNameHelp, value: name, wrong: wrongOf(words, typed, '/name') })
  }
${
    textField({
      name: 'url',
      label: words.endpointAddress,
      help: words.endpointAddressHelp,
      type: 'url',
      value: url,
      wrong: wrongOf(words, typed, '/url')
    })
  }
<fieldset class="all-or-some"><legend>${words.endpointTypes}</legend>${
    box('t-all', 'allTypes', 'true', words.endpointAllTypes, types === null)
  }${isRefused ? html`<p class="wrong">${words.endpointTypesNone}</p>` : html``}
<div class="types">${callbackTypes.map((type) => box(`t-${type}`, 'type', type, type, types?.includes(type) === true))}</div></fieldset>
${checkField({ name: 'enabled', label: words.endpointEnabled, help: words.endpointEnabledHelp, checked: enabled })}`
}

/** The page that shows a new secret of an endpoint, once. */
export function secretPage (visit: Visit, { id, name, secret }: Pick<NewEndpointView, 'id' | 'name' | 'secret'>, more: Html): Html {
  const { words } = visit
  const main = html`${
    notice('good', html`<p>${fill(words.endpointSecretMade, { name })}</p>`)
  }<section aria-label="${words.endpointSecret}">
<p>${copied(words, secret)}</p>${more}</section><p><a href="${endpointsAt}/${id}">${name}</a></p>`
  return page({ ...visit, path: endpointsAt }, { title: words.endpointSecret, section: 'developers', main })
}

/** Whether an endpoint gets what it should. */
export function stateBadge (words: Words, { enabled, failingSince, pausedUntil, disabledAt }: Pick<
  EndpointView,
  'enabled' | 'failingSince' | 'pausedUntil' | 'disabledAt'
>): Html {
  if (!enabled && disabledAt !== undefined) {
    return html`<span class="badge bad">${words.endpointDisabledFailing}</span> ${time(disabledAt)}`
  }
  if (!enabled) return html`<span class="badge warn">${words.endpointDisabled}</span>`
  if (pausedUntil !== undefined) return html`<span class="badge warn">${words.endpointPausedUntil}</span> ${time(pausedUntil)}`
  return failingSince === null
    ? html`<span class="badge good">${words.endpointWorks}</span>`
    : html`<span class="badge bad">${words.endpointFailing}</span> ${time(failingSince)}`
}

async function endpointsOf ({ api }: Visit): Promise<EndpointView[]> {
  return (await api.read<{ data: EndpointView[] }>(path)).data
}

async function view (visit: Visit, { message = html``, typed }: { message?: Html, typed?: Typed }): Promise<Html> {
  const { words } = visit
  const endpoints = await endpointsOf(visit)
  const entered = typed === undefined ? { name: '', url: '', types: null, enabled: true } : endpointIn(typed.body)
  const main = html`<p><a href="/console/developers">${words.developersBack}</a></p>${message}
<section aria-labelledby="all"><h2 id="all">${words.endpoints}</h2><p>${words.endpointsIntro}</p>${
    endpoints.length === 0 ? html`<p>${words.endpointsNone}</p>` : list(words, endpoints)
  }<p><a href="/console/developers/events">${words.eventsRead}</a></p></section>
<section aria-labelledby="new"><h2 id="new">${words.endpointNew}</h2>${said(words, typed, 'name', 'url', 'types')}
<form method="post" action="${endpointsAt}" novalidate><input type="hidden" name="newest" value="${endpoints.at(-1)?.id ?? ''}">
${endpointFields(words, entered, typed)}<div class="actions"><button>${words.endpointMake}</button></div></form></section>`
  return page({ ...visit, path: endpointsAt }, { title: words.endpoints, section: 'developers', main })
}

function list (words: Words, endpoints: readonly EndpointView[]): Html {
  const rows = endpoints.map((endpoint) =>
    html`<tr><th scope="row"><a href="${endpointsAt}/${endpoint.id}">${endpoint.name}</a></th><td>${
      URL.parse(endpoint.url)?.host ?? endpoint.url
    }</td><td>${endpoint.types === null ? words.endpointAllTypes : fill(words.endpointTypesCount, { n: endpoint.types.length })}</td><td>${
      stateBadge(words, endpoint)
    }</td></tr>\n`
  )
  return table(words.endpoints, [words.name, words.endpointAddress, words.endpointTypes, words.status], rows)
}
