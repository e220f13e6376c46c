import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { fill } from '../language/language.ts'
import { type DispatchView, withQuery } from '../session/api.ts'
import type { Visit } from '../session/visit.ts'

type Page<Item> = { data: Item[], nextCursor: string | null }
type Cell = string | number | null | undefined

/** What stands in each column, which is called as the API calls it. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>

/** A file of dispatches. */
export const dispatchColumns: Columns<DispatchView> = {
  dispatchId: ({ dispatchId }) => dispatchId,
  services: ({ services }) => services.join(' '),
  status: ({ status }) => status,
  test: ({ test }) => test === true ? 'true' : '',
  recipient: ({ recipient }) => recipient,
  documentType: ({ documentType }) => documentType,
  documentNumber: ({ documentNumber }) => documentNumber,
  createdAt: ({ createdAt }) => createdAt,
  finishedAt: ({ finishedAt }) => finishedAt,
  creditsCharged: ({ creditsCharged }) => creditsCharged,
  providers: ({ steps }) => steps.flatMap(({ providerName }) => providerName ?? []).join(' '),
  error: ({ steps }) => steps.find(({ error }) => error !== undefined)?.error?.message,
  requestId: ({ requestId }) => requestId,
  metadata: ({ metadata }) => JSON.stringify(metadata)
}

type Export<Item> = {
  /** The name of the file, without its extension. */
  name: string
  /** The path of the list, with its filters. */
  path: string
  filter: Readonly<Record<string, string>>
  columns: Columns<Item>
}

/** The most rows of a file. */
export const maxRows = 10_000

/**
 * Answers with a list as CSV (RFC 4180), page after page as they are read. A list that the API refuses is a refusal, as long as nothing was
 * sent; afterwards the connection breaks, so that no part passes for the whole.
 */
export async function sendCsv<Item> (visit: Visit, reply: FastifyReply, { name, path, filter, columns }: Export<Item>): Promise<
  FastifyReply
> {
  const read = (cursor: string): Promise<Page<Item>> => visit.api.read(withQuery(path, { ...filter, limit: '100', cursor }))
  const first = await read('')
  return asFile(reply, name).send(Readable.from(linesOf(visit, columns, first, read)))
}

/** Answers with a few rows as CSV. */
export function sendRows<Item> (reply: FastifyReply, name: string, columns: Columns<Item>, items: readonly Item[]): FastifyReply {
  return asFile(reply, name).send(`${head(columns)}${items.map((item) => row(columns, item)).join('')}`)
}

function asFile (reply: FastifyReply, name: string): FastifyReply {
  return reply.headers({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}.csv"`,
    'content-security-policy': 'default-src \'none\'; sandbox',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store'
  })
}

/** Spreadsheets take a file for UTF-8 by its byte order mark. */
const head = (columns: Columns<never>): string => `\uFEFF${line(Object.keys(columns))}`

const row = <Item>(columns: Columns<Item>, item: Item): string => line(Object.values(columns).map((cell) => cell(item)))

async function* linesOf<Item> (
  { words }: Visit,
  columns: Columns<Item>,
  first: Page<Item>,
  read: (cursor: string) => Promise<Page<Item>>
): AsyncGenerator<string> {
  yield head(columns)
  let [page, rows] = [first, 0]
  for (;;) {
    const items = page.data.slice(0, maxRows - rows)
    rows += items.length
    yield items.map((item) => row(columns, item)).join('')
    const hasMore = page.nextCursor !== null || items.length < page.data.length
    if (!hasMore) return
    if (rows >= maxRows) {
      yield line([fill(words.exportCut, { max: maxRows })])
      return
    }
    page = await read(page.nextCursor ?? '')
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
