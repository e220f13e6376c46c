/**
 * A batch of invoices: how long until all rows are stored and checked, how much memory that takes, and what a single dispatch of the same
 * company takes meanwhile and while the rows are sent.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import { memoryOptions, startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { rows, singles } = effort({ rows: 10_000, singles: 1_000 }, { rows: 20, singles: 5 })

type Batch = { batchId: string, status: string }

/** Milliseconds that a share of these took at most. */
function quantile (milliseconds: readonly number[], part: number): number {
  return milliseconds.toSorted((a, b) => a - b)[Math.ceil(milliseconds.length * part) - 1] ?? NaN
}

/** MiB of memory of a process at its highest. */
function memoryOf (pid: number | undefined): number {
  const [, kibibytes = NaN] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}

const measured = await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  await using opened = new AsyncDisposableStack()
  const { ready: { url, bearer: authorization }, process: { pid } } = opened.adopt(
    await startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered'], {}, memoryOptions),
    (child) => child.stop()
  )
  const ask = async (method: 'GET' | 'POST', path: string, type: string, body?: string | Buffer): Promise<unknown> => {
    const answer = await request(`${url}${path}`, {
      method,
      headers: { authorization, ...body === undefined ? {} : { 'content-type': type } },
      ...body === undefined ? {} : { body }
    })
    if (answer.statusCode >= 400) throw new Error(`${path} was answered with ${answer.statusCode}: ${await answer.body.text()}`)
    return answer.body.json()
  }
  let made = 0
  /** Milliseconds of single dispatches, one after the other, for as long as wanted. */
  const single = async (isWanted: (times: number) => boolean): Promise<number[]> => {
    const times: number[] = []
    while (isWanted(times.length)) {
      const begun = performance.now()
      await ask('POST', '/api/invoicing', 'application/json', JSON.stringify(invoiceRequest(`single-${made++}`)))
      times.push(performance.now() - begun)
    }
    return times
  }
  await single((count) => count < singles / 2)
  const alone = await single((count) => count < singles)
  const file = Buffer.from(Array.from({ length: rows }, (_, at) => `${JSON.stringify(invoiceRequest(`row-${at}`))}\n`).join(''))
  const before = memoryOf(pid)
  const begun = performance.now()
  const taken = await ask('POST', '/api/v1/batches?service=invoicing', 'application/x-ndjson', file) as Batch
  const stored = (performance.now() - begun) / 1000
  const statusIs = async (...statuses: string[]): Promise<boolean> =>
    statuses.includes((await ask('GET', `/api/v1/batches/${taken.batchId}`, '') as Batch).status)
  const over = { checked: false, sent: false }
  const whileChecked = single((count) => !over.checked || count < 2)
  while (await statusIs('checking')) await pause(100)
  const queued = (performance.now() - begun) / 1000
  over.checked = true
  const checking = await whileChecked
  const whileSent = single((count) => !over.sent || count < 2)
  while (!await statusIs('finished')) await pause(200)
  over.sent = true
  const sending = await whileSent
  return { stored, queued, sent: (performance.now() - begun) / 1000, alone, checking, sending, before, memory: memoryOf(pid) }
})

const { stored, queued, sent, alone, checking, sending, before, memory } = measured
printTable({
  [`${rows} invoices are stored, s`]: { measured: stored.toFixed(1) },
  'they are checked, and queued, s': { measured: queued.toFixed(1), wanted: '≤ 20' },
  'all of them are sent, s': { measured: sent.toFixed(1) },
  'memory at its highest with single dispatches alone, MiB': { measured: before.toFixed(0) },
  'more with the batch, MiB': { measured: (memory - before).toFixed(0), wanted: '≤ 40' }
})
const delays = (times: readonly number[]) => ({
  dispatches: times.length,
  'p50, ms': quantile(times, 0.5).toFixed(1),
  'p99, ms': quantile(times, 0.99).toFixed(1)
})
printTable({
  'a single dispatch, alone': delays(alone),
  'while a batch is checked': { ...delays(checking), wanted: '≤ 500 ms more' },
  'while it is sent': { ...delays(sending), wanted: '≤ 500 ms more' }
})
