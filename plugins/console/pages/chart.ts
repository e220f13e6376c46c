import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import { type StatisticsView, withQuery } from '../session/api.ts'
import { type Bar, lines } from './bars.ts'
import { table } from './layout.ts'

const outcomes = ['succeeded', 'open', 'attention', 'failed'] as const
type Outcome = typeof outcomes[number]

const outcomeOf: Readonly<Record<StatisticsView['data'][number]['status'], Outcome>> = {
  succeeded: 'succeeded',
  queued: 'open',
  running: 'open',
  partial: 'attention',
  uncertain: 'attention',
  failed: 'failed',
  cancelled: 'failed'
}

type Entry = StatisticsView['data'][number]
/** A number, and the list of what it counts; undefined where no filter finds just these. */
type Count = { count: number, href: string | undefined }
type Row = { name: string, href: string, counts: Readonly<Record<Outcome, Count>>, total: number }

/** What was dispatched, as bars and as a table with the same numbers. Both lead to the lists of what they count. */
export function dispatchChart (words: Words, { data, from, to }: StatisticsView): Html {
  if (data.length === 0) return html`<p>${words.lastDayNone}</p>`
  const rows = [...Map.groupBy(data, ({ service }) => service)].map(([service, entries]): Row => {
    const listOf = (more = {}): string => withQuery('/console/dispatches', { service, from, to, ...more })
    const of = (outcome: Outcome): Count => {
      const [first, ...others] = entries.filter(({ status, count }) => outcomeOf[status] === outcome && count > 0)
      return {
        count: sum([first, ...others]),
        href: first === undefined || others.length > 0 ? undefined : listOf({ status: first.status })
      }
    }
    return {
      name: wordFor(words, 'service', service),
      href: listOf(),
      counts: { succeeded: of('succeeded'), open: of('open'), attention: of('attention'), failed: of('failed') },
      total: sum(entries)
    }
  })
  return html`<div class="beside">${lines(rows.map((row) => barOf(words, row)))}
${
    table(words.lastDay, [words.service,
      ...outcomes.map((outcome) => html`<span class="key ${outcome}"></span>${words[`outcome_${outcome}`]}`), words.total], rows.map(rowOf))
  }</div>`
}

function barOf (words: Words, { name, href, counts, total }: Row): Bar {
  return {
    label: name,
    title: `${name}${words.colon}${String(total)}`,
    href,
    parts: outcomes.map((tone) => ({ tone, size: counts[tone].count }))
  }
}

function rowOf ({ name, href, counts, total }: Row): Html {
  return html`<tr><th scope="row"><a href="${href}">${name}</a></th>${
    outcomes.map((outcome) => {
      const { count, href: list } = counts[outcome]
      return html`<td class="count">${list === undefined ? String(count) : html`<a href="${list}">${String(count)}</a>`}</td>`
    })
  }<td class="count">${String(total)}</td></tr>\n`
}

function sum (entries: readonly (Entry | undefined)[]): number {
  return entries.reduce((total, entry) => total + (entry?.count ?? 0), 0)
}
