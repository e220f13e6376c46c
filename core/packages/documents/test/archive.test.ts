import { inflateSync } from 'node:zlib'
import t from 'tap'
import { getDocumentProxy } from 'unpdf'
import { contains, lacks } from '../../../../test/support/matching.ts'
import { ciiText, plain } from '../../einvoice/test/support.ts'
import { all, type Element, elements, readXml, textAt } from '../../einvoice/test/xml.ts'
import type { TemplateSource } from '../model/model.ts'
import { compiled, made, pdfOf } from './support.ts'

const body: TemplateSource['body'] = [
  { heading: 'Żółw & Ωmega é ไทย हिन्दी 🍕 ₿' },
  { paragraph: '**bold** [link](https://example.com)' },
  { rule: { color: 'accent' } }
]
const titled = { title: 'Invoice for {{ customer.name }}', author: '{{ seller.name }}' } as const
const eInvoice = compiled([
  ...body,
  { table: { each: 'lines', as: 'line', columns: [{ header: 'Total', value: 'line.total', type: 'money' }] } },
  { paragraph: 'Due {{ amountDue | money }}, VAT {{ taxAmount }}' }
], { ...titled, vocabulary: 'invoice' })

/** The file as text, its objects and their streams. */
function read (bytes: Uint8Array): { text: string, objects: string[], streams: string[] } {
  const text = Buffer.from(bytes).toString('latin1')
  const objects = text.split(/^endobj$/m)
  return { text, objects, streams: objects.flatMap(streamOf) }
}

function streamOf (object: string): string[] {
  const [dictionary = '', ...stream] = object.split('stream\n')
  if (stream.length === 0) return []
  const content = Buffer.from(stream.join('stream\n'), 'latin1')
  return [dictionary.includes('/FlateDecode') ? inflateSync(content).toString('latin1') : content.toString('utf8')]
}

function metadataOf (bytes: Uint8Array): Element {
  const packet = read(bytes).streams.find((stream) => stream.includes('<x:xmpmeta')) ?? ''
  const start = packet.indexOf('<x:xmpmeta')
  return readXml(packet.slice(start, packet.indexOf('</x:xmpmeta>') + '</x:xmpmeta>'.length))
}

const property = (metadata: Element, name: string): string | undefined => elements(metadata).find((element) => element.name === name)?.text

for (const [name, make] of [
  ['an archival template', () => pdfOf(body, plain, { ...titled, archival: true })],
  ['a Factur-X', () => made('factur-x', eInvoice, plain)]
] as const) {
  void t.test(`${name}: is PDF/A-3b by what can be seen in the file`, async (t) => {
    const { bytes } = await make()
    const { text, objects } = read(bytes)
    contains(t, text, /^%PDF-1\.7\n%[^\n]{4}/, 'the version, and bytes that say it is binary')
    contains(t, text, /\/ID \[<[0-9a-f]+> <[0-9a-f]+>\]/)
    lacks(t, text, /\/Encrypt|\/JavaScript|\/LZWDecode|\/Interpolate true|\/CIDSet|\/Launch/)
    contains(t, text, /\/OutputIntents \[/)
    contains(t, objects.find((object) => object.includes('/GTS_PDFA1')), /\/DestOutputProfile \d+ 0 R/)
    t.equal(objects.filter((object) => object.includes('/Subtype /CIDFontType2')).length, objects.filter((object) =>
      object.includes('/FontFile2')
    ).length, 'every font is embedded')
    t.ok(objects.filter((object) => object.includes('/Subtype /CIDFontType2')).every((object) => object.includes('/CIDToGIDMap /Identity')))
    lacks(t, text, /\/Subtype \/Type1/)
    t.ok(objects.filter((object) => object.includes('/Subtype /Link')).every((object) => /\/F 4\b/.test(object)), 'links are printed')
  })

  void t.test(`${name}: its metadata are well-formed, whatever title and author are`, async (t) => {
    const { bytes } = await make()
    const metadata = metadataOf(bytes)
    t.equal(property(metadata, 'part'), '3')
    t.equal(property(metadata, 'conformance'), 'B')
    t.equal(textAt(metadata, 'RDF/Description/title/Alt/li'), 'Invoice for Ada <Ltd>')
    t.equal(textAt(metadata, 'RDF/Description/creator/Seq/li'), 'Müller & Söhne')
    t.equal(property(metadata, 'CreateDate'), '2026-03-14T09:30:00Z')
    lacks(t, read(bytes).text, /\/Title|\/Author/, 'what stands in both places would have to be the same')
  })
}

void t.test('a Factur-X carries the CII of its data, and says so', async (t) => {
  const { bytes, contentType } = await made('factur-x', eInvoice, plain)
  t.equal(contentType, 'application/pdf')
  const { text } = read(bytes)
  contains(t, text, /\/AFRelationship \/Alternative/)
  contains(t, text, /\/AF \[\d+ 0 R\]/)
  contains(t, text, /\/Subtype \/text#2Fxml/)
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const attachments = await document.getAttachments() ?? new Map()
  t.same([...attachments.keys()], ['factur-x.xml'])
  t.ok(read(bytes).streams.some((stream) => Buffer.from(stream, 'latin1').toString('utf8') === ciiText(plain, 'FACTUR_X')),
    'the very XML of its data')
  const metadata = metadataOf(bytes)
  t.strictSame(['DocumentType', 'DocumentFileName', 'Version', 'ConformanceLevel'].map((name) => property(metadata, name)), [
    'INVOICE',
    'factur-x.xml',
    '1.0',
    'EN 16931'
  ])
  const described = all(metadata, 'RDF/Description/schemas/Bag/li/property/Seq/li/name').map((element) => element.text)
  t.strictSame(described.sort(), ['ConformanceLevel', 'DocumentFileName', 'DocumentType', 'Version'],
    'each property is in the extension schema')
})

void t.test('the page of an e-invoice shows the sums that its data leave out', async (t) => {
  const { bytes } = await made('factur-x', eInvoice, plain)
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const { items } = await (await document.getPage(1)).getTextContent()
  contains(t, items.map((item) => 'str' in item ? item.str : '').join(' ').replaceAll(/\s+/g, ' '), /€20\.00.*Due €24\.00, VAT 4\.00/)
})

void t.test('UBL and CII are XML files', async (t) => {
  for (const format of ['ubl', 'cii'] as const) {
    const { bytes, contentType } = await made(format, eInvoice, plain)
    t.equal(contentType, 'application/xml')
    t.equal(readXml(Buffer.from(bytes).toString('utf8')).name, format === 'ubl' ? 'Invoice' : 'CrossIndustryInvoice')
  }
})

void t.test('a plain template makes a plain PDF', async (t) => {
  const { bytes } = await pdfOf(body, plain, titled)
  lacks(t, read(bytes).text, /OutputIntents|xmpmeta/)
})

void t.test('a picture in the colours of print is refused where the file is to be archived', async (t) => {
  const jpeg = Buffer.from(
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
    'base64'
  )
  const logo = (): string => `data:image/jpeg;base64,${jpeg.toString('base64')}`
  const picture: TemplateSource['body'] = [{ image: { asset: 'logo', width: 40 } }]
  await t.resolves(pdfOf(picture, {}, { archival: true, assets: { logo: logo() } }))
  jpeg[jpeg.indexOf('ffc2', 'hex') + 9] = 4
  await t.rejects(pdfOf(picture, {}, { archival: true, assets: { logo: logo() } }), /CMYK colours/)
  await t.resolves(pdfOf(picture, {}, { assets: { logo: logo() } }), 'a plain PDF may have it')
})
