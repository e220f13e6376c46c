/** Validation of an invoice of 3 KB, compared with a bare fastify route that returns the same body through the same schema. */
import { startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond } from './support/load.ts'
import { benchRow, inTurns } from './support/measure.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const rounds = effort(7, 1)
const seconds = 2
const body = invoiceRequest('2026-0142')

const { bare, bearer, basic } = await withBenchDatabase(async ({ url }, folder) => {
  const echo = await startChild<{ url: string }>('echo.ts')
  const service = await startChild<RunningService>('service.ts', [url, folder])
  const validate = `${service.ready.url}/api/invoicing/validate`
  try {
    return await inTurns({
      bare: () => requestsPerSecond({ url: echo.ready.url, body }, seconds),
      bearer: () => requestsPerSecond({ url: validate, body, authorization: service.ready.bearer }, seconds),
      basic: () => requestsPerSecond({ url: validate, body, authorization: service.ready.basic }, seconds)
    }, rounds)
  } finally {
    await service.stop()
    await echo.stop()
  }
})

printTable({
  'bare route': benchRow(bare),
  'validation, Bearer, of the bare route': benchRow(bearer, { baseline: bare, wanted: 50 }),
  'validation, Basic, of Bearer': benchRow(basic, { baseline: bearer, wanted: 80 })
})
