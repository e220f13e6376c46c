import { badge, type Html, html, table, time } from '@dispatch/plugins/console'
import type { AdapterDetail } from '../contract/marketplace.ts'
import { conformanceOf, rowsOf } from './rows.ts'
import type { Words } from './words.ts'

/** Two or three adapters side by side: a column for each, a row for what is told of any of them. */
export function comparison (words: Words, adapters: readonly AdapterDetail[]): Html {
  const columns = adapters.map((adapter) => {
    const shown = adapter.versions.find(({ version }) => version === adapter.version)
    const checked = shown === undefined
      ? []
      : [[words.released, time(shown.at)] as const, [words.conformance, conformanceOf(words, shown.conformance)] as const]
    return new Map<string, string | Html>([[words.status, badge(words, 'state', adapter.state)], ...rowsOf(words, adapter), ...checked])
  })
  const titles = [...new Set(columns.flatMap((column) => [...column.keys()]))]
  const rows = titles.map((title) =>
    html`<tr><th scope="row">${title}</th>${columns.map((column) => html`<td>${column.get(title) ?? '–'}</td>`)}</tr>\n`
  )
  const head = ['', ...adapters.map(({ code, name }) => html`<a href="/console/marketplace/${code}">${name}</a>`)]
  return html`<section aria-labelledby="comparison"><h2 id="comparison">${words.comparison}</h2>${
    table(words.comparison, head, rows)
  }<hr><p><a href="/console/marketplace">${words.showAll}</a></p></section>`
}
