import { csvCell } from '@dispatch/common'
import { isSince, problemIn, type Version } from '@dispatch/contract'
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

/**
 * Results as CSV (RFC 4180) in UTF-8; its last column, the reason of an error, is there from 1.1.0 on. What a spreadsheet would take for
 * a formula has an apostrophe before it.
 */
export async function* asCsv (pages: AsyncIterable<readonly ResultView[]>, version: Version): AsyncGenerator<string, void> {
  const columns = isSince('1.1.0', version) ? [...heading, 'reason'] : heading
  yield `${columns.join(',')}\r\n`
  for await (const page of pages) {
    yield page.map(({ row, id = '', status, dispatchId = '', problem }) => {
      const cells = [String(row), id, status, dispatchId, problem?.error ?? '', problem?.message ?? '', problem?.reason ?? '']
      return `${cells.slice(0, columns.length).map(csvCell).join(',')}\r\n`
    }).join('')
  }
}
