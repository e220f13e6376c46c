import { choiceField, fill, folded, type Html, html, isFiltered, optionsFor, page, type Query, readFilter,
  withQuery } from '@dispatch/plugins/console'
import type { FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import type { Period, UsageRow, UsageView } from '../contract/usage.ts'
import { budgetPages } from './budgets.ts'
import { byProvider, byTime, deliveries, failures, type Filter, latencyByTime, type Names } from './parts.ts'
import { pricePages } from './prices.ts'
import { type Visit, visitOf, type Words } from './words.ts'

const at = '/console/usage'
export const apiPath = '/api/v1/usage'
const fields = ['period', 'service', 'provider'] as const

/** In milliseconds. */
const day = 86_400_000

/** What can be looked at: how long ago it begins, and what its bars are. */
const views: Readonly<Record<string, { days: number, per: Period }>> = {
  day: { days: 1, per: 'hour' },
  week: { days: 7, per: 'day' },
  month: { days: 30, per: 'day' },
  year: { days: 365, per: 'month' }
}

/** What the company has sent, as charts beside tables. */
const usagePages: FastifyPluginCallback = (app, _options, done) => {
  app.get<{ Querystring: Query }>('/usage', async (request, reply) => {
    const visit = visitOf(request)
    return reply.page(await view(visit, readFilter(request.query, fields)))
  })

  app.get<{ Querystring: Query }>('/usage/usage.csv', async (request, reply) => {
    const gone = new AbortController()
    reply.raw.once('close', () => {
      gone.abort()
    })
    const visit = visitOf(request)
    const { query } = requested(visit, readFilter(request.query, fields))
    return reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage.csv"',
      'content-security-policy': 'default-src \'none\'; sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(await visit.api.stream(withQuery(`${apiPath}/export`, { ...query, by: 'service,provider,user' }), gone.signal))
  })
  done()
}

/** Usage, prices and budgets. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(usagePages)
  await app.register(pricePages)
  await app.register(budgetPages)
}

/** What the API is asked for, from the start of a whole day or month on, and how long each bar lasts. */
export function requested ({ mode }: Pick<Visit, 'mode'>, { period, service, provider }: Filter) {
  const { days, per } = views[period] ?? { days: 30, per: 'day' as const }
  const begin = new Date(Date.now() - days * day).toISOString()
  const from = { hour: begin.slice(0, 13).concat(':00:00.000Z'), day: begin.slice(0, 10), month: `${begin.slice(0, 7)}-01` }[per]
  return { query: { from, service, provider, test: String(mode === 'test') }, per }
}

async function view (visit: Visit, filter: Filter): Promise<Html> {
  const { words, api } = visit
  const { query, per } = requested(visit, filter)
  const read = (more: Record<string, string>) => api.read<UsageView>(withQuery(apiPath, { ...query, ...more }))
  const [times, groups, grouped, { data: providers }] = await Promise.all([
    read({ per }),
    read({ by: 'service,provider' }),
    read({ by: 'service,provider', per }),
    api.read<{ data: { code?: string, name?: string | null }[] }>('/api/v1/providers?schemas=false')
  ])
  const names: Names = (code) => providers.find((one) => one.code === code)?.name ?? code
  const scope = { words, names, filter, from: times.from, to: times.to, currency: times.currency }
  const rows = groups.data
  const main = html`<section aria-label="${words.filter}"><p>${words.usageIntro}</p>${
    folded(words, isFiltered(filter), filterForm(words, filter, rows, names))
  }</section>
${
    rows.length === 0 ?
      html`<section aria-label="${words.usage}"><p>${words.usageNone}</p></section>` :
      html`${byTime(scope, per, times.data)}
${byProvider(scope, rows)}
${latencyByTime(scope, per, grouped.data)}
${deliveries(scope, rows)}
${failures(scope, rows)}`
  }
<p><a href="${at}/prices">${words.prices}</a> · <a href="${at}/budgets">${words.budgets}</a> · <a href="${
    withQuery(`${at}/usage.csv`, filter)
  }">${words.export}</a> <span class="quiet">${
    times.countedAt === null
      ? words.usageNotCounted
      : fill(words.usageCounted, { time: `${times.countedAt.slice(0, 16).replace('T', ' ')} UTC` })
  }</span></p>`
  return page({ ...visit, path: withQuery(at, filter) }, { title: words.usage, section: 'usage', main })
}

function filterForm (words: Words, filter: Filter, rows: readonly UsageRow[], names: Names): Html {
  const known = (values: readonly (string | null | undefined)[], chosen: string): string[] =>
    [...new Set([...values.flatMap((value) => value ?? []), ...chosen === '' ? [] : [chosen]])].sort()
  const providers = known(rows.map(({ provider }) => provider), filter.provider).map((value) => ({ value, label: names(value) }))
  return html`<form action="${at}"><div class="filters">
${
    choiceField({
      name: 'period',
      label: words.usagePeriod,
      value: Object.hasOwn(views, filter.period) ? filter.period : 'month',
      options: [
        { value: 'day', label: words.usageDay },
        { value: 'week', label: words.usageWeek },
        { value: 'month', label: words.usageMonth },
        { value: 'year', label: words.usageYear }
      ]
    })
  }
${
    choiceField({
      name: 'service',
      label: words.service,
      value: filter.service,
      none: words.any,
      options: optionsFor(words, 'service', known(rows.map(({ service }) => service), filter.service))
    })
  }
${choiceField({ name: 'provider', label: words.provider, value: filter.provider, none: words.any, options: providers })}
<div class="actions"><button>${words.show}</button></div></div></form>`
}
