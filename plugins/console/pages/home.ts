import type { FastifyPluginCallback } from 'fastify'
import { type Html, html } from '../../html.ts'
import { fill, serviceNames, type Words } from '../language/language.ts'
import { type Api, type CallbackView, type CreditsView, type DispatchView, type EndpointView, type KeyView, type MyConfig, type QueueView,
  type StatisticsView, withQuery } from '../session/api.ts'
import { partsAt, type Visit, visitOf } from '../session/visit.ts'
import { dispatchChart } from './chart.ts'
import { badge, notice, page, time } from './layout.ts'
import { nameOf, readProviders } from './provider-names.ts'
import { unusableDefaults } from './settings-state.ts'

/** The first page: credits, the last day, what needs a person, and the first steps of a new company. */
export const homePage: FastifyPluginCallback = (app, _options, done) => {
  app.get('/', async (request, reply) => {
    const visit = visitOf(request)
    const { words } = visit
    const [facts, troubles, ...sections] = await Promise.all([
      read(visit),
      readTroubles(visit),
      ...partsAt(visit.parts, 'home').map((section) => section(visit))
    ])
    const isIdlePlatform = visit.actor.role === 'operator' && facts.any.length === 0
    const main = html`${isIdlePlatform ? html`` : firstSteps(words, facts)}
<section aria-labelledby="needs"><h2 id="needs">${words.needsPerson}</h2>${needs(words, facts, troubles)}</section>
<section aria-labelledby="day"><h2 id="day">${words.lastDay}</h2>${dispatchChart(words, facts.statistics)}</section>
${sections}
${
      isIdlePlatform
        ? html``
        : html`<section aria-labelledby="credits"><h2 id="credits">${words.creditsFree}</h2>${credits(words, facts.credits)}</section>`
    }`
    return reply.page(page(visit, { title: words.home, section: 'home', main }))
  })
  done()
}

type List<Item> = { data: Item[] }
type Facts = Awaited<ReturnType<typeof read>>

/** How many dispatches of a kind are shown. */
const shown = '5'

/** In milliseconds: a week. */
const recently = 604_800_000

async function read ({ words, api, mode }: Visit) {
  const from = new Date(Date.now() - recently).toISOString()
  const test = String(mode === 'test')
  const dispatches = (fields: Record<string, string>) =>
    api.read<List<DispatchView>>(withQuery('/api/v1/dispatches', { limit: shown, ...fields }))
  const [credits, statistics, config, keys, any, ...needing] = await Promise.all([
    api.read<CreditsView>('/api/v1/credits?limit=1'),
    api.read<StatisticsView>(withQuery('/api/v1/dispatches/statistics', { test })),
    api.read<MyConfig>('/api/v1/my/config'),
    api.read<List<KeyView>>('/api/v1/keys?limit=1'),
    dispatches({ limit: '1' }),
    dispatches({ status: 'uncertain', test, from }),
    dispatches({ status: 'partial', test, from }),
    dispatches({ status: 'failed', test, from })
  ])
  const invalid = [
    ...new Set([...config.company.providers, ...config.user.providers].filter(({ valid }) => !valid).map(({ code }) => code))
  ]
  const isUnready = Object.values(config.services).some(({ problems = [] }) => problems.length > 0)
  const providers = invalid.length === 0 && !isUnready ? [] : await readProviders({ api })
  return {
    credits,
    statistics,
    config,
    keys: keys.data,
    any: any.data,
    needing: needing.flatMap(({ data }) => data),
    unusable: isUnready ? unusableDefaults(words, config, providers) : [],
    invalid: invalid.map((code) => ({ code, name: nameOf(providers, code) }))
  }
}

/** What admins and operators look after besides: callbacks that are not received, and for operators the platform. */
async function readTroubles ({ words, api, actor: { role } }: Visit): Promise<Html[]> {
  if (role === 'member') return []
  const [callbacks, endpoints, platform] = await Promise.all([
    api.read<List<CallbackView>>(withQuery('/api/v1/company/callbacks/failed', { limit: shown })),
    role === 'admin' ? api.read<List<EndpointView>>('/api/v1/company/callback-endpoints') : { data: [] },
    role === 'operator' ? readPlatform(words, api) : []
  ])
  const since = Date.now() - recently
  const lost = callbacks.data.filter(({ createdAt }) => Date.parse(createdAt) >= since).map(({ dispatchId, type, receiver, createdAt }) =>
    html`<li>${badge(words, 'state', 'failed')} <a href="${
      dispatchId === undefined ? '/console/developers' : `/console/dispatches/${dispatchId}#callbacks`
    }">${fill(words.callbackLost, { type, receiver })}</a> ${time(createdAt)}</li>\n`
  )
  const failing = endpoints.data.flatMap(({ id, name, enabled, failingSince }) =>
    !enabled || failingSince === null
      ? []
      : [
        html`<li>${badge(words, 'state', 'failed')} <a href="/console/developers/endpoints/${id}">${
          fill(words.endpointLost, { name })
        }</a> ${time(failingSince)}</li>\n`
      ]
  )
  return [...platform, ...failing, ...lost]
}

/** What an operator looks into, with where to. */
async function readPlatform (words: Words, api: Api): Promise<Html[]> {
  const [{ dispatches: { uncertain, triedAgain } }, providers] = await Promise.all([
    api.read<QueueView>('/api/v1/queue'),
    readProviders({ api })
  ])
  const failing = providers.filter(({ state, health }) => state === 'refused' || health.state === 'failing').length
  const lines = [
    [uncertain, words.platformUncertain, '/console/operation/holds?uncertain=true'],
    [triedAgain, words.platformAgain, '/console/operation'],
    [failing, words.platformFailing, '/console/operation']
  ] as const
  return lines.filter(([count]) => count > 0).map(([n, text, href]) => html`<li><a href="${href}">${fill(text, { n })}</a></li>\n`)
}

function credits (words: Words, { balance, held }: CreditsView): Html {
  const free = balance - held
  return html`<p class="figure">${String(free)}</p>
${held > 0 ? html`<p>${fill(words.creditsHeld, { held })}</p>` : html``}
${free <= 0 ? notice('warn', html`<p>${words.creditsNone}</p>`) : html``}<p><a href="/console/credits">${words.ledger}</a></p>`
}

function needs (words: Words, { needing, unusable, invalid }: Facts, troubles: readonly Html[]): Html {
  const others = invalid.filter(({ code }) => !unusable.some((one) => one.code === code))
  if (needing.length + unusable.length + others.length + troubles.length === 0) return html`<p>${words.needsNobody}</p>`
  return html`<ul class="list">
${troubles}${
    unusable.map(({ service, name, why, path }) =>
      html`<li><a href="${path}">${fill(words.defaultUnusable, { service, name })}</a> <span class="quiet">${why}</span></li>\n`
    )
  }${
    others.map(({ code, name }) => html`<li><a href="/console/providers/${code}">${fill(words.configurationNeeds, { name })}</a></li>\n`)
  }${
    needing.map((dispatch) =>
      html`<li>${badge(words, 'status', dispatch.status)} ${linkTo(words, dispatch)} ${time(dispatch.createdAt)}</li>\n`
    )
  }</ul>
${
    needing.length === 0
      ? html``
      : html`<p><a href="/console/dispatches?status=failed">${words.allFailed}</a> · <a href="/console/dispatches?status=uncertain">${words.allUncertain}</a></p>`
  }`
}

function linkTo (words: Words, { dispatchId, services, documentNumber, recipient }: DispatchView): Html {
  const name = [serviceNames(words, services, ' + '), documentNumber, recipient].filter((part) => part !== undefined).join(' · ')
  return html`<a href="/console/dispatches/${dispatchId}">${name}</a>`
}

/** Shown until each of them is done. */
function firstSteps (words: Words, { config, keys, any }: Facts): Html {
  const steps = [
    { words: words.stepChoose, href: '/console/providers', done: Object.keys(config.company.choices).length > 0 },
    { words: words.stepSend, href: '/console/send', done: any.length > 0 },
    { words: words.stepKey, href: '/console/developers', done: keys.length > 0 }
  ]
  if (steps.every(({ done }) => done)) return html``
  return html`<section aria-labelledby="steps"><h2 id="steps">${words.firstSteps}</h2><ol class="list steps">
${
    steps.map(({ words: step, href, done }) =>
      html`<li><span class="badge ${done ? 'good' : 'calm'}">${
        done ? words.firstStepDone : words.firstStepOpen
      }</span> <a href="${href}">${step}</a></li>\n`
    )
  }</ol></section>`
}
