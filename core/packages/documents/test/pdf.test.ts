import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import t from 'tap'
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { contains, has } from '../../../../test/support/matching.ts'
import type { TemplateSource } from '../model/model.ts'
import type { PaperSize } from '../model/paper.ts'
import { render } from '../render.ts'
import { compiled, now, pagesOf, pdfOf, wordsOf } from './support.ts'

const lines = (count: number): object => ({
  lines: Array.from({ length: count }, (_, index) => ({ name: `Item ${String(index + 1)}`, amount: index }))
})
const table = {
  table: {
    each: 'lines',
    as: 'line',
    columns: [{ header: 'Name', value: 'line.name', width: 3 }, { header: 'Amount', value: 'line.amount', type: 'money' as const }],
    totals: [
      { label: 'Subtotal', value: '1', type: 'money' as const },
      { label: 'Total', value: '2', type: 'money' as const, strong: true }
    ]
  }
}

void t.test('the same document and time give the same bytes', async (t) => {
  const [first, second] = [await pdfOf([table], lines(60)), await pdfOf([table], lines(60))]
  t.same(first.bytes, second.bytes)
})

void t.test('the bytes of a fixed document do not change by accident', async (t) => {
  const { bytes } = await pdfOf([{ heading: 'Żółw & Ωmega' }, table], lines(3))
  const content = Buffer.from(bytes).toString('latin1').split(/endobj/).flatMap((object) => {
    const at = object.indexOf('stream\n')
    return at === -1 ? [object] : [inflateSync(Buffer.from(object.slice(at + 7), 'latin1')).toString('latin1')]
  })
  // Of the inflated content: how zlib compresses differs between its versions.
  const body = content.filter((part) => part.includes(' Tf') || part.includes('/Title'))
  t.equal(createHash('sha256').update(body.join('')).digest('hex'), '01cd1729d4f861a2c5dab0b3f8491f01f4be7eff1be15d0f0b245f9721b7ad83')
})

void t.test('the document says its title, author, language and date', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'x' }], { name: 'Müller & Söhne <GmbH>' }, {
    title: 'Invoice for {{ name }}',
    author: '{{ name }}',
    locale: 'de-DE'
  })
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const { info } = await document.getMetadata()
  has(t, info, {
    Title: 'Invoice for Müller & Söhne <GmbH>',
    Author: 'Müller & Söhne <GmbH>',
    Language: 'de-DE',
    Creator: 'Document Dispatch',
    CreationDate: 'D:20260314093000Z'
  })
})

void t.test('pages of the size "auto" become the paper that is asked for, A4 unless told; others stay what they are', async (t) => {
  const sizeOf = async (page: NonNullable<TemplateSource['page']>, paper?: PaperSize): Promise<number[]> => {
    const { bytes } = await render(compiled([{ paragraph: 'x' }], { page }), {
      data: {},
      format: 'pdf',
      now: now.toISOString(),
      ...(paper === undefined ? {} : { paper })
    })
    const { width, height } = (await (await getDocumentProxy(Uint8Array.from(bytes))).getPage(1)).getViewport({ scale: 1 })
    return [Math.round(width), Math.round(height)]
  }
  t.same(await sizeOf({ size: 'auto' }), [595, 842])
  t.same(await sizeOf({ size: 'auto' }, 'Letter'), [612, 792])
  t.same(await sizeOf({ size: 'auto', orientation: 'landscape' }, 'Letter'), [792, 612])
  for (const page of [{}, { size: 'A4' as const }]) t.same(await sizeOf(page, 'Letter'), [595, 842])
  t.same(await sizeOf({ size: 'Letter' }, 'A4'), [612, 792])
})

void t.test('every font is embedded as a subset', async (t) => {
  const { bytes } = await pdfOf([{ heading: 'Bold' }, { paragraph: 'plain *italic* **bold** ***both***' }])
  const text = Buffer.from(bytes).toString('latin1')
  const fonts = [...text.matchAll(/\/BaseFont \/(\S+)/g)].map(([, name]) => name)
  t.same([...new Set(fonts.map((name) => name?.replace(/^[A-Z]{6}\+/, '')))].sort(), [
    'DejaVuSans',
    'DejaVuSans-Bold',
    'DejaVuSans-BoldOblique',
    'DejaVuSans-Oblique'
  ])
  t.ok(fonts.every((name) => /^[A-Z]{6}\+/.test(name ?? '')))
  t.equal([...text.matchAll(/\/FontFile2 /g)].length, 4)
  t.ok(bytes.length < 60_000, 'four subsets are far smaller than one font')
})

void t.test('a table repeats its header on every page', async (t) => {
  const pages = await pagesOf(await pdfOf([table], lines(120)))
  t.ok(pages.length > 2)
  for (const page of pages) t.same(page.slice(0, 2).map(({ text }) => text), ['Name', 'Amount'])
  t.same(pages.flat().filter(({ text }) => text.startsWith('Item')).map(({ text }) => text),
    Array.from({ length: 120 }, (_, index) => `Item ${String(index + 1)}`), 'every row stands once, in order')
})

void t.test('totals never stand on a page without a row', async (t) => {
  for (let count = 1; count <= 90; count++) {
    const pages = await pagesOf(await pdfOf([table], lines(count)))
    const last = pages.at(-1)?.map(({ text }) => text) ?? []
    t.ok(last.includes('Subtotal') && last.includes('Total') && last.includes(`Item ${String(count)}`), `${String(count)} rows`)
  }
})

void t.test('a row stays on one page while it can', async (t) => {
  const rows = Array.from({ length: 12 },
    (_, index) => ({ name: `Begin${String(index)} ${'word '.repeat(150)}End${String(index)}`, amount: 1 }))
  for (const page of await pagesOf(await pdfOf([table], { lines: rows }))) {
    const text = page.map(({ text }) => text).join(' ')
    t.same([...text.matchAll(/Begin(\d+)/g)].map(([, number]) => number), [...text.matchAll(/End(\d+)/g)].map(([, number]) => number))
  }
})

void t.test('a row higher than a page goes on over pages, and loses nothing', async (t) => {
  const words = Array.from({ length: 3000 }, (_, index) => `w${String(index)}`)
  const pages = await pagesOf(
    await pdfOf([table], { lines: [{ name: 'before', amount: 1 }, { name: words.join(' '), amount: 5 }, { name: 'after', amount: 2 }] })
  )
  const text = pages.flat().map(({ text }) => text).join(' ')
  t.ok(pages.length > 2)
  t.same(text.match(/\bw\d+\b/g), words)
  contains(t, text, /after/)
})

void t.test('amounts end at the same place, under their header', async (t) => {
  const [page = []] = await pagesOf(
    await pdfOf([table], { lines: [{ name: 'a', amount: '1' }, { name: 'b', amount: '1234567.891' }, { name: 'c', amount: '-0.5' }] })
  )
  const right = page.filter(({ text }) => text === 'Amount' || text.includes('€')).map(({ right }) => Math.round(right * 10))
  t.equal(new Set(right).size, 1)
  t.equal(right.length, 6)
})

void t.test('an amount wider than its column becomes smaller, and never breaks', async (t) => {
  const [page = []] = await pagesOf(await pdfOf([table], { lines: [{ name: 'a', amount: '123456789012345678901234567890.12' }] }))
  const amount = page.find(({ text }) => text.includes('123,456'))
  t.equal(amount?.text, '€123,456,789,012,345,678,901,234,567,890.12')
  t.ok((amount?.right ?? 0) - (amount?.x ?? 0) <= 121)
})

void t.test('labels of totals have room, however wide the last column is', async (t) => {
  for (const widths of [[1, 1], [1, 5], [3]]) {
    const columns = widths.map((width) => ({ header: 'Amount', value: 'line.amount', type: 'money' as const, width }))
    const texts = (await pagesOf(
      await pdfOf([{ table: { ...table.table, columns, totals: [{ label: 'Net amount', value: '1', type: 'money' }] } }], lines(1))
    )).flat()
    t.ok(texts.some(({ text }) => text === 'Net amount'), String(widths))
  }
})

void t.test('headers and footers know their page and the number of pages', async (t) => {
  const pages = await pagesOf(
    await pdfOf([table], lines(120), {
      footer: [{ paragraph: 'Page {{ page }} of {{ pages }}' }],
      header: [{ paragraph: '**{{ page }}**/{{ pages }}' }]
    })
  )
  for (const [index, page] of pages.entries()) {
    contains(t, page.at(-1)?.text, `Page ${String(index + 1)} of ${String(pages.length)}`)
    contains(t, page.slice(0, 2).map(({ text }) => text).join(''), `${String(index + 1)}/${String(pages.length)}`)
  }
})

void t.test('a heading is not the last thing on a page', async (t) => {
  for (let height = 200; height < 260; height += 2) {
    const pages = await pagesOf(
      await pdfOf([{ spacer: 1 }, { paragraph: 'start' }, { spacer: height }, { heading: 'Heading' }, { paragraph: 'text' }])
    )
    const page = pages.find((texts) => texts.some(({ text }) => text === 'Heading'))
    t.ok(page?.some(({ text }) => text === 'text'), `${String(height)} mm above it`)
  }
})

void t.test('a page break begins a page, and none is left empty', async (t) => {
  const pages = await pagesOf(await pdfOf([
    { pageBreak: true },
    { paragraph: 'one' },
    { pageBreak: true },
    { pageBreak: true },
    { columns: { items: [{ do: [{ paragraph: 'two' }, { pageBreak: true }, { paragraph: 'three' }] }, { do: [{ paragraph: 'side' }] }] } },
    { pageBreak: true }
  ]))
  t.same(pages.map((page) => page.map(({ text }) => text)), [['one'], ['two', 'side'], ['three']])
})

void t.test('text breaks at spaces and after hyphens; a word wider than the line breaks anywhere', async (t) => {
  const narrow = { page: { margins: { left: 80, right: 80 } } }
  const text = async (paragraph: string): Promise<string[]> =>
    (await pagesOf(await pdfOf([{ paragraph }], {}, narrow))).flat().map(({ text }) => text)
  t.same(await text('A short sentence that is longer than one line, well-known.'), [
    'A short sentence that is longer',
    'than one line, well-known.'
  ])
  t.same((await text('Documentation-of-interfaces-and-of-things-between'))[0]?.endsWith('-'), true)
  const long = await text(`x ${'0123456789'.repeat(12)} y`)
  t.equal(long.join('').replaceAll(' ', ''), `x${'0123456789'.repeat(12)}y`)
  t.ok(long.length > 3)
  t.same(await text('a\nb'), ['a', 'b'], 'a line break is kept')
  has(t, await text('12\u00a0345\u00a0678\u00a0901 12\u00a0345\u00a0678\u00a0901 EUR'), [/^12.345.678.901$/, /^12.345.678.901 EUR$/],
    'a no-break space does not break')
})

void t.test('columns stand side by side, and lose nothing when they are cut', async (t) => {
  const words = (name: string, count: number): string => Array.from({ length: count }, (_, index) => `${name}${String(index)}`).join(' ')
  const pages = await pagesOf(await pdfOf([
    { columns: { items: [{ do: [{ paragraph: words('a', 3000) }] }, { do: [{ paragraph: words('b', 500) }] }] } },
    { paragraph: 'end' }
  ]))
  const text = pages.flat().map(({ text }) => text).join(' ')
  t.equal(text.match(/\ba\d+\b/g)?.length, 3000)
  t.equal(text.match(/\bb\d+\b/g)?.length, 500)
  t.ok((pages[0]?.find(({ text }) => text.startsWith('b0'))?.x ?? 0) > 297)
  contains(t, pages.at(-1)?.at(-1)?.text, 'end')
})

void t.test('links are annotations, to the web, mail and telephone only', async (t) => {
  const { bytes } = await pdfOf([{
    paragraph: 'See [the **site**](https://example.com/{{ path }}), [mail](mailto:a@b.example), [bad](javascript:alert)'
  }], { path: 'a(b)*' })
  const page = await (await getDocumentProxy(Uint8Array.from(bytes))).getPage(1)
  const links = (await page.getAnnotations()) as { unsafeUrl?: string }[]
  t.same([...new Set(links.map(({ unsafeUrl }) => unsafeUrl))], ['https://example.com/a(b)*', 'mailto:a@b.example'])
  contains(t, await wordsOf({ bytes }), /\[bad\]\(javascript:alert\)/)
})

void t.test('the paper, margins and colours are those of the template', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: { text: 'x', color: '#ff0000' } }, { rule: {} }], {}, {
    page: { size: 'Letter', orientation: 'landscape', margins: { left: 25.4, top: 25.4 } }
  })
  const page = await (await getDocumentProxy(Uint8Array.from(bytes))).getPage(1)
  t.same(page.view, [0, 0, 792, 612])
  const [[text] = []] = await pagesOf({ bytes })
  t.equal(text?.x, 72)
  t.ok(text !== undefined && text.y > 72 && text.y < 84)
})

void t.test('the date inside is the one that was given', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'x' }])
  contains(t, Buffer.from(bytes).toString('latin1'), 'D:20260314093000Z')
  t.equal(now.toISOString(), '2026-03-14T09:30:00.000Z')
})

void t.test('every page has its colours, whatever the one before it ended with', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'One.' }, { pageBreak: true }, { paragraph: 'Two.' }], {}, {
    header: [{ paragraph: { text: 'Above', color: '#aa0000' } }],
    footer: [{ paragraph: { text: 'Below', color: '#aa0000' } }]
  })
  const { OPS } = await getResolvedPDFJS()
  const pdf = await getDocumentProxy(Uint8Array.from(bytes))
  for (const number of [1, 2]) {
    const { fnArray, argsArray } = await (await pdf.getPage(number)).getOperatorList()
    const coloured = fnArray.findIndex((operation) => operation === OPS.setFillRGBColor)
    t.ok(coloured !== -1 && coloured < fnArray.findIndex((operation) => operation === OPS.showText), `page ${String(number)}`)
    contains(t, JSON.stringify(argsArray[coloured]), 'aa0000', `page ${String(number)}`)
  }
})
