/**
 * A dispatch beside the least that it can cost: the same promises kept by two transactions written by hand, on the same database, for one
 * company and for 50. The provider accepts at once, and there is no document. And the same dispatch while its traces are sent.
 * `BENCH_STAGE="with fewer statements" npm run bench -- floor` keeps the shares under that name in floor.json, and draws floor.svg again.
 */
import { openByHand } from './support/by-hand.ts'
import { startChild } from './support/child.ts'
import { startCollector } from './support/collector.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { type Load, requestsPerSecond, underLoad } from './support/load.ts'
import { benchRow, inTurns, median, share } from './support/measure.ts'
import { keepStage } from './support/picture.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { commitOf, printTable } from './support/table.ts'

const { rounds, seconds, several } = effort({ rounds: 7, seconds: 3, several: 50 }, { rounds: 1, seconds: 0.2, several: 2 })

// What is queued stays queued: its share is that of the intake alone.
process.env['DISPATCH_WORKER'] = 'off'

/** The rates of the floor and of the service; latencies of the service's answers. */
async function measured (companies: number) {
  return await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
    await using opened = new AsyncDisposableStack()
    const collector = opened.adopt(await startCollector(), ({ close }) => close())
    const start = async (env: NodeJS.ProcessEnv = {}): Promise<RunningService> =>
      opened.adopt(
        await startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered', 'instant'], {
          BENCH_COMPANIES: String(companies),
          ...env
        }),
        (child) => child.stop()
      ).ready
    const { url, bearers: authorization } = await start()
    const traced = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    const byHand = opened.adopt(await openByHand({ databaseUrl, companies, seconds }), ({ close }) => close())
    const load: Load = { url: `${url}/api/sms`, body: smsRequest('[<id>]'), authorization }
    const latencies: { p50: number, p99: number }[] = []
    const rates = await inTurns({
      byHand: byHand.dispatches,
      waited: async () => {
        const { perSecond, ...latency } = await underLoad(load, seconds)
        latencies.push(latency)
        return perSecond
      },
      traced: () => requestsPerSecond({ ...load, url: `${traced.url}/api/sms`, authorization: traced.bearers }, seconds),
      byHandQueued: byHand.queued,
      queued: () => requestsPerSecond({ ...load, url: `${load.url}?async=true` }, seconds)
    }, rounds)
    return { rates, latencies }
  })
}

const shares = { waited: NaN, queued: NaN, waitedOfMany: NaN }
for (const [companies, wanted] of [[1, 50], [several, 60]] as const) {
  const { rates, latencies } = await measured(companies)
  shares[companies === 1 ? 'waited' : 'waitedOfMany'] = Math.round(share(rates.waited, rates.byHand))
  if (companies === 1) shares.queued = Math.round(share(rates.queued, rates.byHandQueued))
  const p50 = median(latencies.map((one) => one.p50))
  const p99 = median(latencies.map((one) => one.p99))
  printTable({
    [`two transactions by hand, companies: ${companies}`]: benchRow(rates.byHand),
    'a dispatch that is waited for, of that': benchRow(rates.waited, { baseline: rates.byHand, wanted }),
    'the same with its traces, of that': benchRow(rates.traced, { baseline: rates.waited, wanted: 75 }),
    'one transaction by hand': benchRow(rates.byHandQueued),
    'a dispatch that is queued, of that': benchRow(rates.queued, { baseline: rates.byHandQueued, wanted: 60 }),
    'waited for: p50, ms': { reached: p50 },
    'waited for: p99, ms': { reached: p99, wanted: `≤ ${3 * p50}` }
  })
}

const stage = process.env['BENCH_STAGE']
if (stage !== undefined) keepStage({ stage, commit: commitOf(import.meta.dirname), ...shares })
