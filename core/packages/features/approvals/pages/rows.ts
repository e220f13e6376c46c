import { fill, type Html, html, numberOf, type Query, serviceNames, table, textField, withQuery } from '@dispatch/plugins/console'
import type { ApprovalRowView, ApprovalView } from '../contract/approvals.ts'
import type { Visit, Words } from './words.ts'

/** A page of the rows of a batch, and how it was asked for. */
export type ShownRows = { data: readonly ApprovalRowView[], nextCursor: string | null, q: string, cursor: string }

const textOf = (query: Query, name: string): string => typeof query[name] === 'string' ? query[name] : ''

/** The rows of a batch that are asked for. */
export async function readRows ({ api }: Visit, id: string, query: Query): Promise<ShownRows> {
  const [q, cursor] = [textOf(query, 'q').trim().slice(0, 100), textOf(query, 'cursor').replace(/\D/g, '').slice(0, 9)]
  const path = withQuery(`/api/v1/approvals/${encodeURIComponent(id)}/rows`, { search: q, cursor })
  return { ...await api.read<Pick<ShownRows, 'data' | 'nextCursor'>>(path), q, cursor }
}

/** One row of a batch; undefined where there is none. */
export async function readRow ({ api }: Visit, id: string, row: number): Promise<ApprovalRowView | undefined> {
  const path = withQuery(`/api/v1/approvals/${encodeURIComponent(id)}/rows`, { limit: '1', cursor: String(row - 1) })
  const { data } = await api.read<Pick<ShownRows, 'data'>>(path)
  return data.find((one) => one.row === row)
}

/** What a batch comes to: by service, and the amounts of its documents. */
export function totalsOf (words: Words, { totals }: ApprovalView): Html {
  if (totals === undefined) return html``
  const { services, amounts } = totals
  const byService = table(words.approvalTotals, [words.service, words.approvalRowsCount, words.price],
    services.map(({ service, rows, credits }) =>
      html`<tr><th scope="row">${serviceNames(words, [service])}</th><td class="count">${numberOf(words, rows)}</td><td class="count">${
        numberOf(words, credits)
      }</td></tr>\n`
    ))
  const sums = amounts.map(({ currency, rows, amount, unknown }) =>
    html`<tr><th scope="row" class="count">${moneyOf(words, amount, currency)}</th><td class="count">${numberOf(words, rows)}</td><td>${
      unknown === 0 ? '' : fill(words.approvalAmountsUnknown, { n: numberOf(words, unknown) })
    }</td></tr>\n`
  )
  return html`<section aria-labelledby="totals"><h2 id="totals">${words.approvalTotals}</h2>${byService}${
    sums.length === 0
      ? html``
      : html`<h3>${words.approvalAmounts}</h3>${table(words.approvalAmounts, [words.approvalSum, words.approvalRowsCount, ''], sums)}`
  }</section>`
}

export const moneyOf = (words: Words, amount: number, currency: string | null | undefined): string =>
  `${numberOf(words, amount)} ${currency ?? ''}`.trim()

/** The rows, each with a link that shows what would be sent. `chosen`: the row that is shown. */
export function rowsSection (words: Words, at: string, { data, nextCursor, q, cursor }: ShownRows, chosen: number | undefined): Html {
  const rows = data.map(({ row, id = '', recipient = '', amount, currency, credits }) => {
    const link = html`<a href="${withQuery(at, { q, cursor, row: String(row) })}#row"${
      row === chosen ? html` aria-current="true"` : html``
    }>${fill(words.approvalRow, { row: numberOf(words, row) })}</a>`
    return html`<tr><th scope="row">${link}${
      id === '' ? html`` : html`<div class="quiet">${id}</div>`
    }</th><td>${recipient}</td><td class="count">${amount === undefined ? '' : moneyOf(words, amount, currency)}</td><td class="count">${
      numberOf(words, credits)
    }</td></tr>\n`
  })
  const more = nextCursor === null
    ? html``
    : html`<p><a href="${withQuery(at, { q, cursor: nextCursor })}#rows" rel="next">${words.more}</a></p>`
  return html`<section aria-labelledby="rows"><h2 id="rows">${words.approvalRowsTitle}</h2>
<form class="filters" method="get" action="${at}" role="search">${
    textField({ name: 'q', label: words.approvalRowSearch, type: 'search', value: q })
  }<div class="actions"><button class="second">${words.sendSearchDo}</button></div></form>${
    rows.length === 0
      ? html`<p>${nextCursor === null ? words.approvalRowsNone : words.approvalRowsNotYet}</p>`
      : table(words.approvalRowsTitle, [words.approvalRowName, words.approvalTo, words.approvalAmount, words.price], rows)
  }${more}</section>`
}
