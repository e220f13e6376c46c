/**
 * The cost of an e-invoice in processor time: CII and UBL from data with 12 and with 300 lines, its rules, and reading it (which is written
 * first, and that counts); a Factur-X compared with the plain PDF of the same page, and one with 2,000 lines. Beside them another library,
 * where `npm install --prefix scripts/bench` has brought it.
 */
import type { JsonObject } from '@dispatch/common'
import { templateServices } from '@dispatch/services'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { render } from '../../core/packages/documents/render.ts'
import { readTemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { readInvoice } from '../../core/packages/einvoice/invoice-file.ts'
import { checkEInvoice } from '../../core/packages/einvoice/rules/check.ts'
import { eInvoiceOf } from '../../core/packages/einvoice/write/write.ts'
import { peer } from './support/e-invoice-peer.ts'
import { effort } from './support/effort.ts'
import { printTable } from './support/table.ts'

const folder = fileURLToPath(new URL('../../templates/e-invoice', import.meta.url))
const sample = JSON.parse(await readFile(`${folder}/sample.json`, 'utf8')) as { lines: JsonObject[] } & JsonObject
const { source } = await readTemplateFolder(folder, templateServices)
const [archival, plain] = [compileTemplate(source), compileTemplate({ ...source, archival: false })]
const now = '2026-03-14T09:30:00.000Z'

/** The sample with this many lines, and with different words in each round. */
function invoice (count: number, round: number): JsonObject {
  return {
    ...sample,
    number: `F-${round}`,
    lines: Array.from({ length: count },
      (_, index) => ({ ...sample.lines[index % sample.lines.length], description: `Line ${index} of ${round}` }))
  }
}

const tasks: Readonly<Record<string, (data: JsonObject) => unknown>> = {
  CII: (data) => eInvoiceOf(data, { format: 'CII', currency: 'EUR' }),
  UBL: (data) => eInvoiceOf(data, { format: 'UBL', currency: 'EUR' }),
  'all rules': (data) => checkEInvoice(data, { format: 'UBL', currency: 'EUR' }, ''),
  'reading CII': (data) => readInvoice(Buffer.from(eInvoiceOf(data, { format: 'CII', currency: 'EUR' }).xml)),
  'reading UBL': (data) => readInvoice(Buffer.from(eInvoiceOf(data, { format: 'UBL', currency: 'EUR' }).xml)),
  'plain PDF': (data) => render(plain, { data: eInvoiceOf(data, { format: 'CII', currency: 'EUR' }).data(), format: 'pdf', now }),
  'Factur-X': (data) => render(archival, { data, format: 'factur-x', now })
}

const other = peer()

/** The processor time of this process in milliseconds: other programs of the machine do not count. */
function spent (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The milliseconds of each task, of all its rounds together, after as many that do not count. */
async function measure (count: number, rounds: number): Promise<Record<string, { ms: number }>> {
  const rows: Record<string, { ms: number }> = {}
  for (const [name, task] of Object.entries(tasks)) {
    const all = Array.from({ length: rounds }, (_, round) => invoice(count, round))
    for (const data of all) await task(data)
    const start = spent()
    for (const data of all) await task(data)
    rows[name] = { ms: Math.round((spent() - start) / rounds * 100) / 100 }
  }
  if (other === undefined) return rows
  const few = Math.ceil(rounds / 20)
  await other(count, 0)
  const start = spent()
  for (let round = 1; round <= few; round++) await other(count, round)
  return { ...rows, '@e-invoice-eu/core: CII and UBL': { ms: Math.round((spent() - start) / few * 100) / 100 } }
}

/** One Factur-X with 2,000 lines in a process of its own: its processor time with everything that is loaded, and the most memory. */
async function large (): Promise<void> {
  const start = spent()
  await render(archival, { data: invoice(2_000, 1), format: 'factur-x', now })
  printTable({
    'Factur-X, 2,000 lines': { ms: Math.round(spent() - start), 'MiB in all': Math.round(process.resourceUsage().maxRSS / 1024) }
  })
}

if (process.argv.includes('--large')) await large()
else {
  for (const [lines, rounds] of effort<[lines: number, rounds: number][]>([[12, 400], [300, 20]], [[12, 20], [300, 2]])) {
    console.log(`${lines} lines`)
    printTable(await measure(lines, rounds))
  }
  spawnSync(process.execPath, [fileURLToPath(import.meta.url), '--large', ...process.argv.slice(2)], { stdio: 'inherit' })
}
