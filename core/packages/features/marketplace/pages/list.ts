import { type Api, type ApiAnswer, ApiRefused, badge, choiceField, fill, folded, type Html, html, isFiltered, monogram, type MyConfig,
  notice, optionsFor, page, reasonOf, sentenceOf, sentences, serviceNames, textField, withQuery, wordFor } from '@dispatch/plugins/console'
import type { FastifyPluginCallback } from 'fastify'
import { type AdapterComparison, adapterFeatures, type AdapterPage, type AdapterView, type CatalogView } from '../contract/marketplace.ts'
import { comparison } from './comparison.ts'
import { type Visit, visitOf, type Words } from './words.ts'

type Query = Readonly<Record<string, unknown>>
type Filter = Readonly<Record<'q' | 'service' | 'documentType' | 'country' | 'feature' | 'language' | 'state', string>>

const states = ['installed', 'updatable', 'available', 'incompatible', 'revoked']

/** The most cards of a page: more is for the search. */
const maxCards = 100

/** Adapters that are compared at most. */
const maxCompared = 3

/** The adapters that can be installed: operators see all, admins those that are offered to their company. */
export const listPages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/marketplace', async (request, reply) => {
    const visit = visitOf(request)
    const codes = [request.query['compare'] ?? []].flat().filter((code) => typeof code === 'string')
    if (new Set(codes).size > 1 && codes.length <= maxCompared) return reply.page(await compared(visit, codes))
    const said = request.query['removed'] !== undefined
      ? notice('good', html`<p>${visit.words.adapterRemoved}</p>`)
      : codes.length > 0
      ? notice('warn', html`<p>${visit.words.compareHow}</p>`)
      : undefined
    const { status, main } = await list(visit, filterOf(request.query), said)
    return reply.code(status).page(main)
  })

  app.post('/marketplace/refresh', async (request, reply) => {
    const visit = visitOf(request)
    const refreshed = await visit.api.send<{ data: CatalogView[] }>('POST', '/api/v1/marketplace/refresh')
    if (!refreshed.ok) throw new ApiRefused(refreshed)
    const { main } = await list(visit, filterOf({}), catalogsSaid(visit.words, refreshed.body.data))
    return reply.page(main)
  })
  done()
}

function filterOf (query: Query): Filter {
  const textOf = (name: string): string => typeof query[name] === 'string' ? query[name].trim() : ''
  return {
    q: textOf('q'),
    service: textOf('service'),
    documentType: textOf('documentType'),
    country: textOf('country').toUpperCase(),
    feature: textOf('feature'),
    language: textOf('language').toLowerCase(),
    state: textOf('state')
  }
}

/** Two letters, or none. */
function isCountry (country: string): boolean {
  return /^([A-Z]{2})?$/.test(country)
}

/** The page that has adapters side by side. */
async function compared (visit: Visit, codes: readonly string[]): Promise<Html> {
  const path = withQuery('/api/v1/marketplace-comparison', { codes: codes.join(',') })
  const { data } = await visit.api.read<AdapterComparison>(path)
  const main = comparison(visit.words, data)
  return page({ ...visit, path: '/console/marketplace' }, { title: visit.words.comparison, section: 'marketplace', main })
}

async function list (visit: Visit, filter: Filter, said: Html = html``): Promise<{ status: number, main: Html }> {
  const { words, api, actor: { role } } = visit
  const [found, { services }] = await Promise.all([adaptersOf(api, filter), api.read<MyConfig>('/api/v1/my/config')])
  const isOperator = role === 'operator'
  const filtered = isFiltered(filter)
  const cards = !isCountry(filter.country)
    ? html``
    : !found.ok
    ? notice('bad', sentences(words, found.error))
    : found.body.adapters.length === 0
    ? html`<section><p>${filtered ? words.adaptersNoneFiltered : isOperator ? words.adaptersNone : words.adaptersNoneOffered}</p></section>`
    : html`<ul class="cards">${found.body.adapters.slice(0, maxCards).map((adapter) => card(words, adapter))}</ul>
${found.body.adapters.length > 1 ? compareForm(words) : html``}
${
      found.body.adapters.length > maxCards
        ? html`<p class="quiet">${fill(words.adaptersMore, { n: found.body.adapters.length - maxCards })}</p>`
        : html``
    }`
  const building = found.ok ? found.body.building : []
  const main = html`<p>${isOperator ? words.marketplaceIntro : words.marketplaceIntroAdmin}</p>${said}${
    building.map(({ done, of }) => notice('good', html`<p>${fill(words.catalogBuilding, { done, of })}</p>`))
  }
<section aria-label="${words.filter}">${folded(words, filtered, form(words, filter, Object.keys(services)))}</section>
${cards}${isOperator ? refreshForm(words) : html``}`
  const path = withQuery('/console/marketplace', filter)
  return {
    status: found.ok ? 200 : found.status,
    main: page({ ...visit, path }, { title: words.marketplace, section: 'marketplace', main })
  }
}

type Found = { adapters: AdapterView[], building: NonNullable<AdapterPage['building']> }

/** All adapters of a filter, those that matter most to their reader first. */
async function adaptersOf (api: Api, filter: Filter): Promise<ApiAnswer<Found>> {
  const all: AdapterView[] = []
  let building: Found['building'] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const answer: ApiAnswer<AdapterPage> = await api.send('GET', withQuery('/api/v1/marketplace', { ...filter, limit: '100', cursor }))
    if (!answer.ok) return answer
    all.push(...answer.body.data)
    building = answer.body.building ?? []
    cursor = answer.body.nextCursor
  }
  return { ok: true, body: { adapters: all.toSorted((a, b) => rankOf(a) - rankOf(b)), building } }
}

/** Installed and used, updatable, compatible, others. */
function rankOf ({ state, usedBy = 0 }: AdapterView): number {
  if (state === 'installed' && usedBy > 0) return 0
  const rank = ['updatable', 'installed', 'available'].indexOf(state)
  return rank === -1 ? 4 : rank + 1
}

function form (words: Words, filter: Filter, services: readonly string[]): Html {
  const stateOptions = optionsFor(words, 'state', states)
  const serviceOptions = optionsFor(words, 'service', services)
  const featureOptions = optionsFor(words, 'feature', adapterFeatures)
  return html`<form action="/console/marketplace" class="filters">
${textField({ name: 'q', label: words.search, value: filter.q, type: 'search' })}
${choiceField({ name: 'service', label: words.service, value: filter.service, options: serviceOptions, none: words.any })}
${textField({ name: 'documentType', label: words.documentType, value: filter.documentType, placeholder: 'INVOICE', isSought: true })}
${
    textField({
      name: 'country',
      label: words.country,
      value: filter.country,
      placeholder: 'FR',
      isSought: true,
      refused: isCountry(filter.country) ? undefined : words.countryHelp
    })
  }
${choiceField({ name: 'feature', label: words.features, value: filter.feature, options: featureOptions, none: words.any })}
${textField({ name: 'language', label: words.languages, value: filter.language, placeholder: 'fr', isSought: true })}
${choiceField({ name: 'state', label: words.status, value: filter.state, options: stateOptions, none: words.any })}
<div class="actions"><button>${words.show}</button><a href="/console/marketplace">${words.showAll}</a></div>
</form>`
}

function card (
  words: Words,
  { code, name, publisher = words.unnamedPublisher, tier, state, version, latest, services, usedBy, enabled, reason }: AdapterView
): Html {
  return html`<li>${monogram(name)}<a href="/console/marketplace/${code}"><strong>${name}</strong></a> ${badge(words, 'state', state)}${
    enabled === false ? html` <span class="badge warn">${words.disabled}</span>` : html``
  }
<p class="quiet">${publisher} · ${wordFor(words, 'tier', tier)} · ${version}${state === 'updatable' ? html` → ${latest}` : html``}</p>
<p>${serviceNames(words, Object.keys(services))}</p>
<div class="choice"><input type="checkbox" id="compare-${code}" name="compare" value="${code}" form="compare"><label for="compare-${code}">${
    fill(words.compareOne, { name })
  }</label></div>${usedBy === undefined ? html`` : html`<p class="quiet">${fill(words.usedBy, { n: usedBy })}</p>`}${
    reason === undefined ? html`` : html`<p class="wrong">${reasonOf(words, { reason })}</p>`
  }</li>\n`
}

function compareForm (words: Words): Html {
  return html`<form id="compare" action="/console/marketplace"><p class="quiet">${words.compareHow}</p>
<div class="actions"><button class="second">${words.compare}</button></div></form>`
}

function refreshForm (words: Words): Html {
  return html`<hr><form method="post" action="/console/marketplace/refresh"><p class="quiet">${words.refreshIntro}</p>
<div class="actions"><button class="second">${words.refresh}</button></div></form>`
}

function catalogsSaid (words: Words, catalogs: readonly CatalogView[]): Html {
  if (catalogs.length === 0) return notice('warn', html`<p>${words.catalogsNone}</p>`)
  return html`${
    catalogs.map(({ address, adapters = 0, notice: warning, problem, revoked = [] }) =>
      problem === undefined
        ? notice(warning === undefined && revoked.length === 0 ? 'good' : 'warn',
          html`<p>${fill(words.catalogRead, { address, n: adapters })}</p>${
            warning === undefined ? html`` : html`<p>${reasonOf(words, { reason: warning })}</p>`
          }${revoked.map((one) => html`<p>${sentenceOf(words, one)}</p>`)}`)
        : notice('bad', html`<p>${fill(words.catalogRefused, { address })}</p>${sentences(words, problem)}`)
    )
  }`
}
