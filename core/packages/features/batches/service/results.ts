import { csvCell } from '@dispatch/common'
import { problemIn, type Version } from '@dispatch/contract'
import type { ResultView } from '../contract/batches.ts'

const heading = ['row', 'id', 'status', 'dispatchId', 'error', 'message']

/** Results as text, for clients of a version: an object on each line. */
export async function* asNdjson (pages: AsyncIterable<readonly ResultView[]>, version: Version): AsyncGenerator<string, void> {
  for await (const page of pages) {
    yield page.map(({ problem, ...result }) =>
      `${JSON.stringify({ ...result, ...problem !== undefined && { problem: problemIn(problem, version) } })}\n`
    ).join('')
  }
}

/** Results as CSV (RFC 4180) in UTF-8. What a spreadsheet would take for a formula has an apostrophe before it. */
export async function* asCsv (pages: AsyncIterable<readonly ResultView[]>): AsyncGenerator<string, void> {
  yield `${heading.join(',')}\r\n`
  for await (const page of pages) {
    yield page.map(({ row, id = '', status, dispatchId = '', problem }) =>
      `${[String(row), id, status, dispatchId, problem?.error ?? '', problem?.message ?? ''].map(csvCell).join(',')}\r\n`
    ).join('')
  }
}
