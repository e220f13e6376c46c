import { memoizeByIdentity } from '@dispatch/common'
import { type Bar, columns, creditsOf, fill, type Html, html, lines, numberOf, table, withQuery, wordFor } from '@dispatch/plugins/console'
import type { Period, UsageRow } from '../contract/usage.ts'
import type { Words } from './words.ts'

/** What a provider is called, by its code. */
export type Names = (code: string) => string

/** What is looked at: of which time, and what is left out. */
export type Filter = Readonly<Record<'period' | 'service' | 'provider', string>>

/** What the parts of the page are made for. */
type Scope = { words: Words, names: Names, filter: Filter, from: string, to: string, currency: string | null }

/** The address of the list of what a number counts. */
function listOf ({ filter: { service, provider }, from, to }: Scope, more: Readonly<Record<string, string>> = {}): string {
  return withQuery('/console/dispatches', {
    from,
    to,
    service,
    providerName: provider,
    ...more
  })
}

const openOf = ({ dispatches, accepted, failed }: UsageRow): number => Math.max(0, dispatches - accepted - failed)

const outcomes = ({ accepted, failed, ...row }: UsageRow): Bar['parts'] => [
  { tone: 'succeeded', size: accepted },
  { tone: 'open', size: openOf({ accepted, failed, ...row }) },
  { tone: 'failed', size: failed }
]

/** How a language writes shares, times and amounts: to make a format takes longer than to use it a hundred times. */
const formatsOf = memoizeByIdentity(({ code }: Words) => {
  const timeOf = (per: Period): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(code === 'en' ? 'en-GB' : code, { ...shown[per], timeZone: 'UTC' })
  let amounts: Intl.NumberFormat | undefined
  return {
    percent: new Intl.NumberFormat(code, { style: 'percent', maximumFractionDigits: 1 }),
    times: { hour: timeOf('hour'), day: timeOf('day'), month: timeOf('month') } satisfies Record<Period, Intl.DateTimeFormat>,
    /** One of a page; the last one is kept. */
    money (currency: string): Intl.NumberFormat {
      if (amounts?.resolvedOptions().currency === currency) return amounts
      return amounts = new Intl.NumberFormat(code, { style: 'currency', currency })
    }
  }
})

/** The part of what has an end that was accepted. */
function success (words: Words, { accepted, failed }: Pick<UsageRow, 'accepted' | 'failed'>): string {
  const ended = accepted + failed
  return ended === 0 ? '–' : formatsOf(words).percent.format(accepted / ended)
}

const seconds = (words: Words, milliseconds: number | undefined): string =>
  milliseconds === undefined ? '–' : fill(words.usageSeconds, { n: numberOf(words, Number((milliseconds / 1000).toPrecision(2))) })

/** An amount of money as the language writes it. */
const money = ({ words, currency }: Scope, amount: number): string =>
  currency === null ? '–' : formatsOf(words).money(currency).format(amount)

const costOf = ({ cost }: UsageRow): number => Number(cost ?? 0)

function section (id: string, title: string, chart: Html, beside: Html): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2><div class="beside">${chart}
${beside}</div></section>`
}

const head = (words: Words, tone: string, text: string): Html => html`<span class="key ${tone}"></span>${text}`
const number = (words: Words, n: number): Html => html`<td class="count">${numberOf(words, n)}</td>`

/** How many have failed, with their list. */
const failed = (words: Words, { failed: n }: Pick<UsageRow, 'failed'>, href: string): Html =>
  n === 0 ? number(words, n) : html`<td class="count"><a href="${href}">${numberOf(words, n)}</a></td>`

/** When the hour, day or month after this one begins. */
function after (at: string, per: Period): string {
  const time = new Date(at)
  if (per === 'hour') time.setUTCHours(time.getUTCHours() + 1)
  if (per === 'day') time.setUTCDate(time.getUTCDate() + 1)
  if (per === 'month') time.setUTCMonth(time.getUTCMonth() + 1)
  return time.toISOString()
}

/** All hours, days or months of a span, those too in which nothing was sent. */
function whole ({ from, to }: Scope, per: Period, rows: readonly UsageRow[]): (UsageRow & { at: string })[] {
  const all: (UsageRow & { at: string })[] = []
  const nothing = {
    dispatches: 0,
    accepted: 0,
    failed: 0,
    parts: 0,
    pages: 0,
    credits: 0,
    failures: {},
    deliveries: {},
    marks: {},
    cost: null,
    latency: null
  }
  for (let at = new Date(from).toISOString(); at < to; at = after(at, per)) {
    all.push({ ...nothing, ...rows.find((row) => row.at === at), at })
  }
  return all
}

const shown: Readonly<Record<Period, Intl.DateTimeFormatOptions>> = {
  hour: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short', year: 'numeric' }
}

/** An hour, day or month as the language writes it. */
const labelAt = (words: Words, at: string, per: Period): string => formatsOf(words).times[per].format(new Date(at))

/** How much was sent as time went by, and what it has cost. */
export function byTime (scope: Scope, per: Period, rows: readonly UsageRow[], title = scope.words.usageVolume): Html {
  const { words } = scope
  const times = whole(scope, per, rows)
  const listAt = (at: string, more = {}): string => listOf(scope, { from: at, to: after(at, per), ...more })
  const labelOf = (at: string): string => labelAt(words, at, per)
  const max = (n: number): string => numberOf(words, n)
  const volume = columns(times.map((row) => ({
    label: labelOf(row.at),
    title: fill(words.usageBar, { at: labelOf(row.at), n: max(row.dispatches), failed: max(row.failed) }),
    href: listAt(row.at),
    parts: outcomes(row)
  })), max)
  const sent = times.filter(({ dispatches }) => dispatches > 0).reverse()
  const bars = (sizeOf: (row: UsageRow) => number, textOf: (size: number) => string): Html =>
    columns(times.map((row) => ({
      label: labelOf(row.at),
      title: `${labelOf(row.at)}${words.colon}${textOf(sizeOf(row))}`,
      href: listAt(row.at),
      parts: [{ tone: 'open', size: sizeOf(row) }]
    })), textOf)
  const isPriced = scope.currency !== null
  const amount = (n: number): string => money(scope, n)
  const credits = times.some((row) => row.credits > 0) ?
    html`<h3>${words.credits}</h3>${bars((row) => row.credits, (n) => creditsOf(words, n))}` :
    html``
  const costs = times.some((row) => costOf(row) > 0) ? html`<h3>${words.usageCost}</h3>${bars(costOf, amount)}` : html``
  const titles = [words.usageTime, words.usageDispatches, ...isPriced ? [words.usageCost] : [],
    head(words, 'succeeded', words.outcome_succeeded), head(words, 'open', words.outcome_open), head(words, 'failed', words.outcome_failed),
    words.usageSuccess, words.credits]
  return section('volume', title, html`<div>${volume}${isPriced ? costs : html``}${credits}</div>`,
    table(title, titles,
      sent.map((row) =>
        html`<tr><th scope="row"><a href="${listAt(row.at)}">${labelOf(row.at)}</a></th>${number(words, row.dispatches)}${
          isPriced ? html`<td class="count">${amount(costOf(row))}</td>` : html``
        }${number(words, row.accepted)}${number(words, openOf(row))}${
          failed(words, row, listAt(row.at, { stepStatus: 'failed' }))
        }<td class="count">${success(words, row)}</td>${number(words, row.credits)}</tr>\n`
      )))
}

function nameIn ({ words, names }: Scope, { service = '', provider }: UsageRow): string {
  return [wordFor(words, 'service', service), ...provider === null || provider === undefined ? [] : [names(provider)]].join(' · ')
}

/** The filter of the list of what a row counts. */
const groupOf = ({ service = '', provider }: UsageRow) => ({ service, providerName: provider ?? '' })

/** Of how many services and providers it is shown how fast they were as time went by: those with the most dispatches. */
const maxTimed = 3

/** How fast providers answered as time went by. `rows`: by time, service and provider. */
export function latencyByTime (scope: Scope, per: Period, rows: readonly UsageRow[]): Html {
  const { words } = scope
  const timed = [...Map.groupBy(rows.filter(({ latency }) => latency !== null), (row) => nameIn(scope, row))]
    .map(([name, of]) => ({ name, of, size: of.reduce((sum, { dispatches }) => sum + dispatches, 0) }))
    .sort((a, b) => b.size - a.size).slice(0, maxTimed)
  // One time alone is told by the chart of all.
  if (new Set(timed.flatMap(({ of }) => of.map(({ at }) => at))).size < 2) return html``
  const listAt = (row: UsageRow & { at: string }): string => listOf(scope, { ...groupOf(row), from: row.at, to: after(row.at, per) })
  const charts = timed.map(({ name, of }) => {
    const bars = whole(scope, per, of).map((row) => {
      const { p50 = 0, p95 = 0 } = row.latency ?? {}
      const label = labelAt(words, row.at, per)
      return {
        label,
        title: fill(words.usageLatencyBar, { name: label, p50: seconds(words, p50), p95: seconds(words, p95) }),
        href: listAt(row),
        parts: [{ tone: 'succeeded' as const, size: p50 }, { tone: 'attention' as const, size: p95 - p50 }]
      }
    })
    return html`<h3>${name}</h3>${columns(bars, (size) => seconds(words, size))}`
  })
  const times = [...new Set(timed.flatMap(({ of }) => of.flatMap(({ at = '' }) => at)))].sort().reverse()
  const titles = [words.usageTime, ...timed.flatMap(({ name }) => [
    head(words, 'succeeded', `${name}${words.colon}${words.usageHalf}`),
    head(words, 'attention', words.usageMost)
  ])]
  return section('latency', words.usageLatencyTime, html`<div>${charts}</div>`,
    table(words.usageLatencyTime, titles,
      times.map((at) =>
        html`<tr><th scope="row">${labelAt(words, at, per)}</th>${
          timed.map(({ of }) => {
            const row = of.find((one) => one.at === at)
            const half = seconds(words, row?.latency?.p50)
            return html`<td class="count">${
              row === undefined ? half : html`<a href="${listAt({ ...row, at })}">${half}</a>`
            }</td><td class="count">${seconds(words, row?.latency?.p95)}</td>`
          })
        }</tr>\n`
      )))
}

/** How many of each service and provider succeeded, and how fast providers answer. */
export function byProvider (scope: Scope, rows: readonly UsageRow[]): Html {
  const { words } = scope
  const nameOf = (row: UsageRow): string => nameIn(scope, row)
  const listed = (row: UsageRow, more = {}): string => listOf(scope, { ...groupOf(row), ...more })
  const outcome = lines(rows.map((row) => ({
    label: nameOf(row),
    title: fill(words.usageSuccessBar, { name: nameOf(row), part: success(words, row) }),
    href: listed(row),
    parts: outcomes(row)
  })))
  const timed = rows.filter(({ latency }) => latency !== null)
  const latency = lines(timed.map((row) => {
    const { p50 = 0, p95 = 0 } = row.latency ?? {}
    return {
      label: nameOf(row),
      title: fill(words.usageLatencyBar, { name: nameOf(row), p50: seconds(words, p50), p95: seconds(words, p95) }),
      href: listed(row),
      parts: [{ tone: 'succeeded', size: p50 }, { tone: 'attention', size: p95 - p50 }]
    }
  }))
  const isPriced = scope.currency !== null
  const priced = rows.filter((row) => costOf(row) > 0)
  const costs = lines(priced.map((row) => ({
    label: nameOf(row),
    title: `${nameOf(row)}${words.colon}${money(scope, costOf(row))}`,
    href: listed(row),
    parts: [{ tone: 'open', size: costOf(row) }]
  })))
  const titles = [words.service, words.usageDispatches, ...isPriced ? [words.usageCost] : [], words.usageSuccess, words.outcome_failed,
    head(words, 'succeeded', words.usageHalf), head(words, 'attention', words.usageMost), words.usageParts, words.usagePages, words.credits]
  return section('providers', words.usageProviders,
    html`<div><h3>${words.usageOutcomes}</h3>${outcome}${timed.length === 0 ? html`` : html`<h3>${words.usageLatency}</h3>${latency}`}${
      priced.length === 0 ? html`` : html`<h3>${words.usageCost}</h3>${costs}`
    }</div>`,
    table(words.usageProviders, titles,
      rows.map((row) =>
        html`<tr><th scope="row"><a href="${listed(row)}">${nameOf(row)}</a></th>${number(words, row.dispatches)}${
          isPriced ? html`<td class="count">${money(scope, costOf(row))}</td>` : html``
        }<td class="count">${success(words, row)}</td>${failed(words, row, listed(row, { stepStatus: 'failed' }))}<td class="count">${
          seconds(words, row.latency?.p50)
        }</td><td class="count">${seconds(words, row.latency?.p95)}</td>${number(words, row.parts)}${number(words, row.pages)}${
          number(words, row.credits)
        }</tr>\n`
      )))
}

/** The statuses that say that something did not arrive. */
const lost = new Set(['failed', 'bounced', 'returned', 'complained', 'declined', 'refused', 'expired', 'voided', 'cancelled', 'deleted'])

/** What vendors tell of e-mails that somebody did not want. */
const unwanted = 'complained'

/** What is counted of a service, by name. */
function summed (rows: readonly UsageRow[], kind: 'deliveries' | 'marks'): [name: string, count: number][] {
  const counts = new Map<string, number>()
  for (const row of rows) for (const [name, n] of Object.entries(row[kind])) counts.set(name, (counts.get(name) ?? 0) + n)
  return [...counts].sort(([, a], [, b]) => b - a)
}

/** How far what was sent has come: all that was accepted, where it stands now, and what recipients have done with it. */
export function deliveries (scope: Scope, rows: readonly UsageRow[]): Html {
  const { words } = scope
  const reported = rows.filter(({ deliveries: of, marks }) => Object.keys(of).length + Object.keys(marks).length > 0)
  return html`${
    [...Map.groupBy(reported, ({ service = '' }) => service)].map(([service, of]) => {
      const accepted = of.reduce((sum, row) => sum + row.accepted, 0)
      const stage = ([name, n]: [string, number], filter: 'deliveryStatus' | 'deliveryMark', isLost: boolean) => ({
        word: wordFor(words, 'delivery', name),
        n,
        href: listOf(scope, { service, [filter]: name }),
        tone: isLost ? 'failed' as const : 'succeeded' as const
      })
      const [statuses, marks] = [summed(of, 'deliveries'), summed(of, 'marks')]
      const stages = [
        { word: words.usageAccepted, n: accepted, href: listOf(scope, { service, stepStatus: 'accepted' }), tone: 'open' as const },
        ...statuses.filter(([status]) => !lost.has(status)).map((one) => stage(one, 'deliveryStatus', false)),
        ...marks.filter(([mark]) => mark !== unwanted).map((one) => stage(one, 'deliveryMark', false)),
        ...statuses.filter(([status]) => lost.has(status)).map((one) => stage(one, 'deliveryStatus', true)),
        ...marks.filter(([mark]) => mark === unwanted).map((one) => stage(one, 'deliveryMark', true))
      ]
      const title = fill(words.usageDelivery, { service: wordFor(words, 'service', service) })
      const titleOf = (word: string, n: number): string => `${word}${words.colon}${numberOf(words, n)}`
      const chart = lines(
        stages.map(({ word, n, href, tone }) => ({ label: word, title: titleOf(word, n), href, parts: [{ tone, size: n }] }))
      )
      const steps = table(title, [words.delivery, words.usageDispatches, words.usageShare], stages.map(({ word, n, href }) =>
        html`<tr><th scope="row"><a href="${href}">${word}</a></th>${number(words, n)}<td class="count">${
          success(words, { accepted: n, failed: Math.max(0, accepted - n) })
        }</td></tr>\n`
      ))
      const tracked = marks.some(([mark]) => mark !== unwanted) ? html`<p class="quiet">${words.usageTracked}</p>` : html``
      return section(`delivery-${service}`, title, chart, html`<div>${steps}${tracked}</div>`)
    })
  }`
}

/** Why steps have failed. */
export function failures (scope: Scope, rows: readonly UsageRow[]): Html {
  const { words } = scope
  const counts = new Map<string, number>()
  for (const { failures: reported } of rows) for (const [word, n] of Object.entries(reported)) counts.set(word, (counts.get(word) ?? 0) + n)
  if (counts.size === 0) return html``
  const all = [...counts].sort(([, a], [, b]) => b - a)
  const listed = (error: string): string => listOf(scope, { stepStatus: 'failed', error })
  const causeOf = (word: string): string => fill(wordFor(words, 'cause', word), { provider: words.usageTheProvider })
  const chart = lines(all.map(([word, n]) => ({
    label: causeOf(word),
    title: `${causeOf(word)} ${numberOf(words, n)}`,
    href: listed(word),
    parts: [{ tone: 'failed', size: n }]
  })))
  return section('failures', words.usageFailures, chart,
    table(words.usageFailures, [words.usageWhy, words.outcome_failed],
      all.map(([word, n]) => html`<tr><th scope="row"><a href="${listed(word)}">${causeOf(word)}</a></th>${number(words, n)}</tr>\n`)))
}
