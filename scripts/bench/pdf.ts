import { templateServices } from '@dispatch/services'
import { execFile, execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { render } from '../../core/packages/documents/render.ts'
import { readTemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { createRenderer } from '../../core/packages/documents/threads/renderer.ts'
import { effort, smoke, smokeOption } from './support/effort.ts'
import { rateOf } from './support/measure.ts'
import { type Fonts, invoiceByHand, ourFonts, plainFonts, type SampleInvoice, sampleInvoiceOf } from './support/pdf-by-hand.ts'
import { hasPeers, peers } from './support/pdf-peers.ts'
import { printTable } from './support/table.ts'

/**
 * How fast documents are made: the block model compared with the same pages written directly with pdfkit, with the same fonts. Every ratio
 * compares runs of the same process, in turns.
 */
const template = await readTemplateFolder(fileURLToPath(new URL('../../templates/invoice', import.meta.url)), templateServices)
const now = '2026-03-14T09:30:00.000Z'

/** The lines of a document with 40 pages. */
const manyLines = 1_180

/** `batch`: how many documents the worker pool gets at once. `seconds`: how long a process makes documents alone. */
const amounts = effort(
  { rounds: 400, longRounds: 12, peerRounds: 60, warmUps: 4, batches: 4, batch: 250, seconds: 4 },
  { rounds: 20, longRounds: 1, peerRounds: 2, warmUps: 1, batches: 1, batch: 20, seconds: 0.1 }
)

if (process.argv[2] === 'memory') await printMemory()
else if (process.argv[2] === 'alone') console.log(JSON.stringify(await speedAlone()))
else await printSpeed()

async function printSpeed (): Promise<void> {
  const compiled = compileTemplate(template.source)
  const ours = async (data: SampleInvoice): Promise<number> => (await render(compiled, { data, format: 'pdf', now })).pages
  const byHand = (fonts: Fonts) => async (data: SampleInvoice): Promise<number> => (await invoiceByHand(data, fonts, new Date(now))).pages
  const contestants = {
    'block model': ours,
    'by hand, font parsed once': byHand(plainFonts()),
    'by hand, with our font memory too': byHand(ourFonts())
  }
  printTable(await compare(contestants, 12, amounts.rounds))
  printTable(await compare(contestants, manyLines, amounts.longRounds))
  if (hasPeers()) printTable(await compare({ 'block model': ours, ...withoutPages(await peers()) }, 12, amounts.peerRounds))
  else console.log('pdfmake and @react-pdf/renderer are left out: npm install --prefix scripts/bench --ignore-scripts brings them.')
  printTable({ ...await poolSpeed(), ...await processSpeed() })
  printTable({
    '1,500 lines, first document of a process': JSON.parse(
      execFileSync(process.execPath, [import.meta.filename, 'memory'], { encoding: 'utf8' })
    ) as Memory
  })
}

/** The peers do not tell the number of pages. */
function withoutPages (makers: Awaited<ReturnType<typeof peers>>): Record<string, (data: SampleInvoice) => Promise<number>> {
  return Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, async (data) => (await make(data)).length > 0 ? 1 : 0]))
}

type Row = { pages: number, ms: number, 'documents/s': number, 'block model is': string }

/** Runs the contestants in turns, so that a slow moment of the machine affects all of them. Each document has different data. */
async function compare (
  contestants: Record<string, (data: SampleInvoice) => Promise<number>>,
  lines: number,
  rounds: number
): Promise<Record<string, Row>> {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, { total: 0, pages: 0 }]))
  for (let round = -Math.ceil(rounds / 4); round < rounds; round++) {
    const data = sampleInvoiceOf(template.sample, lines, round)
    for (const [name, make] of Object.entries(contestants)) {
      const start = performance.now()
      const pages = await make(data)
      const time = times[name]
      if (round >= 0 && time !== undefined) times[name] = { total: time.total + performance.now() - start, pages }
    }
  }
  const first = Object.values(times)[0]?.total ?? 0
  return Object.fromEntries(Object.entries(times).map(([name, { total, pages }]) => [
    name,
    {
      pages,
      ms: rounded(total / rounds),
      'documents/s': Math.round(rounds / total * 1000),
      'block model is': `${rounded(first / total)} ×`
    }
  ]))
}

async function poolSpeed (): Promise<Record<string, { 'documents/s': number }>> {
  const speeds: Record<string, { 'documents/s': number }> = {}
  for (const threads of [1, availableParallelism()]) {
    const renderer = createRenderer({ threads })
    const work = async (count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, async (_, index) =>
        await renderer.render({
          template: { id: template.id, version: 1, digest: template.digest, source: template.source },
          data: sampleInvoiceOf(template.sample, 12, index),
          format: 'pdf',
          now
        }, { companyId: index, template: 'shared' })))
    }
    for (let warm = 0; warm < amounts.warmUps; warm++) await work(amounts.batch)
    const start = performance.now()
    for (let round = 0; round < amounts.batches; round++) await work(amounts.batch)
    speeds[`pool, ${String(threads)} threads`] = {
      'documents/s': Math.round(amounts.batches * amounts.batch / (performance.now() - start) * 1000)
    }
    await renderer.close()
  }
  return speeds
}

/** The most that threads could reach: processes which share nothing but the machine. */
async function processSpeed (): Promise<Record<string, { 'documents/s': number }>> {
  const speeds: Record<string, { 'documents/s': number }> = {}
  for (const processes of [1, availableParallelism()]) {
    const outputs = await Promise.all(
      Array.from({ length: processes }, () =>
        promisify(execFile)(process.execPath, [import.meta.filename, 'alone', ...(smoke ? [smokeOption] : [])]))
    )
    const total = outputs.reduce((sum, { stdout }) => sum + Number(stdout), 0)
    speeds[`${String(processes)} processes`] = { 'documents/s': Math.round(total) }
  }
  return speeds
}

/** The documents a second of this process, after as many seconds to warm up. */
async function speedAlone (): Promise<number> {
  const compiled = compileTemplate(template.source)
  let made = 0
  const rate = rateOf(amounts.seconds, () => render(compiled, { data: sampleInvoiceOf(template.sample, 12, made++), format: 'pdf', now }))
  await rate()
  return await rate()
}

type Memory = { pages: number, ms: number, 'MiB resident at most': number }

async function printMemory (): Promise<void> {
  const compiled = compileTemplate(template.source)
  const start = performance.now()
  const { pages } = await render(compiled, { data: sampleInvoiceOf(template.sample, 1_500, 1), format: 'pdf', now })
  const time = performance.now() - start
  console.log(
    JSON.stringify(
      { pages, ms: Math.round(time), 'MiB resident at most': Math.round(process.resourceUsage().maxRSS / 1024) } satisfies Memory
    )
  )
}

function rounded (value: number): number {
  return Math.round(value * 100) / 100
}
