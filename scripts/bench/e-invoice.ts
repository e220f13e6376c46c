/**
 * The cost of an e-invoice: CII and UBL from data with 12 and with 300 lines, its rules, and reading it (which is written first, and that
 * counts); and a Factur-X compared with the plain PDF of the same page. All run in turns.
 */
import type { JsonObject } from '@dispatch/common'
import { templateServices } from '@dispatch/core'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { render } from '../../core/packages/documents/render/render.ts'
import { readTemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { readInvoice } from '../../core/packages/einvoice/parse/invoice-file.ts'
import { checkEInvoice } from '../../core/packages/einvoice/rules/check.ts'
import { eInvoiceOf } from '../../core/packages/einvoice/write/write.ts'
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
  'CII and UBL': (data) => (['CII', 'UBL'] as const).map((format) => eInvoiceOf(data, { format, currency: 'EUR' })),
  'all rules': (data) => checkEInvoice(data, { format: 'UBL', currency: 'EUR' }, ''),
  'reading CII': (data) => readInvoice(Buffer.from(eInvoiceOf(data, { format: 'CII', currency: 'EUR' }).xml)),
  'reading UBL': (data) => readInvoice(Buffer.from(eInvoiceOf(data, { format: 'UBL', currency: 'EUR' }).xml)),
  'plain PDF': (data) => render(plain, { data: eInvoiceOf(data, { format: 'CII', currency: 'EUR' }).data(), format: 'pdf', now }),
  'Factur-X': (data) => render(archival, { data, format: 'factur-x', now })
}

/** The median of all rounds in milliseconds for each task; the tasks run in turns. */
async function measure (count: number, rounds: number): Promise<Record<string, { ms: number }>> {
  const times = Object.keys(tasks).map((): number[] => [])
  for (let round = -rounds / 2; round < rounds; round++) {
    for (const [index, task] of Object.values(tasks).entries()) {
      const data = invoice(count, round)
      const start = performance.now()
      await task(data)
      if (round >= 0) times[index]?.push(performance.now() - start)
    }
  }
  return Object.fromEntries(
    Object.keys(tasks).map((name, index) => [name, { ms: Math.round((times[index]?.sort((a, b) => a - b)[rounds >> 1] ?? 0) * 100) / 100 }])
  )
}

for (const [lines, rounds] of effort<[lines: number, rounds: number][]>([[12, 200], [300, 20]], [[12, 20], [300, 2]])) {
  console.log(`${lines} lines`)
  printTable(await measure(lines, rounds))
}
