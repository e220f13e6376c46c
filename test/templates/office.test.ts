import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { formatCell } from '../../core/packages/documents/compile/format.ts'
import type { Cell, ResolvedBlock, ResolvedDocument } from '../../core/packages/documents/model/document.ts'
import { readTemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { cellsIn, partsOf } from '../../core/packages/documents/test/office-support.ts'
import { made, wordsOf } from '../../core/packages/documents/test/support.ts'
import { templateServices } from '../../core/packages/services/lists.ts'

const root = new URL('../../templates/', import.meta.url)
const names = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)

/** The amounts and numbers of a document, as it shows them. */
function amountsOf ({ body, locale }: ResolvedDocument): string[] {
  return cellsOf(body).filter(({ type }) => type === 'money' || type === 'number' || type === 'percent').flatMap((cell) =>
    formatCell(cell, locale).map((run) => 'text' in run ? run.text : '')
  )
}

function cellsOf (blocks: readonly ResolvedBlock[]): Cell[] {
  return blocks.flatMap((block): Cell[] => {
    if (block.kind === 'columns') return block.columns.flatMap((column) => cellsOf(column.blocks))
    if (block.kind === 'group') return cellsOf(block.blocks)
    if (block.kind === 'keyValues') return block.entries.map(({ cell }) => cell)
    if (block.kind !== 'table') return []
    return [
      ...block.sections.flatMap(({ rows, totals }) => [...rows.flat(), ...totals.map(({ cell }) => cell)]),
      ...block.totals.map(({ cell }) => cell)
    ]
  })
}

/** Digits alone: the separators are those of whoever shows the sheet. */
const digits = (text: string): string => text.replaceAll(/[^\d]/g, '')

const isMissing = spawnSync('soffice', ['--version']).error !== undefined

await t.test('LibreOffice reads the DOCX and XLSX of every sample', { skip: isMissing ? 'LibreOffice (soffice) is not installed' : false },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'dispatch-office-'))
    t.teardown(() => {
      rmSync(folder, { recursive: true })
    })
    /** Reads all files with such names in one run, and writes each in another format into the folder of that name. */
    const convert = (names: RegExp, to: string): void => {
      const files = readdirSync(folder).filter((name) => names.test(name)).map((name) => join(folder, name))
      execFileSync('soffice', [
        `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`,
        '--headless',
        '--convert-to',
        to,
        '--outdir',
        join(folder, to),
        ...files
      ], { stdio: 'ignore', timeout: 120_000 })
    }
    const samples = await Promise.all(names.map(async (name) => {
      const template = await readTemplateFolder(fileURLToPath(new URL(name, root)), templateServices)
      const compiled = compileTemplate(template.source)
      const [docx, xlsx] = [await made('docx', compiled, template.sample), await made('xlsx', compiled, template.sample)]
      writeFileSync(join(folder, `${name}-docx.docx`), docx.bytes)
      writeFileSync(join(folder, `${name}-xlsx.xlsx`), xlsx.bytes)
      writeFileSync(join(folder, `${name}-formulas.xlsx`), withoutResults(xlsx.bytes))
      return { name, amounts: amountsOf(compiled.resolve(template.sample)), xlsx: partsOf(xlsx.bytes) }
    }))
    convert(/-(docx|xlsx)\.\w+$/, 'pdf')
    convert(/-formulas\.xlsx$/, 'xlsx')

    for (const { name, amounts, xlsx } of samples) {
      for (const format of ['docx', 'xlsx']) {
        await t.test(`${name}: every amount is in the ${format.toUpperCase()} as LibreOffice shows it`, async (t) => {
          const words = (await wordsOf({ bytes: readFileSync(join(folder, 'pdf', `${name}-${format}.pdf`)) })).split(' ').map(digits)
          for (const amount of amounts) t.ok(words.includes(digits(amount)), amount)
        })
      }

      await t.test(`${name}: every formula comes to the number that stands beside it`, (t) => {
        const again = partsOf(readFileSync(join(folder, 'xlsx', `${name}-formulas.xlsx`)))
        for (const [path, sheet] of Object.entries(xlsx).filter(([path]) => path.startsWith('xl/worksheets/sheet'))) {
          for (const { name: cell, number, formula } of Object.values(cellsIn(sheet)).filter(({ formula }) => formula !== undefined)) {
            t.ok(Math.abs(Number(number) - recomputed(again[path] ?? '', cell)) < 1e-9, `${cell} = ${formula ?? ''}`)
          }
        }
        t.end()
      })
    }
  })

/** The workbook without what its formulas come to: whoever shows it has to calculate. */
function withoutResults (bytes: Uint8Array): Uint8Array {
  const parts = Object.entries(unzipSync(bytes)).map(([path, part]) =>
    [path, path.startsWith('xl/worksheets/') ? strToU8(strFromU8(part).replaceAll(/(<\/f>)<v>[^<]*<\/v>/g, '$1')) : part] as const
  )
  return zipSync(Object.fromEntries(parts))
}

/** The number in a cell that LibreOffice has written. */
function recomputed (sheet: string, name: string): number {
  return Number(new RegExp(`<c r="${name}"[^>]*>.*?<v>([^<]*)</v>`).exec(sheet)?.[1])
}
