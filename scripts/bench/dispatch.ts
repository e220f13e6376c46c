/**
 * A synchronous invoice through the simulator: without its document, beside the same SQL alone; with it, beside the threads
 * that make documents alone.
 */
import { randomUUIDv7 } from 'node:crypto'
import { createRenderer, openDatabase, readTemplateFolder, type Database } from '@dispatch/core'
import { beginAttempt, openDispatch, settleStep } from '../../core/store/dispatches.ts'
import { createProviderState } from '../../core/store/provider-state.ts'
import { startChild, type Child } from './support/child.ts'
import { withDatabase } from './support/database.ts'
import { invoiceData, invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond } from './support/load.ts'
import { inTurns, row } from './support/measure.ts'
import type { Service } from './support/service.ts'

const rounds = 5
const seconds = 2
const concurrency = 32

/** How often `work` is done in a second, 32 at a time. */
async function perSecond (work: () => Promise<unknown>, atOnce = concurrency): Promise<number> {
  const start = performance.now()
  let done = 0
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (performance.now() - start < seconds * 1000) {
      await work()
      done++
    }
  }))
  return done / ((performance.now() - start) / 1000)
}

/** The statements of one dispatch through the simulator, in their order, without anything around them. */
async function statements (database: Database): Promise<void> {
  const now = new Date()
  const [companyId, dispatchId, stepId] = [2, randomUUIDv7(), randomUUIDv7()]
  const number = dispatchId
  const state = createProviderState(database, companyId, 'simulator', () => now)
  const actor = { kind: 'user', userId: 2 } as const
  const data = invoiceData(number)
  await openDispatch(database, {
    dispatchId, companyId, actor, requestId: dispatchId, template: { id: 1, version: 1 }, data, metadata: { orderId: 'A-1001' }, documentType: 'INVOICE', documentNumber: number,
    steps: [{ stepId, service: 'invoicing', providerCode: 'simulator', providerVersion: '1.0.0', chosenBy: 'company', configuredBy: 'company', sandbox: false, fields: { documentType: 'INVOICE' }, requestSettings: {}, price: 1 }]
  }, now)
  const document = { documentId: randomUUIDv7(), filename: 'invoice.pdf', contentType: 'application/pdf', size: 0, sha256: '0'.repeat(64), pages: 1, storageKey: dispatchId, expiresAt: now }
  await beginAttempt(database, { companyId, dispatchId, stepId, providerCode: 'simulator', providerVersion: '1.0.0', document }, now)
  await state.get(`outbox:${stepId}`)
  await state.putIfAbsent(`number:INVOICE:${number}`, stepId)
  await state.put(`outbox:${stepId}`, { at: now.toISOString(), reference: stepId, data })
  await settleStep(database, { companyId, dispatchId, stepId, actor: { kind: 'provider', code: 'simulator' } }, { outcome: 'accepted', response: { id: stepId, status: 'created' } }, 'succeeded', now)
}

function dispatches ({ ready: { url, bearer } }: Child<Service>): () => Promise<number> {
  return () => requestsPerSecond({ url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization: bearer }, seconds)
}

const template = await readTemplateFolder(new URL('../../templates/invoice', import.meta.url).pathname)
const job = { template: { id: 1, version: 1, digest: template.digest, source: template.source }, data: invoiceData('2026-0142'), format: 'pdf' as const, now: '2026-03-14T00:00:00.000Z' }

const rates = await withDatabase(async ({ url }, folder) => {
  const unrendered = await startChild<Service>('service.ts', [url, folder, 'unrendered'])
  const rendered = await startChild<Service>('service.ts', [url, folder])
  const database = openDatabase({ connectionString: url }, { onError: (error) => console.error(error) })
  await database.owner.updateTable('credits').set({ balance: '1000000000' }).execute()
  const pool = createRenderer()
  try {
    return await inTurns({
      sql: () => perSecond(() => statements(database)),
      unrendered: dispatches(unrendered),
      pool: () => perSecond(() => pool.render(job), 8),
      rendered: dispatches(rendered)
    }, rounds)
  } finally {
    await pool.close()
    await database.close()
    await unrendered.stop()
    await rendered.stop()
  }
})

console.table({
  'the SQL of a dispatch alone': row(rates.sql),
  'dispatch without its document, of the SQL': row(rates.unrendered, { baseline: rates.sql, wanted: 50 }),
  'documents, the threads alone': row(rates.pool),
  'dispatch with its document, of the threads': row(rates.rendered, { baseline: rates.pool, wanted: 80 })
})
