import { unzipSync } from 'fflate'
import { inflateRawSync } from 'node:zlib'
import t from 'tap'
import { contains, lacks } from '../../../../test/support/matching.ts'
import type { ResolvedBlock, ResolvedDocument, TextBlock } from '../model/document.ts'
import { zip } from '../office/zip.ts'
import { renderDocx } from '../render/docx.ts'
import { partsOf, textsIn } from './office-support.ts'
import { compiled, made, now } from './support.ts'
import { documentOf } from './trees.ts'

const text = (text: string): TextBlock => ({ runs: [{ text }], align: 'start', color: '#111111' })
const paragraph = (words: string): ResolvedBlock => ({ kind: 'paragraph', ...text(words) })
const heading = (words: string, level: number): ResolvedBlock => ({ kind: 'heading', level, ...text(words) })
const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const docxOf = (body: ResolvedBlock[], more: Partial<ResolvedDocument> = {}): Record<string, string> =>
  partsOf(renderDocx(documentOf(body, more), now))
const bodyOf = (body: ResolvedBlock[], more: Partial<ResolvedDocument> = {}): string => docxOf(body, more)['word/document.xml'] ?? ''

void t.test('headings have the styles of Word, which make the outline and keep with what follows', (t) => {
  const parts = docxOf([heading('One', 1), heading('Two', 2), heading('Three', 3), paragraph('Text')])
  t.same(Array.from((parts['word/document.xml'] ?? '').matchAll(/<w:pStyle w:val="(\w+)"/g), ([, style]) => style), [
    'Heading1',
    'Heading2',
    'Heading3',
    'Normal'
  ])
  contains(t, parts['word/styles.xml'],
    /w:styleId="Heading2"><w:name w:val="heading 2"\/><w:basedOn w:val="Normal"\/><w:next w:val="Normal"\/><w:qFormat\/><w:pPr><w:keepNext\/>.*?<w:outlineLvl w:val="1"\/>/)
  t.end()
})

void t.test('a table repeats its header, keeps each row whole, and its totals with the last row', async (t) => {
  const template = compiled([{
    table: {
      each: 'lines',
      as: 'line',
      columns: [{ header: 'A', value: 'line' }, { header: 'B', value: 'line', type: 'money' }],
      totals: [{ label: 'Net', value: 'sum', type: 'money' }, { label: 'Total', value: 'sum', type: 'money', strong: true }]
    }
  }])
  const { bytes } = await made('docx', template, { lines: ['1', '2'], sum: '3' })
  const rows = Array.from((partsOf(bytes)['word/document.xml'] ?? '').matchAll(/<w:tr>.*?<\/w:tr>/g), ([row]) => row)
  t.equal(rows.length, 5)
  t.same(rows.map((row) => row.includes('<w:tblHeader/>')), [true, false, false, false, false])
  t.ok(rows.every((row) => row.includes('<w:cantSplit/>')))
  t.same(rows.slice(1).map((row) => row.includes('<w:keepNext/>')), [false, true, true, false])
  t.same(rows.map((row) => textsIn(row, 'w:t')), [['A', 'B'], ['1', '€1.00'], ['2', '€2.00'], ['Net', '€3.00'], ['Total', '€3.00']])
})

void t.test('header and footer are parts of their own, with fields for the numbers of pages', (t) => {
  const parts = docxOf([paragraph('Body')], {
    header: [paragraph('Top')],
    footer: [{
      kind: 'paragraph',
      runs: [{ text: 'Page ' }, { field: 'page' }, { text: ' of ' }, { field: 'pages' }],
      align: 'end',
      color: '#111111'
    }]
  })
  contains(t, parts['word/footer.xml'], /<w:fldSimple w:instr=" PAGE ">.*<w:fldSimple w:instr=" NUMPAGES ">/)
  contains(t, parts['word/header.xml'], '<w:t>Top</w:t>')
  const [, id = ''] = /<w:footerReference w:type="default" r:id="(\w+)"/.exec(parts['word/document.xml'] ?? '') ?? []
  contains(t, parts['word/_rels/document.xml.rels'],
    `Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footer" Target="footer.xml"`)
  contains(t, parts['[Content_Types].xml'], 'PartName="/word/footer.xml"')
  lacks(t, bodyOf([paragraph('Body')]), 'Reference')
  t.end()
})

void t.test('a header of the first page stands on it alone, with the footer that all have', (t) => {
  const parts = docxOf([paragraph('Body')], {
    header: [paragraph('Later')],
    firstHeader: [paragraph('First')],
    footer: [paragraph('Foot')]
  })
  contains(t, parts['word/document.xml'],
    /<w:headerReference w:type="default".*<w:footerReference w:type="default".*<w:headerReference w:type="first".*<w:footerReference w:type="first".*<w:titlePg\/>/)
  contains(t, parts['word/header-first.xml'], 'First')
  contains(t, parts['word/footer-first.xml'], 'Foot')
  contains(t, docxOf([paragraph('Body')], { header: [paragraph('Later')], firstHeader: [] })['word/header-first.xml'], /<w:hdr[^>]*><w:p>/)
  t.end()
})

void t.test('a watermark lies behind every page', (t) => {
  for (const more of [{}, { header: [paragraph('Top')] }, { header: [paragraph('Top')], firstHeader: [] }]) {
    const parts = docxOf([paragraph('Body')], { ...more, watermark: 'DRAFT & "x"' })
    const headers = Object.entries(parts).filter(([path]) => path.startsWith('word/header'))
    t.equal(headers.length, 'firstHeader' in more ? 2 : 1)
    for (const [, part] of headers) contains(t, part, 'string="DRAFT &amp; &quot;x&quot;"')
  }
  t.end()
})

void t.test('links lead where they say, and nowhere else', (t) => {
  const link = (url: string): ResolvedBlock => ({
    kind: 'paragraph',
    runs: [{ text: 'here', link: url }],
    align: 'start',
    color: '#111111'
  })
  const parts = docxOf([
    link('https://example.com/?a=1&b=2'),
    link('https://example.com/?a=1&b=2'),
    link('javascript:alert(1)'),
    { kind: 'button', text: 'Pay', url: 'https://pay.example' }
  ])
  t.same(
    Array.from((parts['word/_rels/document.xml.rels'] ?? '').matchAll(/Target="(h[^"]*)" TargetMode="External"/g), ([, target]) => target),
    ['https://example.com/?a=1&amp;b=2', 'https://pay.example']
  )
  t.equal((parts['word/document.xml'] ?? '').split('<w:hyperlink ').length - 1, 3)
  t.end()
})

void t.test('a picture is there once, with its words, and in its size', async (t) => {
  const { bytes } = await made('docx',
    compiled([{ image: { asset: 'logo', width: 25.4, alt: 'A "logo"' } }, { image: { asset: 'logo' } }], {
      assets: { logo: png },
      footer: [{ image: { asset: 'logo' } }]
    }), {})
  t.same(Object.keys(unzipSync(bytes)).filter((path) => path.includes('media')), ['word/media/image1.png'])
  const parts = partsOf(bytes)
  contains(t, parts['word/document.xml'],
    /<wp:extent cx="914400" cy="914400"\/><wp:docPr id="1" name="Picture 1" descr="A &quot;logo&quot;"\/>/)
  t.same(Array.from(Object.values(parts).join('').matchAll(/<wp:docPr id="(\d+)"/g), ([, id]) => id).sort(), ['1', '2', '3'])
  contains(t, parts['word/_rels/footer.xml.rels'], 'media/image1.png')
})

void t.test('a page break begins a page, but neither the first nor one inside of columns', (t) => {
  const breaks = (body: ResolvedBlock[]): number => bodyOf(body).split('<w:pageBreakBefore/>').length - 1
  const pageBreak: ResolvedBlock = { kind: 'pageBreak' }
  const columns: ResolvedBlock = {
    kind: 'columns',
    gap: 10,
    height: 0,
    columns: [{ width: 1, blocks: [paragraph('a'), pageBreak, paragraph('b')] }]
  }
  t.equal(breaks([pageBreak, paragraph('a'), pageBreak, paragraph('b'), pageBreak, pageBreak, columns, pageBreak]), 2)
  t.end()
})

void t.test('two tables stay two, and a paragraph ends every cell and the document', (t) => {
  const columns: ResolvedBlock = {
    kind: 'columns',
    gap: 10,
    height: 0,
    columns: [{ width: 1, blocks: [{ kind: 'columns', gap: 10, height: 0, columns: [{ width: 1, blocks: [] }] }] }]
  }
  const body = bodyOf([columns, columns])
  lacks(t, body, '</w:tbl><w:tbl>')
  lacks(t, body, '</w:tbl></w:tc>')
  contains(t, body, /<\/w:tbl><w:p>.*?<\/w:p><w:sectPr>/)
  lacks(t, body, '<w:tc></w:tc>')
  t.end()
})

void t.test('the blocks of a group stay with the next one', (t) => {
  const kept = (body: ResolvedBlock[]): number => bodyOf(body).split('<w:keepNext/>').length - 1
  t.equal(kept([{ kind: 'group', blocks: [paragraph('a'), paragraph('b'), paragraph('c')] }, paragraph('d')]), 2)
  t.end()
})

void t.test('what a code says stands in the middle under it, on whichever side it is', (t) => {
  const code = (align: 'start' | 'end'): ResolvedBlock => ({
    kind: 'code',
    symbology: 'qr',
    modules: () => ({ columns: 1, rows: 1, dark: [] }),
    width: 100,
    height: 100,
    align,
    alt: '',
    label: 'Scan'
  })
  contains(t, bodyOf([code('start')]), /<w:ind w:right="7900"\/><w:jc w:val="center"\/>/)
  contains(t, bodyOf([code('end')]), /<w:ind w:left="7900"\/><w:jc w:val="center"\/>/)
  t.end()
})

void t.test('text from right to left is said to be so', (t) => {
  const body = bodyOf([paragraph('שלום עולם, ABC')], { locale: 'he' })
  contains(t, body, /<w:bidi\/>.*<w:rPr><w:rtl\/><\/w:rPr><w:t>שלום עולם<\/w:t><\/w:r><w:r><w:t>, ABC<\/w:t>/)
  lacks(t, bodyOf([paragraph('ABC')]), /bidi|rtl/)
  // In another document too, and then it begins at its own side; one from right to left has all at the right.
  contains(t, bodyOf([paragraph('שלום, ABC')]), /<w:pPr>.*<w:bidi\/>(?:(?!<w:jc).)*<\/w:pPr>/)
  contains(t, bodyOf([paragraph('ABC')], { locale: 'he' }), /<w:pPr>(?:(?!<w:bidi).)*<w:jc w:val="right"\/><\/w:pPr>/)
  t.end()
})

void t.test('the document says its title, author, language and time', (t) => {
  const parts = docxOf([paragraph('Body')], { title: 'A & B', author: 'Zoë <x>', locale: 'fr' })
  contains(t, parts['docProps/core.xml'],
    '<dc:title>A &amp; B</dc:title><dc:creator>Zoë &lt;x&gt;</dc:creator><dc:language>fr</dc:language><dcterms:created ' +
      'xsi:type="dcterms:W3CDTF">2026-03-14T09:30:00Z</dcterms:created>')
  contains(t, parts['word/styles.xml'], '<w:lang w:val="fr"')
  t.end()
})

void t.test('paper, margins and orientation are those of the template', async (t) => {
  const { bytes } = await made('docx',
    compiled([{ paragraph: 'x' }], { page: { size: 'Letter', orientation: 'landscape', margins: { top: 25.4, left: 12.7 } } }), {})
  contains(t, partsOf(bytes)['word/document.xml'],
    /<w:pgSz w:w="15840" w:h="12240" w:orient="landscape"\/><w:pgMar w:top="1440" w:right="1134" w:bottom="1134" w:left="720"/)
})

void t.test('an archive has its entries in their order, text compressed and pictures as they are', (t) => {
  const [long, picture] = ['a'.repeat(5_000), new Uint8Array(5_000).fill(7)]
  const archive = zip({ 'ä.xml': long, 'b.txt': 'short', 'c.png': picture })
  t.same(Object.entries(unzipSync(archive)).map(([path, bytes]) => [path, bytes.length]), [
    ['ä.xml', 5_000],
    ['b.txt', 5],
    [
      'c.png',
      5_000
    ]
  ])
  t.ok(archive.length < 5_600)
  t.equal(archive.buffer.byteLength, archive.length, 'its memory is its own')
  const view = Buffer.from(archive)
  // Date and time of the first entry: midnight of 1 January 1980.
  t.equal(view.readUInt32LE(10), 0x00210000)
  t.equal(inflateRawSync(view.subarray(30 + view.readUInt16LE(26), 30 + view.readUInt16LE(26) + view.readUInt32LE(18))).toString(), long)
  t.end()
})
