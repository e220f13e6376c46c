import { csvCell } from '@dispatch/common'
import type { UsageQuery, UsageView } from '../contract/usage.ts'

const counts = ['dispatches', 'accepted', 'failed', 'parts', 'pages', 'credits'] as const

/** The columns of what rows are told apart by. */
const columns = [['per', 'at'], ['service', 'service'], ['provider', 'provider'], ['user', 'userId'], ['key', 'keyId']] as const

type Grouping = Pick<UsageQuery, 'by' | 'per'>

/**
 * Usage as CSV (RFC 4180) in UTF-8, with a column for each kind of failure and delivery status. What a spreadsheet would take for a formula
 * has an apostrophe before it.
 */
export function asCsv ({ data: rows, currency }: Pick<UsageView, 'data' | 'currency'>, { by = '', per }: Grouping): string {
  const namesIn = (kind: 'failures' | 'deliveries' | 'marks'): string[] =>
    [...new Set(rows.flatMap((row) => Object.keys(row[kind])))].sort()
  const [failures, deliveries, marks] = [namesIn('failures'), namesIn('deliveries'), namesIn('marks')]
  const named = by.split(',')
  const metadata = named.find((name) => name.startsWith('metadata.'))?.slice('metadata.'.length)
  const groups = columns.flatMap(([grouping, column]) =>
    (grouping === 'per' ? per !== undefined : named.includes(grouping)) ? [column] : []
  )
  const heading = [
    ...groups,
    ...metadata === undefined ? [] : [`metadata.${metadata}`],
    ...counts,
    ...currency === null ? [] : [`cost ${currency}`],
    'p50',
    'p95',
    ...failures.map((word) => `failed ${word}`),
    ...deliveries.map((status) => `delivery ${status}`),
    ...marks.map((mark) => `mark ${mark}`)
  ]
  const lines = rows.map((row) => [
    ...groups.map((name) => row[name]),
    ...metadata === undefined ? [] : [row.metadata?.[metadata]],
    ...counts.map((name) => row[name]),
    ...currency === null ? [] : [row.cost],
    row.latency?.p50,
    row.latency?.p95,
    ...failures.map((word) => row.failures[word] ?? 0),
    ...deliveries.map((status) => row.deliveries[status] ?? 0),
    ...marks.map((mark) => row.marks[mark] ?? 0)
  ])
  return [heading, ...lines].map((line) => `${line.map((value) => csvCell(String(value ?? ''))).join(',')}\r\n`).join('')
}
