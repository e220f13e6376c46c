/**
 * A synchronous invoice through the simulator: without its document, compared with the SQL of such a dispatch alone; with it, compared with
 * the rendering threads alone; and both where documents and data are sealed with the data key of the company, compared with both where they
 * are not.
 */
import { createRenderer, readTemplateFolder, type Renderer } from '@dispatch/documents'
import { templateServices } from '@dispatch/services'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Child, startChild } from './support/child.ts'
import { withBenchDatabase } from './support/database.ts'
import { effort } from './support/effort.ts'
import { invoiceData, invoiceRequest } from './support/invoice.ts'
import { requestsPerSecond } from './support/load.ts'
import { benchRow, inTurns, type Rate, rateOf } from './support/measure.ts'
import { prepareReplay } from './support/replayed.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { rounds, seconds } = effort({ rounds: 7, seconds: 2 }, { rounds: 1, seconds: 0.2 })
function dispatches ({ ready: { url, bearer } }: Child<RunningService>): Rate {
  return () => requestsPerSecond({ url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization: bearer }, seconds)
}

/** Documents of the same invoice, made by the service's threads alone. */
async function documentsBy (renderer: Renderer): Promise<Rate> {
  const { id, digest, source } = await readTemplateFolder(fileURLToPath(new URL('../../templates/invoice', import.meta.url)),
    templateServices)
  return rateOf(seconds, () =>
    renderer.render({
      template: { id, version: 1, digest, source },
      data: invoiceData('2026-0142'),
      format: 'pdf',
      now: '2026-03-14T09:30:00.000Z'
    }, { companyId: 1, template: 'shared' }))
}

const { sql, unrendered, sealedUnrendered, threads, rendered, sealed } = await withBenchDatabase(async ({ url }, folder) => {
  await using opened = new AsyncDisposableStack()
  const keys = opened.adopt(await mkdtemp(join(tmpdir(), 'bench-keys-')), (path) => rm(path, { recursive: true }))
  const start = async (documents: 'rendered' | 'unrendered', env: NodeJS.ProcessEnv = {}): Promise<Child<RunningService>> =>
    opened.adopt(await startChild<RunningService>('service.ts', [url, folder, documents], env), (child) => child.stop())
  const statements = opened.adopt(
    await prepareReplay({ databaseUrl: url, folder, services: ['invoicing'], bodyOf: invoiceRequest, seconds }),
    ({ close }) => close()
  )
  const renderer = opened.adopt(createRenderer(), ({ close }) => close())
  return await inTurns({
    sql: statements.rate,
    unrendered: dispatches(await start('unrendered')),
    sealedUnrendered: dispatches(await start('unrendered', { DISPATCH_KEYS: keys })),
    threads: await documentsBy(renderer),
    rendered: dispatches(await start('rendered')),
    sealed: dispatches(await start('rendered', { DISPATCH_KEYS: keys }))
  }, rounds)
})

printTable({
  'the SQL of a dispatch alone': benchRow(sql),
  'dispatch without its document, of the SQL': benchRow(unrendered, { baseline: sql, wanted: 50 }),
  'the same with data keys, of that': benchRow(sealedUnrendered, { baseline: unrendered, wanted: 97 }),
  'the threads alone': benchRow(threads),
  'dispatch with its document, of the threads': benchRow(rendered, { baseline: threads, wanted: 80 }),
  'the same document with data keys, of that': benchRow(sealed, { baseline: rendered, wanted: 97 })
})
