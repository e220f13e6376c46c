import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { fill } from '../language/language.ts'
import type { ApiAnswer } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

type Page<Item> = { data: Item[], nextCursor: string | null }
type Cell = string | number | null | undefined

/** What stands in each column, which is called as the API calls it. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>

type Export<Item> = {
  /** Of the file, without its extension. */
  name: string
  /** Reads a page of the list, the first without a cursor. */
  read: (cursor: string) => Promise<ApiAnswer<Page<Item>>>
  columns: Columns<Item>
}

/** The most rows of a file. */
export const mostRows = 10_000

/**
 * Answers with a list as CSV (RFC 4180), page after page as they are read. A list that the API refuses is a refusal, as long as nothing was
 * sent; afterwards the connection breaks, so that no part passes for the whole.
 */
export async function sendCsv<Item> (visit: Visit, reply: FastifyReply, list: Export<Item>): Promise<ApiAnswer<FastifyReply>> {
  const first = await list.read('')
  if (!first.ok) return first
  return {
    ok: true,
    body: reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${list.name}.csv"`,
      'content-security-policy': 'default-src \'none\'; sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(Readable.from(linesOf(visit, list, first.body)))
  }
}

async function* linesOf<Item> ({ words }: Visit, { read, columns }: Export<Item>, first: Page<Item>): AsyncGenerator<string> {
  // Spreadsheets take a file for UTF-8 by its byte order mark.
  yield `\uFEFF${line(Object.keys(columns))}`
  let [page, rows] = [first, 0]
  for (;;) {
    const items = page.data.slice(0, mostRows - rows)
    rows += items.length
    yield items.map((item) => line(Object.values(columns).map((cell) => cell(item)))).join('')
    const hasMore = page.nextCursor !== null || items.length < page.data.length
    if (!hasMore) return
    if (rows >= mostRows) {
      yield line([fill(words.exportCut, { most: mostRows })])
      return
    }
    const next = await read(page.nextCursor ?? '')
    if (!next.ok) throw new Error(`An export ended early: ${next.error.message}`)
    page = next.body
  }
}

function line (cells: readonly Cell[]): string {
  return `${cells.map(cellOf).join(',')}\r\n`
}

/** A spreadsheet would compute what begins like a formula (OWASP, CSV Injection); numbers are the service's own. */
function cellOf (value: Cell): string {
  if (typeof value === 'number') return String(value)
  const text = value ?? ''
  return `"${/^[=+\-@\t\r\n]/.test(text) ? '\'' : ''}${text.replaceAll('"', '""')}"`
}
