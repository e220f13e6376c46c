import { PDFDocument } from '@cantoo/pdf-lib'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { type AddressPage, addressPdf } from '../given/address-page.ts'
import { pagesOf, pdfOf } from './support.ts'

const millimetre = 72 / 25.4
const lines = ['Analytical Engines', 'Ada Lovelace', '12 rue de la Paix', '75002 Paris', 'FRANCE']
const page: AddressPage = { lines, window: { left: 22, top: 50, width: 80, height: 28 }, paper: 'A4', blankBack: false }

async function addressed (pdf: Uint8Array, changes: Partial<AddressPage> = {}): Promise<Uint8Array> {
  const made = await addressPdf(pdf, { ...page, ...changes })
  if (!made.ok) throw new Error(made.problem.message)
  return made.bytes
}

void t.test('a page with the address comes before a PDF, within the window that the envelope has', async (t) => {
  const letter = (await pdfOf([{ paragraph: 'Dear Ada' }, { pageBreak: true }, { paragraph: 'Yours' }])).bytes
  for (const window of [page.window, { left: 120, top: 45, width: 60, height: 40 }]) {
    const pages = await pagesOf({ bytes: await addressed(letter, { window }) })
    t.same(pages.map((texts) => texts.map(({ text }) => text)), [lines, ['Dear Ada'], ['Yours']])
    for (const { x, y, right } of pages[0] ?? []) {
      t.ok(x >= window.left * millimetre - 0.1 && right <= (window.left + window.width) * millimetre)
      t.ok(y >= window.top * millimetre && y <= (window.top + window.height) * millimetre)
    }
  }
  const both = await pagesOf({ bytes: await addressed(letter, { blankBack: true, paper: 'Letter' }) })
  t.same(both.map((texts) => texts.length), [5, 0, 1, 1], 'where both sides are printed, its back is empty')
  t.same((await PDFDocument.load(await addressed(letter, { paper: 'Letter' }))).getPage(0).getSize(), { width: 612, height: 792 })
})

void t.test('the same letter and address are the same bytes, and other scripts are shown', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'x' }])
  t.same(await addressed(bytes), await addressed(bytes))
  const [first] = await pagesOf({ bytes: await addressed(bytes, { lines: ['Łódź', 'Ωμέγα', 'Санкт-Петербург'] }) })
  t.same(first?.map(({ text }) => text), ['Łódź', 'Ωμέγα', 'Санкт-Петербург'])
})

void t.test('a PDF whose objects are compressed takes the page, too', async (t) => {
  const packed = await (await PDFDocument.load((await pdfOf([{ paragraph: 'packed' }])).bytes)).save({ useObjectStreams: true })
  t.same((await pagesOf({ bytes: await addressed(packed) })).map((texts) => texts.length), [5, 1])
})

void t.test('what is no PDF, is encrypted or is addressed at too great length is refused', async (t) => {
  const { bytes } = await pdfOf([{ paragraph: 'x' }])
  const locked = await PDFDocument.load(bytes)
  locked.encrypt({ ownerPassword: 'owner', userPassword: '' })
  has(t, await addressPdf(await locked.save(), page), { ok: false, of: 'pdf', problem: { code: 'encrypted_pdf' } })
  for (const broken of ['', '%PDF-1.7', 'hello', Buffer.from(bytes).subarray(0, 300).toString('latin1')]) {
    has(t, await addressPdf(Buffer.from(broken, 'latin1'), page), { ok: false, problem: { code: 'unreadable_pdf' } })
  }
  const long = Array.from({ length: 40 }, (_, index) => `Line ${String(index)}`)
  has(t, await addressPdf(bytes, { ...page, lines: ['\u{10ffff}'] }), { ok: false, problem: { code: 'unsupported_characters' } })
  for (const pdf of [bytes, undefined]) {
    has(t, await addressPdf(pdf, { ...page, lines: long }), { ok: false, of: 'address', problem: { code: 'no_room' } })
  }
  has(t, await addressPdf(undefined, page), { ok: true }, 'an address can be tried before there is a letter')
})
