import { Decimal } from 'decimal.js'
import fc from 'fast-check'
import t from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import type { Cell, ResolvedBlock, ResolvedTotal, TableBlock } from '../model/document.ts'
import { RenderError } from '../model/errors.ts'
import { encodeBounded } from '../model/output.ts'
import { renderXlsx } from '../render/xlsx.ts'
import { dateFormat } from '../xlsx/date-format.ts'
import { sheetNames } from '../xlsx/names.ts'
import { exactSum } from '../xlsx/totals.ts'
import { exactly, typed } from '../xlsx/values.ts'
import { cellsIn, partsOf, type SheetCell } from './office-support.ts'
import { now } from './support.ts'
import { documentOf } from './trees.ts'

const euros = (value: number | string, digits?: number): Cell => ({
  type: 'money',
  value,
  currency: 'EUR',
  ...(digits === undefined ? {} : { digits })
})
const words = (text: string): Cell => ({ type: 'text', runs: [{ text }] })
const total = (label: string, cell: Cell): ResolvedTotal => ({ label: [{ text: label }], cell, strong: false })

/** A table with a column for each cell of its rows, called A, B, … */
function tableOf (rows: Cell[][], totals: ResolvedTotal[] = []): TableBlock {
  const columns = (rows[0] ?? [words('')]).map((_cell, index) => ({
    header: [{ text: String.fromCharCode(65 + index) }],
    width: 1,
    align: 'start' as const
  }))
  return { kind: 'table', columns, sections: [{ heading: [], rows, totals: [] }], totals }
}

function sheetsOf (body: ResolvedBlock[], more = {}): { parts: Record<string, string>, sheets: Record<string, SheetCell>[] } {
  const parts = partsOf(renderXlsx(documentOf(body, more), now))
  return {
    parts,
    sheets: Object.entries(parts).filter(([path]) => path.startsWith('xl/worksheets/sheet')).map(([, sheet]) => cellsIn(sheet))
  }
}

/** The format of a cell. */
function formatOf (parts: Record<string, string>, { style }: SheetCell): string {
  const styles = parts['xl/styles.xml'] ?? ''
  const [, looks = ''] = /<cellXfs[^>]*>(.*)<\/cellXfs>/.exec(styles) ?? []
  const id = /numFmtId="(\d+)"/.exec(looks.split('<xf ')[style + 1] ?? '')?.[1] ?? ''
  return new RegExp(`numFmtId="${id}" formatCode="([^"]*)"`).exec(styles)?.[1]?.replaceAll('&quot;', '"') ?? ''
}

void t.test('numbers, amounts, percentages and dates are values with a format of the locale', (t) => {
  const row: Cell[] = [
    { type: 'number', value: '12.50' },
    euros('1234.5'),
    euros('0.0275', 4),
    { type: 'money', value: 1000, currency: 'JPY' },
    { type: 'percent', value: 19.6 },
    { type: 'date', value: '2026-03-14' },
    { type: 'date', value: '1900-03-01' }
  ]
  const expected = {
    'en-GB': ['#,##0.0', '[$€]#,##0.00', '[$€]#,##0.0000', '[$JP¥]#,##0', '#,##0.0%', '[$-809]d" "mmm" "yyyy'],
    de: ['#,##0.0', '#,##0.00"\u00a0"[$€]', '#,##0.0000"\u00a0"[$€]', '#,##0"\u00a0"[$¥]', '#,##0.0"\u00a0"%', 'dd"."mm"."yyyy'],
    ja: ['#,##0.0', '[$€]#,##0.00', '[$€]#,##0.0000', '[$￥]#,##0', '#,##0.0%', 'yyyy"/"mm"/"dd']
  }
  for (const [locale, formats] of Object.entries(expected)) {
    const { parts, sheets: [cells = {}] } = sheetsOf([tableOf([row])], { locale })
    t.same(['A', 'B', 'C', 'D', 'E', 'F', 'G'].map((column) => cells[`${column}2`]?.number), ['12.5', '1234.5', '0.0275', '1000', '0.196',
      '46095', '61'])
    t.same(['A', 'B', 'C', 'D', 'E', 'F'].map((column) => formatOf(parts, cells[`${column}2`] ?? { name: '', style: 0 })), formats, locale)
  }
  t.end()
})

void t.test('a percentage of up to 15 digits is stored as exactly a hundredth of it', (t) => {
  fc.assert(fc.property(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 15 }), (digits, places) => {
    const value = new Decimal(`${digits}e-${places}`)
    const stored = typed({ type: 'percent', value: value.toFixed() }, 'en')?.number
    t.equal(stored, value.div(100).toFixed())
  }))
  t.end()
})

void t.test('what a sheet cannot hold exactly stays text, as the document shows it', (t) => {
  const { sheets: [cells = {}] } = sheetsOf([tableOf([[
    euros('12345678901234567.89'),
    { type: 'date', value: '1899-12-31' },
    { type: 'number', value: '0.1234567890123456', digits: 10 }
  ]])])
  has(t, cells, { A2: { text: '€12,345,678,901,234,567.89' }, B2: { text: '31 Dec 1899' }, C2: { text: '0.123456789' } })
  t.end()
})

void t.test('a total is a formula where it comes to exactly the same', (t) => {
  const rows = [[words('a'), euros('0.1')], [words('b'), euros('0.2')], [words('c'), { type: 'empty' } as const]]
  const { sheets: [cells = {}] } = sheetsOf([
    tableOf(rows, [total('Subtotal', euros('0.3')), total('Tax', euros('0.06')), total('Total', euros('0.36'))])
  ])
  has(t, cells, { B5: { formula: 'SUM(B2:B4)', number: '0.3' }, B6: { number: '0.06' }, B7: { formula: 'SUM(B5:B6)', number: '0.36' } })
  t.notOk(cells['B6']?.formula)
  t.end()
})

const noFormulas: Record<string, [Cell[][], ResolvedTotal[]]> = {
  'it is a cent more': [[[words('a'), euros(1)], [words('b'), euros(2)]], [total('Total', euros('3.01'))]],
  'it is in another currency': [
    [[words('a'), euros(1)], [words('b'), euros(2)]],
    [total('Total', { type: 'money', value: 3, currency: 'USD' })]
  ],
  'the column has several currencies': [
    [[words('a'), euros(1)], [words('b'), { type: 'money', value: 2, currency: 'USD' }]],
    [total('Total', euros(3))]
  ],
  'the column has text in it': [[[words('a'), euros(1)], [words('b'), words('2')]], [total('Total', euros(1))]],
  'all is zero': [[[words('a'), euros(0)]], [total('Tax', euros(0))]],
  'it is a date': [[[words('a'), { type: 'date', value: '2026-03-14' }]], [total('Latest', { type: 'date', value: '2026-03-14' })]]
}

for (const [name, [rows, totals]] of Object.entries(noFormulas)) {
  void t.test(`a total is a plain value where ${name}`, (t) => {
    const { sheets: [cells = {}] } = sheetsOf([tableOf(rows, totals)])
    t.same(Object.values(cells).filter(({ formula }) => formula !== undefined), [])
    t.end()
  })
}

void t.test('groups of rows have sums of their own, and the table one over all of them', (t) => {
  const section = (heading: string, ...values: number[]) => ({
    heading: [{ text: heading }],
    rows: values.map((value) => [words('x'), euros(value)]),
    totals: [total('Sum', euros(values.reduce((sum, value) => sum + value, 0)))]
  })
  const { sheets: [cells = {}] } = sheetsOf([{
    ...tableOf([[words(''), words('')]], [total('Total', euros(10))]),
    sections: [section('One', 1, 2), section('Two', 3, 4)]
  }])
  has(t, cells, {
    A2: { text: 'One' },
    B5: { formula: 'SUM(B3:B4)' },
    A6: { text: 'Two' },
    B9: { formula: 'SUM(B7:B8)' },
    B10: { formula: 'SUM(B3:B4,B7:B8)', number: '10' }
  })
  t.end()
})

void t.test('text is text, whatever it begins with, and stays so when it is written again', (t) => {
  for (const text of ['=cmd|\' /C calc\'!A0', '=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("https://evil.example")',
    '<f>1</f>', ']]>', '&lt;', '\u0000=1'])
  {
    const { parts, sheets: [cells = {}] } = sheetsOf([
      { kind: 'paragraph', runs: [{ text }], align: 'start', color: '#000000' },
      tableOf([[words(text)]])
    ])
    const sheet = parts['xl/worksheets/sheet1.xml'] ?? ''
    lacks(t, sheet, /<f>/, JSON.stringify(text))
    for (const cell of Object.values(cells)) t.equal(cell.number, undefined)
    const shown = Object.values(cells).filter((cell) => cell.text !== undefined && cell.text !== 'A')
    t.ok(shown.length >= 2)
    const looks = (parts['xl/styles.xml'] ?? '').split('<cellXfs')[1]?.split('<xf ') ?? []
    for (const { style, text: kept = '' } of shown) if (/^[=+\-@]/.test(kept)) contains(t, looks[style + 1], /quotePrefix="1"/)
  }
  t.end()
})

void t.test('a text that is longer than a cell goes on in the next row', (t) => {
  const long = '😀'.repeat(20_000)
  const { sheets: [cells = {}] } = sheetsOf([
    { kind: 'paragraph', runs: [{ text: long }], align: 'start', color: '#000000' },
    tableOf([[words(long), euros(1)], [words('b'), euros(2)]], [total('Sum', euros(3))])
  ])
  const texts = Object.values(cells).map(({ text = '' }) => text)
  t.ok(texts.every((text) => text.length <= 32_767 && text.isWellFormed()))
  t.equal(texts.join('').split('😀').length - 1, 40_000)
  t.ok(Object.values(cells).some(({ formula }) => formula === 'SUM(B5:B7)'))
  t.end()
})

void t.test('each table has a sheet, called by the heading above it, its header standing still', (t) => {
  const heading = (text: string): ResolvedBlock => ({ kind: 'heading', level: 1, runs: [{ text }], align: 'start', color: '#000000' })
  const { parts, sheets } = sheetsOf([
    heading('Hours'),
    tableOf([[words('a')]]),
    heading('Costs: [all]'),
    tableOf([[words('b')]]),
    heading('End')
  ])
  t.equal(sheets.length, 2)
  contains(t, parts['xl/workbook.xml'], /name="Hours".*name="Costs all"/)
  contains(t, parts['xl/worksheets/sheet1.xml'], /<pane ySplit="3" topLeftCell="A4" activePane="bottomLeft" state="frozen"\/>/)
  t.same(sheets.map((cells) => Object.values(cells).map(({ text }) => text)), [['Hours', 'A', 'a'], ['Costs: [all]', 'A', 'b', 'End']])
  t.end()
})

void t.test('the header of a long table is printed on every page', (t) => {
  const { parts } = sheetsOf([tableOf(Array.from({ length: 100 }, () => [words('a')]))], { title: 'Bob\'s' })
  contains(t, parts['xl/workbook.xml'], /<definedName name="_xlnm.Print_Titles" localSheetId="0">'Bob''s'!\$1:\$1<\/definedName>/)
  lacks(t, sheetsOf([tableOf([[words('a')]])]).parts['xl/workbook.xml'], 'Print_Titles')
  t.end()
})

void t.test('page numbers are printed, not written into cells', (t) => {
  const footer: ResolvedBlock[] = [
    {
      kind: 'paragraph',
      runs: [{ text: 'A & B, ' }, { field: 'page' }, { text: '/' }, { field: 'pages' }],
      align: 'end',
      color: '#000000'
    },
    { kind: 'paragraph', runs: [{ text: 'Acme' }], align: 'start', color: '#000000' }
  ]
  const { parts, sheets: [cells = {}] } = sheetsOf([tableOf([[words('a')]])], { footer })
  contains(t, parts['xl/worksheets/sheet1.xml'], '<oddFooter>&amp;RA &amp;&amp; B, &amp;P/&amp;N</oddFooter>')
  t.same(Object.values(cells).map(({ text }) => text), ['A', 'a', 'Acme'])
  t.end()
})

void t.test('names of sheets are legal, whatever they are wanted to be, and none is there twice', (t) => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({
          unit: fc.constantFrom('a', 'A', 'é', '😀', '\ud800', '[', ']', ':', '*', '?', '/', '\\', '\'', ' ', '\n', 'History'),
          maxLength: 40
        }),
        { maxLength: 8 }
      ),
      (desired) => {
        const names = sheetNames(desired)
        return names.length === desired.length && new Set(names.map((name) => name.toLowerCase())).size === names.length &&
          names.every((name) =>
            name.length > 0 && name.length <= 31 && name.isWellFormed() && !/[[\]:*?/\\\p{Cc}]|^'|'$/u.test(name) &&
            name.toLowerCase() !== 'history'
          )
      }
    )
  )
  t.same(sheetNames(['a'.repeat(40), 'a'.repeat(40), '']), ['a'.repeat(31), `${'a'.repeat(27)} (2)`, 'Sheet 3'])
  t.end()
})

void t.test('a date has the order of the locale, or the plain one where sheets do not know its words', (t) => {
  for (const [locale, format] of Object.entries({
    'en-US': '[$-409]mmm" "d", "yyyy',
    fr: '[$-40C]d" "mmm" "yyyy',
    pl: '[$-415]d" "mmm" "yyyy',
    el: '[$-408]d" "mmm" "yyyy',
    th: 'yyyy-mm-dd',
    sw: 'yyyy-mm-dd'
  })) t.equal(dateFormat(locale), format, locale)
  t.end()
})

void t.test('an amount is held as it is printed, a price in full', (t) => {
  const held = (...cells: Cell[]): (string | undefined)[] => cells.map((cell) => typed(cell, 'en')?.number)
  t.same(held(euros('10.005'), euros('-10.005'), euros(10.004), euros('10.005', 4), { type: 'money', value: '100.5', currency: 'JPY' }), [
    '10.01',
    '-10.01',
    '10',
    '10.005',
    '101'
  ])
  t.end()
})

void t.test('a number is held as the decimal that the data had', (t) => {
  fc.assert(fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 5 }), (whole, decimals) => {
    const text = (whole / 10 ** decimals).toFixed(decimals)
    return Number(typed({ type: 'number', value: text, digits: 10 }, 'en')?.number) === Number(text)
  }))
  t.end()
})

void t.test('a sheet that is too large is an error before it fills the memory', (t) => {
  const row = [words('x'.repeat(30_000))]
  t.throws(() => renderXlsx(documentOf([tableOf(Array.from({ length: 2_000 }, () => row))]), now), RenderError)
  t.end()
})

void t.test('a text of several lines beside others takes as many rows, and leaves no holes between them', (t) => {
  const paragraph = (text: string): ResolvedBlock => ({ kind: 'paragraph', runs: [{ text }], align: 'start', color: '#111111' })
  const columns = [
    {
      width: 1,
      blocks: [
        paragraph(
          'A sentence that is far too long for half of the page, and goes on for a good while, until it takes three lines of it at least.'
        )
      ]
    },
    { width: 1, blocks: ['a', 'b', 'c'].map(paragraph) }
  ]
  const { parts, sheets: [cells = {}] } = sheetsOf([{ kind: 'columns', gap: 0, height: 0, columns }])
  has(t, cells, { G1: { text: 'a' }, G2: { text: 'b' }, G3: { text: 'c' } })
  contains(t, parts['xl/worksheets/sheet1.xml'], '<mergeCell ref="A1:F3"/>')
  lacks(t, parts['xl/worksheets/sheet1.xml'], 'customHeight')
  t.end()
})

void t.test('in a single column, a number has its label in its format', (t) => {
  const entries = [
    { label: [{ text: 'Date' }], cell: { type: 'date', value: '2026-03-14' } as const },
    { label: [{ text: 'A "quoted" label' }], cell: euros(5) },
    { label: [{ text: 'Number:' }], cell: words('7') }
  ]
  const columns = [{ width: 1, blocks: [{ kind: 'keyValues', labels: 1, values: 1, entries } as const] }, { width: 1, blocks: [] }]
  const { parts, sheets: [cells = {}] } = sheetsOf([{ kind: 'columns', gap: 0, height: 0, columns }, tableOf([[words('a'), words('b')]])])
  t.equal(formatOf(parts, cells['A1'] ?? { name: '', style: 0 }), '[$-809]"Date: "d" "mmm" "yyyy')
  has(t, cells, { A1: { number: '46095' }, A2: { text: 'A "quoted" label' }, A3: { number: '5' }, A4: { text: 'Number: 7' } })
  t.end()
})

void t.test('a sheet from right to left begins at the right, and its dates have no marks inside', (t) => {
  const { parts, sheets: [cells = {}] } = sheetsOf([
    { kind: 'paragraph', runs: [{ text: 'ABC' }], align: 'start', color: '#111111' },
    tableOf([[{ type: 'date', value: '2026-03-14' }]])
  ], { locale: 'ar' })
  contains(t, parts['xl/styles.xml']?.split('<xf ')[(cells['A1']?.style ?? 0) + 2], 'horizontal="right"')
  t.equal(formatOf(parts, cells['A4'] ?? { name: '', style: 0 }), 'dd"/"mm"/"yyyy')
  t.end()
})

void t.test('a column is as wide as its longest number, with all that stands around the digits', (t) => {
  const widthOf = (amount: string, strong: boolean): number => {
    const table = tableOf([[words('a'), words('b'), words('c'), words('d'), words('e'), euros(1)]], [{
      ...total('Total', euros(amount)),
      strong
    }])
    const sheet = sheetsOf([table]).parts['xl/worksheets/sheet1.xml'] ?? ''
    return Number(/<col min="6" max="6" width="([\d.]+)"/.exec(sheet)?.[1])
  }
  t.ok(widthOf('123456789012.34', false) > '€123456789012.34'.length)
  t.ok(widthOf('123456789012.34', true) > widthOf('123456789012.34', false) * 1.2)
  t.end()
})

void t.test('the header of a table is printed on every page that its rows need, high ones too', (t) => {
  const rows = Array.from({ length: 30 }, () => [
    words('A description that is much too long for one line of its narrow column, and for two of them. '.repeat(2)),
    words('b'),
    words('c')
  ])
  contains(t, sheetsOf([tableOf(rows)]).parts['xl/workbook.xml'], 'Print_Titles')
  t.end()
})

void t.test('the sum of a column is exact, however large and small its numbers are', (t) => {
  const digits = fc.bigInt({ min: -999_999_999_999_999n, max: 999_999_999_999_999n })
  const number = fc.tuple(digits, fc.nat({ max: 12 })).map(([value, decimals]) => exactly(new Decimal(`${value}e-${decimals}`)))
  const large = fc.constantFrom('999999999999999', '-999999999999999', '0.01')
  Decimal.set({ precision: 60 })
  t.teardown(() => Decimal.set({ precision: 20 }))
  fc.assert(
    fc.property(fc.array(fc.oneof(number, large), { maxLength: 60 }),
      (numbers) => exactSum(numbers).equals(numbers.reduce((sum, number) => sum.plus(number), new Decimal(0))))
  )
  t.ok(exactSum(Array.from({ length: 20 }, () => '999999999999999')).equals('19999999999999980'), 'beyond what a double holds')
  t.end()
})

void t.test('a long text is encoded in pieces, and bounded as a whole', (t) => {
  const pieces = Array.from({ length: 5_000 }, (_, index) => `<a n="${String(index)}">é€😀</a>`)
  const whole = pieces.join('')
  t.ok(Buffer.from(whole).equals(encodeBounded(pieces, whole.length).utf8))
  t.throws(() => encodeBounded(pieces, whole.length - 1), RenderError)
  t.throws(() => encodeBounded(['four'], 3), RenderError)
  t.end()
})
