import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Decimal } from 'decimal.js'
import t from 'tap'
import type { JsonObject } from '../../core/contract/json.ts'
import { compileJsonSchema } from '../../core/contract/schema.ts'
import { compileTemplate } from '../../core/documents/compile.ts'
import { readTemplateFolder } from '../../core/documents/folder.ts'
import { isRecord } from '../../core/documents/records.ts'
import { unread } from '../../core/documents/uses.ts'
import { checkEInvoice } from '../../core/einvoice/check.ts'
import { made, pagesOf, wordsOf } from '../core/documents/support.ts'

const root = new URL('../../templates/', import.meta.url)
const folders = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)
const templates = await Promise.all(folders.map(async (folder) => ({ folder, template: await readTemplateFolder(fileURLToPath(new URL(folder, root))) })))

/** An object at a key of the sample. */
function part (value: unknown): Record<string, unknown> {
  if (!isRecord(value)) throw new TypeError('expected an object')
  return value
}

/** The least data that the schema takes. */
const least = { number: '1', date: '2026-03-14', customer: { name: 'Ada' }, lines: [{ description: 'Tea', quantity: 1, unitPrice: 3, total: 3 }], total: 3 }

void t.test('the shared templates are these, by number', (t) => {
  t.same(templates.map(({ folder, template: { id, documentType, service, vocabulary } }) => [id, folder, service, documentType, vocabulary] as const).sort(([a], [b]) => a - b), [
    [1, 'invoice', 'invoicing', 'INVOICE', 'invoice'],
    [2, 'quote', 'invoicing', 'QUOTE', 'invoice'],
    [3, 'credit-note', 'invoicing', 'CREDIT', 'invoice'],
    [4, 'e-invoice', 'invoicing', 'E_INVOICE', 'invoice'],
    [10, 'email-invoice', 'email', undefined, undefined],
    [11, 'email-reminder', 'email', undefined, undefined],
    [12, 'email-signature', 'email', undefined, undefined],
    [20, 'sms-notice', 'sms', undefined, undefined],
    [30, 'postal-letter', 'postal', undefined, undefined],
    [40, 'service-contract', 'esign', undefined, undefined]
  ])
  t.end()
})

for (const { folder, template } of templates.filter(({ template: { vocabulary, documentType } }) => vocabulary === 'invoice' && documentType !== 'E_INVOICE')) {
  const compiled = compileTemplate(template.source)
  const fit = compileJsonSchema(template.schema)

  void t.test(`${folder}: the sample fills one page, and all of it is shown`, async (t) => {
    const pdf = await made('pdf', compiled, template.sample)
    t.equal(pdf.pages, 1)
    t.same(unread(compiled.uses, template.sample), [])
    const words = await wordsOf(pdf)
    for (const text of [template.sample['number'], template.sample['notes'], part(template.sample['customer'])['name'], part(template.sample['seller'])['vatId'], 'Germany', '20%', 'Page 1 of 1']) t.ok(words.includes(String(text)), String(text))
    t.notMatch(words, /undefined|null|NaN|\[object|\{\{/)
  })

  void t.test(`${folder}: the amounts of the sample are right`, (t) => {
    const { lines, subtotal, taxRate, taxAmount, total } = template.sample
    if (!Array.isArray(lines)) throw new TypeError('expected lines')
    const amounts = lines.map(part).map(({ quantity, unitPrice, total }) => [new Decimal(Number(quantity)).times(String(unitPrice)).toFixed(2), total])
    for (const [expected, given] of amounts) t.equal(given, expected)
    const sum = Decimal.sum(...amounts.map(([, given]) => String(given)))
    t.equal(subtotal, sum.toFixed(2))
    t.equal(taxAmount, sum.times(Number(taxRate)).div(100).toFixed(2))
    t.equal(total, sum.plus(String(taxAmount)).toFixed(2))
    t.end()
  })

  void t.test(`${folder}: what is optional leaves no hole`, async (t) => {
    t.match(fit(least), { ok: true })
    const pages = await pagesOf(await made('pdf', compiled, least))
    const words = pages.flat().map(({ text }) => text)
    t.equal(pages.length, 1)
    for (const label of ['Tax', 'Subtotal', 'Bank details', 'Refund to', 'Notes', 'Reference', 'Due date', 'Valid until']) t.notOk(words.includes(label), label)
    t.match(words.join(' '), /€3\.00/)
  })

  void t.test(`${folder}: every field of the schema is shown somewhere`, (t) => {
    const properties = part(template.schema['properties'])
    const data = Object.fromEntries(Object.keys(properties).map((name) => [name, 'x']))
    t.same(unread(compiled.uses, data), [])
    t.end()
  })

  void t.test(`${folder}: unknown fields pass the schema, missing and wrong ones do not`, (t) => {
    t.match(fit({ ...least, other: 1 }), { ok: true })
    t.match(fit({ ...least, customer: {} }), { ok: false, problems: [{ path: '/customer/name' }] })
    t.match(fit({ ...least, lines: [] }), { ok: false, problems: [{ path: '/lines' }] })
    for (const name of Object.keys(least)) t.match(fit(Object.fromEntries(Object.entries(least).filter(([key]) => key !== name))), { ok: false, problems: [{ path: `/${name}` }] }, name)
    for (const total of ['12,50', '1e5', 'NaN', 1e16, true, '', null]) t.match(fit({ ...least, total }), { ok: false }, String(total))
    for (const total of ['12.50', -5, '0.0001', 1e15]) t.match(fit({ ...least, total }), { ok: true }, String(total))
    for (const date of ['14.03.2026', '2026-02-30', '']) t.match(fit({ ...least, date }), { ok: false }, date)
    t.end()
  })

  void t.test(`${folder}: 300 lines and a long description keep their order`, async (t) => {
    const lines = Array.from({ length: 300 }, (_, index) => ({ description: index === 7 ? 'word '.repeat(400) : `Line ${String(index)}.`, quantity: 1, unitPrice: 1, total: 1 }))
    const pages = await pagesOf(await made('pdf', compiled, { ...template.sample, lines }))
    const found = pages.flat().map(({ text }) => /^Line (\d+)\.$/.exec(text)?.[1]).filter((number) => number !== undefined).map(Number)
    t.same(found, Array.from({ length: 300 }, (_, index) => index).filter((index) => index !== 7))
    t.equal(pages.flat().filter(({ text }) => text === 'Description').length, pages.filter((page) => page.some(({ text }) => text.startsWith('Line'))).length)
  })
}

void t.test('e-invoice: the sample is one in every format, without a warning, and its page shows what is computed', async (t) => {
  const found = templates.find(({ folder }) => folder === 'e-invoice')
  if (found === undefined) throw new TypeError('expected the folder e-invoice')
  const { sample, source } = found.template
  for (const format of ['FACTUR_X', 'UBL', 'CII'] as const) t.same(checkEInvoice(sample as JsonObject, { format, currency: 'EUR' }, ''), { problems: [], warnings: [] })
  const pdf = await made('factur-x', compileTemplate(source), sample)
  t.equal(pdf.pages, 1)
  t.match(await wordsOf(pdf), /Lines €1,511\.00 .*Total €1,812\.19 .*Due €1,312\.19/)
})
