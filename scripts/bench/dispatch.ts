/**
 * A synchronous invoice through the simulator: without its document, beside the SQL of such a dispatch alone; with it, beside
 * the threads that make documents alone.
 */
import { fileURLToPath } from 'node:url'
import { createRenderer, readTemplateFolder, type Renderer } from '@dispatch/core'
import pg from 'pg'
import { createLogger } from '../../plugins/logging.ts'
import { startChild, type Child } from './support/child.ts'
import { withDatabase } from './support/database.ts'
import { openHouse } from './support/house.ts'
import { invoiceData, invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond } from './support/load.ts'
import { inTurns, row, type Rate } from './support/measure.ts'
import type { Service } from './support/service.ts'
import { recordScript, replay } from './support/statements.ts'

const rounds = 7
const seconds = 2
/** As many as the service is asked at once, and as many connections as it has to its database. */
const [requests, connections] = [32, 10]

/** How often the work is done in a second, 32 at a time. */
function rateOf (work: () => Promise<unknown>): Rate {
  return async () => {
    const start = performance.now()
    let done = 0
    await Promise.all(Array.from({ length: requests }, async () => {
      for (; performance.now() - start < seconds * 1000; done++) await work()
    }))
    return done / (performance.now() - start) * 1000
  }
}

function dispatches ({ ready: { url, bearer } }: Child<Service>): Rate {
  return () => requestsPerSecond({ url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization: bearer }, seconds)
}

/** The statements of a real dispatch without its document, replayed. */
async function sqlOf (databaseUrl: string, folder: string): Promise<{ rate: Rate, close: () => Promise<void> }> {
  const { house, user } = await openHouse(databaseUrl, folder, 'unrendered', createLogger('warn'))
  const actor = await house.get('authentication').authenticate(`Basic ${btoa(`${user.email}:${user.password}`)}`)
  const dispatch = (number: string): Promise<unknown> => house.get('pipeline').dispatch({ actor, services: ['invoicing'], body: invoiceRequest(number), requestId: number })
  // The first one also fills the caches.
  await dispatch('first')
  const script = await recordScript('recorded-number', () => dispatch('recorded-number'))
  await house.close()
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  // The server ends before the last of them has gone.
  pool.on('error', () => undefined)
  return { rate: rateOf(() => replay(pool, script)), close: () => pool.end() }
}

/** Documents of the same invoice, by the threads of the service alone. */
async function documentsBy (renderer: Renderer): Promise<Rate> {
  const { id, digest, source } = await readTemplateFolder(fileURLToPath(new URL('../../templates/invoice', import.meta.url)))
  return rateOf(() => renderer.render({ template: { id, version: 1, digest, source }, data: invoiceData('2026-0142'), format: 'pdf', now: '2026-03-14T09:30:00.000Z' }))
}

const { sql, unrendered, threads, rendered } = await withDatabase(async ({ url }, folder) => {
  await using opened = new AsyncDisposableStack()
  const start = async (documents: 'rendered' | 'unrendered'): Promise<Child<Service>> => opened.adopt(await startChild<Service>('service.ts', [url, folder, documents]), (child) => child.stop())
  const statements = opened.adopt(await sqlOf(url, folder), ({ close }) => close())
  const renderer = opened.adopt(createRenderer(), ({ close }) => close())
  return await inTurns({
    sql: statements.rate,
    unrendered: dispatches(await start('unrendered')),
    threads: await documentsBy(renderer),
    rendered: dispatches(await start('rendered'))
  }, rounds)
})

console.table({
  'the SQL of a dispatch alone': row(sql),
  'dispatch without its document, of the SQL': row(unrendered, { baseline: sql, wanted: 50 }),
  'the threads alone': row(threads),
  'dispatch with its document, of the threads': row(rendered, { baseline: threads, wanted: 80 })
})
