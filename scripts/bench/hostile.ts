import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { post } from './support/post.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'

/**
 * 200 connections of one hostile company (bad logins, floods, slow bodies, two kinds of large bodies), and the 99th percentile of another
 * company's dispatches meanwhile, compared with its quiet value in the same run. Quiet and hostile periods take turns. The service, the
 * attackers and the measuring process are separate processes. The rate limits are those of the service, so the measured company sends as
 * many users.
 */

/** `measured`: the number of dispatches in one period. */
const { rounds, measured } = effort({ rounds: 3, measured: 200 }, { rounds: 1, measured: 25 })
const users = 30
/** Milliseconds between two dispatches. */
const every = 20
const wanted = 3

await withBenchDatabase(async ({ url }, folder) => {
  const service = await startChild<RunningService>('service.ts', [url, folder, 'unrendered'], {
    DISPATCH_AUTH_LIMIT: '10',
    DISPATCH_DISPATCH_LIMIT: '100',
    BENCH_USERS: String(users)
  })
  // Another company; its process only runs jobs of the queue.
  const other = await startChild<RunningService>('service.ts', [url, folder, 'unrendered'], { DISPATCH_WORKER: 'off' })
  try {
    printTable(await compare(service.ready, { ...other.ready, url: service.ready.url }))
  } finally {
    await Promise.all([service.stop(), other.stop()])
  }
})

async function compare (victim: RunningService, { url, bearer }: RunningService): Promise<Record<string, object>> {
  await spell(victim)
  const [quiet, hostile]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    quiet.push(...await spell(victim))
    const attackers = await startChild('attacker.ts', [url, bearer])
    await pause(1000)
    hostile.push(...await spell(victim))
    await attackers.stop()
    await pause(1000)
  }
  const ratio = percentile(hostile, 99) / percentile(quiet, 99)
  return {
    quiet: row(quiet),
    'beside 200 hostile connections': { ...row(hostile), 'of the quiet p99': `${rounded(ratio)}×`, wanted: `< ${wanted}×` }
  }
}

/**
 * The durations in milliseconds of the company's dispatches. They start at regular intervals, whether or not earlier ones have been
 * answered.
 */
async function spell ({ url, bearers }: RunningService): Promise<number[]> {
  const answers: Promise<number>[] = []
  for (let sent = 0; sent < measured; sent++) {
    answers.push(timed(() => post(url, '/api/sms', smsRequest(String(sent)), bearers[sent % users])))
    await pause(every)
  }
  return Promise.all(answers)
}

async function timed (work: () => Promise<number>): Promise<number> {
  const begun = performance.now()
  const status = await work()
  if (status !== 200) throw new Error(`A dispatch of the company that is measured was answered ${status}.`)
  return performance.now() - begun
}

function row (values: readonly number[]): object {
  return { dispatches: values.length, 'p50 ms': rounded(percentile(values, 50)), 'p99 ms': rounded(percentile(values, 99)) }
}

function percentile (values: readonly number[], of: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * of / 100)] ?? NaN
}

function rounded (value: number): number {
  return Math.round(value * 10) / 10
}
