import { templateServices } from '@dispatch/services'
import { fileURLToPath } from 'node:url'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { render } from '../../core/packages/documents/render.ts'
import { readTemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { effort } from './support/effort.ts'
import { type Make, peers } from './support/formats-peers.ts'
import { sampleInvoiceOf } from './support/pdf-by-hand.ts'
import { printTable } from './support/table.ts'

/**
 * How fast an invoice becomes a DOCX, an XLSX and a mail: the whole way from its data, compared with the time that other libraries take for
 * the table alone. All run in turns in one process.
 */
const template = await readTemplateFolder(fileURLToPath(new URL('../../templates/invoice', import.meta.url)), templateServices)
const compiled = compileTemplate(template.source)
const now = '2026-03-14T09:30:00.000Z'

const ours: Record<string, Make> = {
  DOCX: async (data) => (await render(compiled, { data, format: 'docx', now })).bytes,
  XLSX: async (data) => (await render(compiled, { data, format: 'xlsx', now })).bytes,
  HTML: async (data) => Buffer.from((await render(compiled, { data, format: 'html', now })).html)
}

const others = peers()
if (Object.keys(others).length < 2) {
  console.log('docx, exceljs or both are left out: npm install --prefix scripts/bench --ignore-scripts brings them.')
}
const contestants = { ...ours, ...others }
printTable(await compare(12, effort(300, 20)))
printTable(await compare(1_000, effort(10, 1)))

type Row = { 'ms, median': number, KB: number }

/** Each document has different data. A slow moment of the machine affects all of them. */
async function compare (lines: number, rounds: number): Promise<Record<string, Row>> {
  const times = new Map<string, number[]>()
  const sizes = new Map<string, number>()
  for (let round = -Math.ceil(rounds / 2); round < rounds; round++) {
    const data = sampleInvoiceOf(template.sample, lines, round)
    for (const [name, make] of Object.entries(contestants)) {
      const start = performance.now()
      const bytes = await make(data)
      if (round >= 0) times.set(name, [...times.get(name) ?? [], performance.now() - start])
      sizes.set(name, bytes.length)
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [
    `${name}, ${String(lines)} lines`,
    { 'ms, median': Math.round(median(all) * 100) / 100, KB: Math.round((sizes.get(name) ?? 0) / 102.4) / 10 }
  ]))
}

function median (numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
