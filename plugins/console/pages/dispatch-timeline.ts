import { type Html, html } from '../../html.ts'
import { creditsOf, wordFor, type Words } from '../language/language.ts'
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
  const line = (event: EventView): Html => eventLine(words, event, providers)
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
function eventLine (words: Words, { kind, service, at, facts: known, actor }: EventView, providers: readonly ProviderView[]): Html {
  const simple = Object.entries(known).flatMap(([name, value]) => {
    const text = factText(words, name, value, providers)
    if (text === '' || text.length > longestFact) return []
    return [html`${wordFor(words, 'fact', name)}${words.colon}${isTime.test(text) ? time(text) : text}`]
  }).slice(0, mostFacts)
  const facts = [...service === undefined ? [] : [html`${wordFor(words, 'service', service)}`], ...simple]
  return html`<li><span>${wordFor(words, 'event', kind)}</span> <span class="quiet">${
    facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)
  }</span> ${
    Object.keys(known).length === 0
      ? html``
      : html`<details><summary>${words.details}</summary><pre>${JSON.stringify({ ...known, actor }, null, 2)}</pre></details>`
  } ${time(at)}</li>\n`
}

/** Of the facts beside an event: characters of a value, and how many. */
const [longestFact, mostFacts] = [40, 3]
const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** A fact as a person reads it; empty where it has parts of its own. */
function factText (words: Words, name: string, value: Fact, providers: readonly ProviderView[]): string {
  if (typeof value === 'boolean') return value ? words.yes : words.no
  if (typeof value === 'number') return name === 'price' ? creditsOf(words, value) : String(value)
  if (typeof value !== 'string') return ''
  if (name === 'providerName' || name === 'nextProviderName') return nameOf(providers, value)
  if (name === 'outcome') return wordFor(words, 'status', value)
  return name === 'status' || name === 'before' ? stateText(words, value) : value
}

/** A state of a delivery, or of a step. */
function stateText (words: Words, state: string): string {
  const text = wordFor(words, 'delivery', state)
  return text === state ? wordFor(words, 'status', state) : text
}
