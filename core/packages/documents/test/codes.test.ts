import fc from 'fast-check'
import { inflateSync } from 'node:zlib'
import { decodeQR } from 'qr/decode.js'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { code128Modules } from '../code/code128.ts'
import { ean13Modules } from '../code/ean13.ts'
import { transferText } from '../code/epc.ts'
import { pictureOf } from '../code/picture.ts'
import { qrFault, qrModules } from '../code/qr.ts'
import { readPng } from '../image/png-file.ts'
import { rgbOf } from '../image/png-pixels.ts'
import type { CodeBlock, Modules } from '../model/document.ts'
import { compiled, faultsOf, made, pdfOf, problemsOf } from './support.ts'

/** What a scanner reads in a QR code, from the picture that mails and files show. */
function scanned (modules: Modules | string): string {
  if (typeof modules === 'string') throw new Error(modules)
  const { bytes, width, height } = pictureOf({ modules: () => modules, width: 100, height: 100 })
  const file = readPng(Buffer.from(bytes))
  const pixels = file !== undefined && 'data' in file ? rgbOf(file) : undefined
  return decodeQR({ width, height, data: pixels ?? new Uint8Array() })
}

/** The modules of a barcode, dark ones as 1, without its quiet zone. */
function barsOf (modules: Modules | string): string {
  if (typeof modules === 'string') return modules
  const row = Array.from({ length: modules.columns }, () => '0')
  for (const { x, width } of modules.dark) row.fill('1', x, x + width)
  return row.join('').replace(/^0+|0+$/g, '')
}

void t.test('what a QR code holds is what a scanner reads', (t) => {
  for (const text of ['https://example.com/pay/2026-0142?a=b&c=d', '12345', 'HELLO WORLD', 'Zażółć gęślą jaźń 发票', 'x'.repeat(500)]) {
    t.equal(scanned(qrModules(text)), text)
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), (text) => scanned(qrModules(text)) === text.toWellFormed()),
    { numRuns: 50 }
  )
  t.end()
})

void t.test('a QR code has four light modules on each side, and is bounded', (t) => {
  const modules = qrModules('x')
  if (typeof modules === 'string') throw new Error(modules)
  t.equal(modules.columns, 21 + 8)
  t.equal(modules.rows, 21 + 8)
  t.equal(Math.min(...modules.dark.map(({ x }) => x)), 4)
  t.equal(Math.min(...modules.dark.map(({ y }) => y)), 4)
  t.equal(Math.max(...modules.dark.map(({ x, width }) => x + width)), 25)
  t.equal(qrFault('é'.repeat(1165)), undefined)
  t.type(qrModules('é'.repeat(1165)), 'object')
  contains(t, qrFault('é'.repeat(1166)), /at most 2331 bytes/)
  t.end()
})

// As another encoder (bwip-js 4.11) draws them.
const code128 = {
  12: '1101001110010110011100100110011101100011101011',
  '2026-0142': '1101001110011001001110111001001101011110111010011011100101110111101100110110010110111000111100100101100011101011',
  'ABC 123456x':
    '1101001000010100011000100010110001000100011011011001100101110111101011001110010001011000111000101101011110111011110010010100011101101100011101011'
}
const ean13 = {
  4006381333931: '10100011010100111010111101111010001001011001101010100001010000101000010111010010000101100110101',
  9780201379624: '10101110110001001010011100100110100111001100101010100001010001001110100101000011011001011100101',
  '0012345678905': '10100011010011001001001101111010100011011000101010101000010001001001000111010011100101001110101'
}

void t.test('barcodes have the bars that another encoder gives them', (t) => {
  for (const [text, bars] of Object.entries(code128)) t.equal(barsOf(code128Modules(text)), bars, text)
  for (const [text, bars] of Object.entries(ean13)) t.equal(barsOf(ean13Modules(text)), bars, text)
  t.end()
})

void t.test('a Code 128 barcode packs digits in pairs where that is shorter', (t) => {
  const lengths: Record<string, number> = { 1234567: 90, x12345y: 112, x123456y: 112, 'INV/2026/000123/Z': 211, '~ !': 68 }
  for (const [text, length] of Object.entries(lengths)) t.equal(barsOf(code128Modules(text)).length, length, text)
  t.end()
})

void t.test('a barcode that cannot hold a text says so', (t) => {
  for (const text of ['', 'é', 'a\nb', 'x'.repeat(81)]) {
    contains(t, code128Modules(text), /1 to 80 letters, digits and signs of ASCII/, text)
  }
  for (const text of ['4006381333930', '400638133393', '40063813', 'abc', '']) contains(t, ean13Modules(text), /check digit/, text)
  t.end()
})

const invoice = {
  number: '2026-0142',
  total: '17182.44',
  seller: { name: 'Northwind' },
  bankDetails: { iban: 'ie29 AIBK 9311 5212 3456 78', bic: 'AIBKIE2D', accountHolder: 'Müller & Söhne' }
}
const payment = [{ code: { epc: true as const } }]

/** The code of an invoice as the model has it. */
function codeOf (data: object, currency = 'EUR'): CodeBlock | undefined {
  const [block] = compiled(payment, { currency }).resolve(data).body
  return block?.kind === 'code' ? block : undefined
}

void t.test('a payment is the text that banks read (EPC069-12)', (t) => {
  t.equal(scanned(codeOf(invoice)?.modules() ?? ''),
    'BCD\n002\n1\nSCT\nAIBKIE2D\nMüller & Söhne\nIE29AIBK93115212345678\nEUR17182.44\n\n\n2026-0142')
  t.equal(
    scanned(
      codeOf({ number: 'A\n1', total: 5, seller: { name: 'Northwind' }, bankDetails: { iban: invoice.bankDetails.iban } })?.modules() ?? ''
    ),
    'BCD\n002\n1\nSCT\n\nNorthwind\nIE29AIBK93115212345678\nEUR5.00\n\n\nA 1',
    'the seller holds the account unless it says who does; a BIC is not needed'
  )
  const longest = transferText({
    iban: 'MT84MALT011000012345MTLCAST001S',
    bic: 'MALTMTMTXXX',
    name: 'x'.repeat(100),
    amount: '999999999.99',
    remittance: 'y'.repeat(140)
  })
  t.ok(Buffer.byteLength(longest) <= 331)
  contains(t, longest, new RegExp(`\n${'x'.repeat(70)}\n`), 'a name is cut at its 70 characters')
  t.end()
})

void t.test('there is no code where there is nothing to pay by it', (t) => {
  t.equal(codeOf(invoice, 'USD'), undefined, 'in another currency')
  t.equal(codeOf({ ...invoice, bankDetails: {} }), undefined, 'without an IBAN')
  t.equal(codeOf({ number: '1', total: 5 }), undefined, 'without an account')
  for (const total of [0, -5, '0.004', '1000000000', undefined]) t.equal(codeOf({ ...invoice, total }), undefined, String(total))
  for (const total of ['0.01', 0.1, '999999999.99', 1e3]) t.ok(codeOf({ ...invoice, total }), String(total))
  t.end()
})

void t.test('nothing can be paid to an account that is none, nor what the scheme does not carry', (t) => {
  const made = (bankDetails: object, more: object = {}): unknown =>
    codeOf({ ...invoice, bankDetails: { ...invoice.bankDetails, ...bankDetails }, ...more })
  t.ok(made({}))
  t.equal(made({ iban: 'IE29AIBK93115212345679' }), undefined, 'wrong check digits')
  t.equal(made({ bic: 'AIB' }), undefined)
  t.equal(made({}, { number: 'x'.repeat(141) }), undefined)
  t.equal(made({ accountHolder: '' }, { seller: {} }), undefined)
  t.end()
})

void t.test('a code is left out without its value, and refused with one that it cannot hold', async (t) => {
  t.same(compiled([{ code: { qr: 'missing' } }, { code: { ean13: 'none' } }]).resolve({ none: '' }).body, [])
  has(t, await problemsOf([{ code: { ean13: 'a.b' } }], { a: { b: '123' } }), [{ path: '/a/b', code: 'bad_code' }])
  has(t, await problemsOf([{ code: { qr: 'a' } }], { a: 'x'.repeat(3000) }), [{ path: '/a', code: 'bad_code' }])
  has(t, await problemsOf([{ code: { qr: 'a' } }], { a: {} }), [{ path: '/a', code: 'not_text' }])
})

void t.test('a code is one of its kinds', (t) => {
  for (const code of [{}, { qr: 'a', epc: true as const }, { code128: 'a', ean13: 'a' }]) {
    has(t, faultsOf([{ code }]), [{ path: '/body/0/code', message: /Expected one of "qr"/ }])
  }
  t.end()
})

/** The rectangles (x, y, width, height) of every page's drawing, and whether it has pictures. */
async function drawn (body: Parameters<typeof pdfOf>[0], data: object): Promise<{ rectangles: number[][], hasPictures: boolean }> {
  const text = Buffer.from((await pdfOf(body, data)).bytes).toString('latin1')
  const streams = [...text.matchAll(/stream\n([^]*?)\nendstream/g)].map(([, data = '']) => data)
  const [content = ''] = streams.flatMap((data) =>
    data.startsWith('x') ? [inflateSync(Buffer.from(data, 'latin1')).toString('latin1')] : []
  ).filter((content) => content.includes(' re'))
  return { rectangles: rectanglesOf(content), hasPictures: text.includes('/Subtype /Image') }
}

/** In points from the top left corner of the page; those between `q` and `Q` have a unit and an origin of their own. */
function rectanglesOf (content: string): number[][] {
  return content.split(/^(?=[qQ]$)/m).flatMap((part) => {
    const own = part.startsWith('q') ? /^(\S+) 0 0 (\S+) (\S+) (\S+) cm$/m.exec(part)?.slice(1).map(Number) : undefined
    const [columns = 1, rows = 1, left = 0, top = 0] = own ?? []
    return [...part.matchAll(/^(\S+) (\S+) (\S+) (\S+) re$/gm)].map(([, ...numbers]) => {
      const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number)
      return [left + x * columns, top + y * rows, width * columns, height * rows]
    })
  })
}

void t.test('in a PDF a code is drawn in its size, as bars and not as a picture', async (t) => {
  const { rectangles: [ground = [], ...bars], hasPictures } = await drawn([{ code: { ean13: 'ean', width: 40, height: 20, align: 'end' } }],
    { ean: '4006381333931' })
  const millimetre = 72 / 25.4
  t.notOk(hasPictures)
  t.same(ground.map((value) => Math.round(value / millimetre)), [150, 20, 40, 20], 'at the right margin, on white ground')
  t.equal(bars.length, 30, 'the bars of an EAN')
  t.ok(Math.abs((bars[0]?.[0] ?? 0) - (150 + 40 * 11 / 113) * millimetre) < 0.01, 'behind the quiet zone')
})

void t.test('a code wider than its column becomes smaller as a whole', async (t) => {
  const { rectangles: [ground = []] } = await drawn([{
    columns: { gap: 0, items: [{ do: [{ code: { qr: 'v', width: 500 } }] }, { do: [] }] }
  }], { v: 'x' })
  t.same(ground.slice(2).map((value) => Math.round(value * 25.4 / 72)), [85, 85])
})

void t.test('what a barcode holds stands under it, in every format', async (t) => {
  const template = compiled([{ code: { code128: 'v', alt: 'Parcel' } }, { code: { qr: 'v', alt: 'Pay' } }])
  const { html, text, inline } = await made('html', template, { v: 'A-1' })
  contains(t, html, /<img src="cid:[^"]+" width="\d+" alt="Parcel"[^>]*><\/div>\n?<p [^>]*>A-1<\/p>/)
  t.equal(text, '[Parcel]\nA-1\n\n[Pay]\n')
  t.equal(inline.length, 2)
  t.equal((await made('text', template, { v: 'A-1' })).text, '[Parcel]\nA-1\n[Pay]')
})
