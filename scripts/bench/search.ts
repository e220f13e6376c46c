/**
 * How long a page of the list of dispatches takes, by filter, where one company has a million dispatches; and the recipient as it would be
 * found by a function of the column, which row-level security keeps from the index.
 */
import { countDispatches, type DispatchFilter, listDispatches, openDatabase } from '@dispatch/core'
import { sql } from 'kysely'
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { grow } from './support/grown.ts'
import { median } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { many, times, slow } = effort({ many: 1_000_000, times: 200, slow: 5 }, { many: 1_000, times: 5, slow: 1 })
const day = 86_400_000
const wanted = '≤ 50'

/** Milliseconds of each run. */
async function timesOf (runs: number, work: (run: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = []
  for (let run = 0; run < runs; run++) {
    const start = performance.now()
    await work(run)
    taken.push(performance.now() - start)
  }
  return taken.slice(runs > 1 ? 1 : 0).sort((a, b) => a - b)
}

function row (taken: readonly number[], limit?: string): object {
  const p99 = taken[Math.min(taken.length - 1, Math.floor(taken.length * 0.99))] ?? NaN
  return {
    'median, ms': Number(median(taken).toFixed(1)),
    'p99, ms': Number(p99.toFixed(1)),
    ...(limit !== undefined && { wanted: limit })
  }
}

await withBenchDatabase(async ({ url }, folder) => {
  const service = await startChild<RunningService>('service.ts', [url, folder, 'unrendered'])
  await service.stop()
  await grow(url, many)
  const database = openDatabase({ connectionString: url }, { onError: () => undefined })
  const { company_id: companyId } = await database.owner.selectFrom('dispatches').select('company_id').executeTakeFirstOrThrow()
  const some = (run: number): number => 2 * (1 + (run * 7_919) % Math.floor(many / 2 - 1))
  const before = Date.now() - many * 900
  const filters: Record<string, (run: number) => DispatchFilter> = {
    'the newest': () => ({}),
    'a status that none has': () => ({ status: 'failed' }),
    'only tests, of which there are none': () => ({ test: true }),
    'a service of every second one': () => ({ service: 'sms' }),
    'a service that none has': () => ({ service: 'esign' }),
    'a recipient': (run) => ({ recipient: `Customer-${some(run)}@example.com` }),
    'a recipient that none has': () => ({ recipient: 'nobody@example.com' }),
    'a number': (run) => ({ documentNumber: `2026-${some(run)}` }),
    'a pair of metadata': (run) => ({ metadata: { orderId: `A-${some(run)}` } }),
    'an hour long ago': () => ({ from: new Date(before), to: new Date(before + day / 24) }),
    'a provider of all': () => ({ providerName: 'simulator' }),
    'a provider that none has': () => ({ providerName: 'smtp' }),
    'a provider and a status that none has': () => ({ providerName: 'simulator', status: 'failed' }),
    'steps that were refused, of which there are none': () => ({ stepStatus: 'rejected' }),
    'a delivery status that none has': () => ({ deliveryStatus: 'returned' }),
    'a sender who has sent none': () => ({ userId: 1 }),
    'a search by a number': (run) => ({ search: `2026-${some(run)}` }),
    'a search by the id at the vendor': (run) => ({ search: `sim_${some(run)}` }),
    'a search that finds nothing': () => ({ search: 'nothing' }),
    'a recipient and a status': (run) => ({ recipient: `customer-${some(run)}@example.com`, status: 'succeeded' })
  }
  const rows: Record<string, object> = {}
  for (const [name, filter] of Object.entries(filters)) {
    rows[name] = row(await timesOf(times, (run) => listDispatches(database, companyId, filter(run), { limit: 25 })), wanted)
  }
  rows['counts of the last day'] = row(await timesOf(times, async () => {
    const now = Date.now()
    await countDispatches(database, companyId, { from: new Date(now - day), to: new Date(now) })
  }))
  rows['a recipient by a function of the column'] = row(
    await timesOf(slow,
      (run) =>
        database.snapshot(companyId, (queries) =>
          sql`select from dispatches where company_id = ${companyId} and lower(recipient) = ${`customer-${some(run)}@example.com`}
        order by dispatch_id desc limit 25`.execute(queries)))
  )
  printTable(rows)
  await database.close()
})
