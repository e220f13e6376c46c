/**
 * A synchronous invoice through the simulator: without its document, compared with the SQL of such a dispatch alone; with it, compared with
 * the rendering threads alone. And both where documents and data are sealed with the data key of the company, compared with both where they
 * are not: by the processor time of the service, while both do the same at once, so that whatever else the machine does slows both.
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
import { requestsPerSecond, sendRequests } from './support/load.ts'
import { benchRow, inTurns, type Rate, rateOf } from './support/measure.ts'
import { processorTime } from './support/processor-time.ts'
import { prepareReplay } from './support/replayed.ts'
import type { RunningService } from './support/service.ts'
import { printTable } from './support/table.ts'

const { rounds, seconds, together } = effort({ rounds: 7, seconds: 2, together: 400 }, { rounds: 1, seconds: 0.2, together: 32 })

type Service = Child<RunningService>

function loadOf ({ ready: { url, bearer } }: Service) {
  return { url: `${url}/api/invoicing`, body: invoiceRequest('[<id>]'), authorization: bearer }
}

function dispatches (service: Service): Rate {
  return () => requestsPerSecond(loadOf(service), seconds)
}

/** Dispatches per second of processor time of each service in each round, in which all of them do the same at once. */
async function atOnce<Name extends string> (services: Record<Name, Service>): Promise<Record<Name, number[]>> {
  const names = Object.keys(services) as Name[]
  const rates = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>
  for (let round = 0; round < rounds; round++) {
    await Promise.all(names.map(async (name) => {
      const { process: { pid = 0 } } = services[name]
      const before = processorTime(pid)
      await sendRequests(loadOf(services[name]), together)
      rates[name].push(together / (processorTime(pid) - before))
    }))
  }
  return rates
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

const { sql, unrendered, threads, rendered, unrenderedCost, renderedCost } = await withBenchDatabase(async ({ url }, folder) => {
  await using opened = new AsyncDisposableStack()
  const keys = opened.adopt(await mkdtemp(join(tmpdir(), 'bench-keys-')), (path) => rm(path, { recursive: true }))
  const start = async (documents: 'rendered' | 'unrendered', env: NodeJS.ProcessEnv = {}): Promise<Service> =>
    opened.adopt(await startChild<RunningService>('service.ts', [url, folder, documents], env), (child) => child.stop())
  const statements = opened.adopt(
    await prepareReplay({ databaseUrl: url, folder, services: ['invoicing'], bodyOf: invoiceRequest, seconds }),
    ({ close }) => close()
  )
  const renderer = opened.adopt(createRenderer(), ({ close }) => close())
  const unrendered = { plain: await start('unrendered'), sealed: await start('unrendered', { DISPATCH_KEYS: keys }) }
  const rendered = { plain: await start('rendered'), sealed: await start('rendered', { DISPATCH_KEYS: keys }) }
  const rates = await inTurns({
    sql: statements.rate,
    unrendered: dispatches(unrendered.plain),
    threads: await documentsBy(renderer),
    rendered: dispatches(rendered.plain)
  }, rounds)
  // Code is slow until it has run for a while: the services that seal do as much before as the others have done.
  for (const { sealed } of [unrendered, rendered]) {
    for (let round = 0; round < rounds; round++) await dispatches(sealed)()
  }
  return { ...rates, unrenderedCost: await atOnce(unrendered), renderedCost: await atOnce(rendered) }
})

printTable({
  'the SQL of a dispatch alone': benchRow(sql),
  'dispatch without its document, of the SQL': benchRow(unrendered, { baseline: sql, wanted: 50 }),
  'the threads alone': benchRow(threads),
  'dispatch with its document, of the threads': benchRow(rendered, { baseline: threads, wanted: 80 }),
  'without its document, a second of the processor': benchRow(unrenderedCost.plain),
  'the same with data keys, of that': benchRow(unrenderedCost.sealed, { baseline: unrenderedCost.plain, wanted: 97 }),
  'with its document, a second of the processor': benchRow(renderedCost.plain),
  'the same document with data keys, of that': benchRow(renderedCost.sealed, { baseline: renderedCost.plain, wanted: 97 })
})
