/**
 * How long a page of the list of dispatches takes, by filter, and how long the counts and the usage take, of a company with a fifth of all
 * dispatches and of one with a few; and how long it takes to count the usage of all. `BENCH_STORED`: how many dispatches are stored;
 * 1,000,000 unless set. `BENCH_COMPANIES=1`: of a company with all of them.
 */
import { countDispatches, type DispatchFilter, listDispatches } from '@dispatch/core'
import { type Database, openDatabase } from '@dispatch/database'
import { makeIndexes } from '@dispatch/tables'
import { sql } from 'kysely'
import { createUsage } from '../../core/packages/features/usage/service/usage.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { grow, invoiceOf, stored } from './support/grown.ts'
import { median } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { companies, times } = effort({ companies: Number(process.env['BENCH_COMPANIES'] ?? 100), times: 200 }, { companies: 3, times: 5 })
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

/** A filter for each run. `some`: the number of an invoice of the company, another one in each run. */
function filtersFor (some: (run: number) => number): Record<string, (run: number) => DispatchFilter> {
  const before = Date.now() - stored * 900
  return {
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
    'an error that none has': () => ({ error: 'provider_error', stepStatus: 'failed' }),
    'a provider of all': () => ({ providerName: 'simulator' }),
    'a provider that none has': () => ({ providerName: 'smtp' }),
    'a provider and a status that none has': () => ({ providerName: 'simulator', status: 'failed' }),
    'steps that were refused, of which there are none': () => ({ stepStatus: 'rejected' }),
    'a delivery status that none has': () => ({ deliveryStatus: 'returned' }),
    'a sender who has sent none': () => ({ userId: 1 }),
    'a search by a number': (run) => ({ search: `2026-${some(run)}` }),
    'a search by the id at the vendor': (run) => ({ search: `sim_${some(run)}` }),
    'a search that finds nothing': () => ({ search: 'nothing' }),
    'the end of a number': (run) => ({ search: `6-${some(run)}`.slice(-6), partial: true }),
    'a part of a name': (run) => ({ search: `stomer-${some(run)}@Ex`, partial: true }),
    'a part of all names': () => ({ search: 'xample', partial: true }),
    'a part of all names, and a status that none has': () => ({ search: 'xample', partial: true, status: 'failed' }),
    'a part that few have': (run) => ({ search: `-${String(some(run)).slice(0, 3)}`, partial: true }),
    'a part that none has': () => ({ search: 'lovelace', partial: true }),
    'a recipient and a status': (run) => ({ recipient: `customer-${some(run)}@example.com`, status: 'succeeded' })
  }
}

/** `nth` of the companies, counted from 1. */
async function searchesOf (database: Database, { nth, companyId }: { nth: number, companyId: number }): Promise<Record<string, object>> {
  const theirs = stored / invoiceOf(nth, companies, 1)
  const some = (run: number): number => invoiceOf(nth, companies, 1 + (run * 7_919) % Math.floor(theirs - 1))
  const rows: Record<string, object> = {}
  for (const [name, filter] of Object.entries(filtersFor(some))) {
    rows[name] = row(await timesOf(times, (run) => listDispatches(database, companyId, filter(run), { limit: 25 })), wanted)
  }
  const usage = createUsage({ database, retentionDays: 90 })
  for (const query of [{ by: 'service,provider' }, { per: 'day' }, { by: 'service,provider,user,key', per: 'hour' }] as const) {
    rows[`the usage of 30 days, ${Object.values(query).join(' per ')}`] = row(
      await timesOf(times, () => usage.read({ companyId }, query)),
      wanted
    )
  }
  rows['the usage of a day by metadata'] = row(
    await timesOf(5, () => usage.read({ companyId }, { by: 'metadata.orderId', from: new Date(Date.now() - day).toISOString() }))
  )
  const now = Date.now()
  for (const days of [1, 31]) {
    const period = { from: new Date(now - days * day), to: new Date(now) }
    rows[`the counts of the last ${days === 1 ? 'day' : `${days} days`}`] = row(
      await timesOf(times, () => countDispatches(database, companyId, period))
    )
  }
  return rows
}

await withBenchDatabase(async ({ url }, folder) => {
  const service = await startChild<RunningService>('service.ts', [url, folder, 'unrendered'], { BENCH_COMPANIES: String(companies) })
  await service.stop()
  await grow(url, stored)
  const database = openDatabase({ connectionString: url }, { onError: () => undefined })
  await makeIndexes(database, { log: createLogger('warn') })
  const ids = await database.owner.selectFrom('companies').select('company_id as companyId').where('name', 'like', 'Bench %')
    .orderBy('company_id').execute()
  const begun = performance.now()
  await createUsage({ database, retentionDays: 90 }).count()
  console.log(`The usage of ${stored} dispatches was counted in ${((performance.now() - begun) / 1000).toFixed(1)} s.`)
  for (const nth of companies === 1 ? [1] : [1, 2]) {
    const { companyId = NaN } = ids[nth - 1] ?? {}
    const { count } = await database.owner.selectFrom('dispatches').select(sql<string>`count(*)`.as('count'))
      .where('company_id', '=', companyId).executeTakeFirstOrThrow()
    console.log(`A company with ${count} of ${stored} dispatches:`)
    printTable(await searchesOf(database, { nth, companyId }))
  }
  await database.close()
})
