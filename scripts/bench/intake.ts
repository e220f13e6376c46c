/** Requests that `?async=true` queues over HTTP, compared with their statements alone. Meanwhile no process runs jobs of the queue. */
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond } from './support/load.ts'
import { benchRow, inTurns } from './support/measure.ts'
import { prepareReplay } from './support/replayed.ts'
import type { RunningService } from './support/service.ts'
import { smsRequest } from './support/sms.ts'
import { printTable } from './support/table.ts'

const { rounds, seconds } = effort({ rounds: 7, seconds: 2 }, { rounds: 1, seconds: 0.2 })

// Also for the app whose statements are recorded.
process.env['DISPATCH_WORKER'] = 'off'

const rates = await withBenchDatabase(async ({ url: databaseUrl }, folder) => {
  await using opened = new AsyncDisposableStack()
  const { ready: { url, bearer: authorization } } = opened.adopt(
    await startChild<RunningService>('service.ts', [databaseUrl, folder, 'unrendered']),
    (child) => child.stop()
  )
  const statements = { databaseUrl, folder, mode: 'asynchronous', seconds } as const
  const smsAlone = opened.adopt(await prepareReplay({ ...statements, services: ['sms'], bodyOf: smsRequest }), ({ close }) => close())
  const invoicesAlone = opened.adopt(await prepareReplay({ ...statements, services: ['invoicing'], bodyOf: invoiceRequest }),
    ({ close }) => close())
  return await inTurns({
    smsAlone: smsAlone.rate,
    sms: () => requestsPerSecond({ url: `${url}/api/sms?async=true`, body: smsRequest('[<id>]'), authorization }, seconds),
    invoicesAlone: invoicesAlone.rate,
    invoices: () => requestsPerSecond({ url: `${url}/api/invoicing?async=true`, body: invoiceRequest('[<id>]'), authorization }, seconds)
  }, rounds)
})

printTable({
  'the SQL of queuing an SMS alone': benchRow(rates.smsAlone),
  'queuing an SMS, of the SQL': benchRow(rates.sms, { baseline: rates.smsAlone, wanted: 60 }),
  'the SQL of queuing an invoice alone': benchRow(rates.invoicesAlone),
  'queuing an invoice, of the SQL': benchRow(rates.invoices, { baseline: rates.invoicesAlone, wanted: 60 })
})
