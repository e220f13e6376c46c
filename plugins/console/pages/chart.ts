import { type Html, html } from '../../html.ts'
import { wordFor, type Words } from '../language/language.ts'
import type { StatisticsView } from '../session/api.ts'
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

type Row = { name: string, counts: Readonly<Record<Outcome, number>>, total: number }

/** What was dispatched, as bars and as a table with the same numbers. */
export function dispatchChart (words: Words, { data }: StatisticsView): Html {
  if (data.length === 0) return html`<p>${words.lastDayNone}</p>`
  const rows = [...Map.groupBy(data, ({ service }) => service)].map(([service, entries]): Row => {
    const of = (outcome: Outcome): number => sum(entries.filter(({ status }) => outcomeOf[status] === outcome).map(({ count }) => count))
    const counts = { succeeded: of('succeeded'), open: of('open'), attention: of('attention'), failed: of('failed') }
    return { name: wordFor(words, 'service', service), counts, total: sum(Object.values(counts)) }
  })
  return html`<div class="beside">${bars(words, rows)}
${
    table(words.lastDay, [words.service,
      ...outcomes.map((outcome) => html`<span class="key ${outcome}"></span>${words[`outcome_${outcome}`]}`), words.total], rows.map(rowOf))
  }</div>`
}

function rowOf ({ name, counts, total }: Row): Html {
  return html`<tr><th scope="row">${name}</th>${
    outcomes.map((outcome) => html`<td class="count">${String(counts[outcome])}</td>`)
  }<td class="count">${String(total)}</td></tr>\n`
}

/** In units of the drawing. */
const [lineHeight, barHeight, letterWidth, barsWidth] = [30, 14, 7, 230]

function bars (words: Words, rows: readonly Row[]): Html {
  const most = Math.max(...rows.map(({ total }) => total))
  const labelWidth = Math.max(90, ...rows.map(({ name }) => name.length * letterWidth))
  const height = String(rows.length * lineHeight)
  const lines = rows.map(({ name, counts }, line) => {
    const top = line * lineHeight + (lineHeight - barHeight) / 2
    let left = labelWidth
    const parts = outcomes.filter((outcome) => counts[outcome] > 0).map((outcome) => {
      const width = counts[outcome] / most * barsWidth
      const part = html`<rect class="${outcome}" x="${left.toFixed(1)}" y="${String(top)}" width="${width.toFixed(1)}" height="${
        String(barHeight)
      }" />`
      left += width
      return part
    })
    return html`<text x="0" y="${String(top + 11)}">${name}</text>${parts}`
  })
  return html`<svg class="chart" viewBox="0 0 ${
    String(labelWidth + barsWidth)
  } ${height}" role="img" aria-label="${words.chartLabel}">${lines}</svg>`
}

function sum (numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
