/**
 * The cost of a dispatch in a database with many dispatches of 100 companies, compared with one with a thousand: a synchronous invoice
 * without its document, an SMS from `?async=true` to its end, and the deletion of old dispatches. `BENCH_STORED`: how many are many;
 * 1,000,000 unless set.
 */
import { openDatabase } from '@dispatch/database'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { forgetDispatches } from '../../core/store/dispatch/forgetting.ts'
import { findFeatures } from '../../plugins/features/find-features.ts'
import { type Child, startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { grow, stored } from './support/grown.ts'
import { invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond, sendRequests } from './support/load.ts'
import { benchRow, inTurns, type Rate } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'

const { rounds, queued, few, companies, batch } = effort(
  { rounds: 7, queued: 1_000, few: 1_000, companies: 100, batch: 100 },
  { rounds: 1, queued: 50, few: 100, companies: 3, batch: 50 }
)
const seconds = 2

/** How many dispatches per second the service makes on a database of that size. */
type Contestant = { invoices: Rate, sms: Rate, forgotten: Rate }

async function contestant (opened: AsyncDisposableStack, amount: number): Promise<Contestant> {
  const started = Promise.withResolvers<Contestant>()
  const ended = Promise.withResolvers<undefined>()
  const running = withBenchDatabase(async ({ url: databaseUrl }, folder) => {
    const service = await startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered'], {
      BENCH_COMPANIES: String(companies)
    })
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
    pool.on('error', () => undefined)
    await grow(databaseUrl, amount)
    started.resolve({ invoices: invoices(service), sms: sms(service, pool), forgotten: () => forgotten(databaseUrl) })
    await ended.promise
    await pool.end()
    await service.stop()
  })
  opened.defer(async () => {
    ended.resolve(undefined)
    await running
  })
  return Promise.race([started.promise, running.then(() => started.promise)])
}

function invoices ({ ready: { url, bearer: authorization } }: Child<RunningService>): Rate {
  return () => requestsPerSecond({ url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization }, seconds)
}

function sms ({ ready: { url, bearer: authorization } }: Child<RunningService>, pool: pg.Pool): Rate {
  return async () => {
    const start = performance.now()
    await sendRequests({ url: `${url}/api/sms?async=true`, body: smsRequest('[<id>]'), authorization }, queued)
    while ((await pool.query('select from dispatches where status = \'queued\' or run_id is not null limit 1')).rowCount !== 0) {
      await pause(5)
    }
    return queued / (performance.now() - start) * 1000
  }
}

/** The oldest dispatches are deleted, by the statements of the nightly deletion. */
async function forgotten (databaseUrl: string): Promise<number> {
  const database = openDatabase({ connectionString: databaseUrl }, { onError: () => undefined })
  await database.ping()
  const dispatchRows = (await findFeatures()).flatMap((feature) => feature.dispatchRows?.() ?? [])
  const start = performance.now()
  const count = await forgetDispatches(database, { before: new Date(), hopeless: new Date(), limit: batch, dispatchRows })
  const took = performance.now() - start
  await database.close()
  return count / took * 1000
}

await using opened = new AsyncDisposableStack()
const [small, large] = [await contestant(opened, few), await contestant(opened, stored)]
const rates = await inTurns({
  smallInvoices: small.invoices,
  largeInvoices: large.invoices,
  smallSms: small.sms,
  largeSms: large.sms,
  smallForgotten: small.forgotten,
  largeForgotten: large.forgotten
}, rounds)
// 1.2 times the cost is 83 % of the rate.
printTable({
  [`an invoice where ${few} dispatches are stored`]: benchRow(rates.smallInvoices),
  [`an invoice where ${stored} are, of that`]: benchRow(rates.largeInvoices, { baseline: rates.smallInvoices, wanted: 83 }),
  [`a queued SMS where ${few} are stored`]: benchRow(rates.smallSms),
  [`a queued SMS where ${stored} are, of that`]: benchRow(rates.largeSms, { baseline: rates.smallSms, wanted: 83 }),
  [`a dispatch forgotten where ${few} are stored`]: benchRow(rates.smallForgotten),
  [`a dispatch forgotten where ${stored} are, of that`]: benchRow(rates.largeForgotten, { baseline: rates.smallForgotten, wanted: 83 })
})
