import { type Html, html } from '../../html.ts'
import { creditsOf, fill, numberOf, wordFor, type Words } from '../language/language.ts'
import type { EventView, ProviderView } from '../session/api.ts'
import { time } from './layout.ts'
import { nameOf } from './provider-names.ts'

type Events = { data: readonly EventView[], nextCursor: string | null }
type Fact = EventView['facts'][string]

/** A run of the same event, such as of asking a vendor again and again, is one line that unfolds. */
export function timeline (words: Words, { data, nextCursor }: Events, providers: readonly ProviderView[]): Html {
  const runs: EventView[][] = []
  for (const event of data) {
    const last = runs.at(-1)
    if (last?.[0]?.kind === event.kind && last[0].service === event.service) last.push(event)
    else runs.push([event])
  }
  const after = waits(data)
  const line = (event: EventView): Html => eventLine(words, event, { providers, wait: after.get(event.id) })
  return html`<ol class="list">${
    runs.flatMap((events) => events.length < shortestRun ? events.map(line) : [runLine(words, events, line)])
  }</ol>${nextCursor === null ? html`` : html`<p class="quiet">${words.moreEvents}</p>`}`
}

const shortestRun = 3

function runLine (words: Words, events: readonly EventView[], line: (event: EventView) => Html): Html {
  const [{ kind = '', at = '' } = {}, last] = [events[0], events.at(-1)]
  return html`<li><details><summary>${wordFor(words, 'event', kind)} × ${String(events.length)}</summary><ol class="list">${
    events.map(line)
  }</ol></details> <span class="quiet">${time(at)} – ${time(last?.at ?? at)}</span></li>\n`
}

/** The first simple facts of an event stand beside it in words; all of them stay folded, as the API has them, until somebody asks. */
function eventLine (
  words: Words,
  { kind, service, at, facts: known, actor }: EventView,
  { providers, wait }: { providers: readonly ProviderView[], wait: Wait | undefined }
): Html {
  const simple = Object.entries(known).flatMap(([name, value]) => {
    const text = factText(words, name, value, providers)
    if (text === '' || text.length > longestFact) return []
    return [html`${wordFor(words, 'fact', name)}${words.colon}${isTime.test(text) ? time(text) : text}`]
  }).slice(0, maxFacts)
  const facts = [...service === undefined ? [] : [html`${wordFor(words, 'service', service)}`], ...simple]
  return html`<li><span>${wordFor(words, 'event', kind)}</span> <span class="quiet">${
    facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)
  }</span> ${
    Object.keys(known).length === 0
      ? html``
      : html`<details><summary>${words.details}</summary><pre>${JSON.stringify({ ...known, actor }, null, 2)}</pre></details>`
  } ${wait === undefined ? html`` : waitOf(words, wait)}${time(at)}</li>\n`
}

/** What has passed before an event since the one before it, in milliseconds, and its place in the whole time, between 0 and 1. */
type Wait = { milliseconds: number, from: number, share: number }

/** The time between the events, as a waterfall: what comes long after the rest, such as a delivery, would leave no place for it. */
function waits (events: readonly EventView[]): ReadonlyMap<string, Wait> {
  const times = events.map(({ at }) => Date.parse(at))
  const [start = 0] = times
  const scaled = (time: number): number => Math.log1p(time - start)
  const whole = scaled(times.at(-1) ?? start)
  return new Map(events.slice(1).map(({ id }, index) => {
    const [before = 0, now = 0] = times.slice(index, index + 2)
    const [from, to] = [scaled(before), scaled(now)].map((place) => whole > 0 ? place / whole : 0) as [number, number]
    return [id, { milliseconds: now - before, from, share: to - from }]
  }))
}

function waitOf (words: Words, { milliseconds, from, share }: Wait): Html {
  return html`<span class="quiet wait"><svg class="chart" viewBox="0 0 100 6" aria-hidden="true"><rect x="${
    (from * 100).toFixed(1)
  }" y="0" width="${Math.max(share * 100, 0.5).toFixed(1)}" height="6" /></svg> +${durationOf(words, milliseconds)}</span> `
}

/** A duration in the largest unit of which there is one. */
export function durationOf (words: Words, milliseconds: number): string {
  const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]
  const [text, unit] = milliseconds < second
    ? [words.milliseconds, 1]
    : milliseconds < minute
    ? [words.seconds, second]
    : milliseconds < hour
    ? [words.minutes, minute]
    : milliseconds < 2 * day
    ? [words.hours, hour]
    : [words.days, day]
  const n = milliseconds / unit
  return fill(text, { n: numberOf(words, unit > 1 && n < 10 ? Math.round(n * 10) / 10 : Math.round(n)) })
}

/** Of the facts beside an event: characters of a value, and how many. */
const [longestFact, maxFacts] = [40, 3]
const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** A fact as a person reads it; empty where it has parts of its own. */
function factText (words: Words, name: string, value: Fact, providers: readonly ProviderView[]): string {
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return name === 'price' ? creditsOf(words, value) : String(value)
  if (typeof value !== 'string') return ''
  if (name === 'providerName' || name === 'nextProviderName') return nameOf(providers, value)
  if (name === 'outcome') return wordFor(words, 'status', value)
  if (name === 'error') return wordFor(words, 'fault', value)
  return name === 'status' || name === 'before' ? stateText(words, value) : value
}

/** A state of a delivery, or of a step. */
function stateText (words: Words, state: string): string {
  const text = wordFor(words, 'delivery', state)
  return text === state ? wordFor(words, 'status', state) : text
}
