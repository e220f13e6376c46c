import { type PDFDict, PDFDocument, PDFName, PDFNumber } from '@cantoo/pdf-lib'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { joinPdfs, readPdf } from '../given/join-pdfs.ts'
import { pagesOf, pdfOf } from './support.ts'

const saying = async (text: string): Promise<Uint8Array> => (await pdfOf([{ paragraph: text }])).bytes

void t.test('PDFs are joined in their order, and the same ones give the same bytes', async (t) => {
  const all = await Promise.all(['one', 'two', 'three'].map(saying))
  const joined = await joinPdfs(all)
  has(t, joined, { ok: true, pages: 3 })
  if (!joined.ok) return
  t.same((await pagesOf(joined)).map((texts) => texts.map(({ text }) => text)), [['one'], ['two'], ['three']])
  t.same(await joinPdfs(all), joined)
})

void t.test('the pages of a PDF are measured as they are shown', async (t) => {
  const made = await PDFDocument.create()
  made.addPage([595, 842])
  made.addPage([595, 842]).setRotation({ type: 'degrees', angle: 90 } as never)
  made.addPage([595, 842]).setCropBox(10, 10, 300, 400)
  made.addPage([100, 200]).node.set(PDFName.of('UserUnit'), PDFNumber.of(2))
  t.same(await readPdf(await made.save()), {
    ok: true,
    signed: false,
    pages: [
      { width: 595, height: 842, plain: true },
      { width: 842, height: 595, plain: false },
      { width: 300, height: 400, plain: false },
      { width: 100, height: 200, plain: false }
    ]
  })
})

/** A PDF with a field for a signature; `signed`: with one in it. */
async function withSignatureField (signed: boolean): Promise<Uint8Array> {
  const pdf = await PDFDocument.load(await saying('x'))
  const { context, catalog } = pdf
  if (signed) context.register(context.obj({ Type: 'Sig', ByteRange: [0, 1, 2, 3] }))
  catalog.set(PDFName.of('AcroForm'), context.obj({ Fields: [], SigFlags: PDFNumber.of(1) }))
  return pdf.save()
}

void t.test('what is encrypted, signed, broken or has no pages is not joined, and it is said which one', async (t) => {
  const good = await saying('x')
  const locked = await PDFDocument.load(good)
  locked.encrypt({ ownerPassword: 'owner', userPassword: '' })
  const wrong: [pdf: Uint8Array, code: string][] = [[await locked.save(), 'encrypted_pdf'], [Buffer.from('%PDF-1.7'), 'unreadable_pdf'], [
    await withSignatureField(true),
    'signed_pdf'
  ]]
  for (const [pdf, code] of wrong) {
    has(t, await joinPdfs([good, pdf]), { ok: false, index: 1, problem: { code } }, code)
    has(t, await joinPdfs([pdf, good]), { ok: false, index: 0, problem: { code } }, code)
  }
  has(t, await readPdf(await withSignatureField(true)), { ok: true, signed: true })
  has(t, await joinPdfs([good, await withSignatureField(false)]), { ok: true, pages: 2 }, 'a field that nobody has signed')
  const unflagged = await PDFDocument.load(good)
  const { context } = unflagged
  const field = context.register(context.obj({ FT: 'Sig', V: { Type: 'Sig', ByteRange: [0, 1, 2, 3] } }))
  unflagged.catalog.set(PDFName.of('AcroForm'), context.obj({ Fields: [field] }))
  has(t, await readPdf(await unflagged.save()), { ok: true, signed: true }, 'some programs set no flag')
})

/** A PDF with something wrong in it. */
async function spoilt (spoil: (pdf: PDFDocument, page: PDFDict, tree: PDFDict) => void): Promise<Uint8Array> {
  const pdf = await PDFDocument.create()
  const { node } = pdf.addPage([595, 842])
  spoil(pdf, node, pdf.catalog.Pages())
  return pdf.save()
}

void t.test('what is odd in a PDF is a fault of that PDF, wherever it is found', async (t) => {
  const good = await saying('x')
  const of = (name: string) => PDFName.of(name)
  const odd: Record<string, (pdf: PDFDocument, page: PDFDict, tree: PDFDict) => void> = {
    'no size': (_pdf, page) => page.delete(of('MediaBox')),
    'half a size': ({ context }, page) => page.set(of('MediaBox'), context.obj([0, 0])),
    'turned by a word': (_pdf, page) => page.set(of('Rotate'), of('Left')),
    'a form that is none': ({ catalog }) => catalog.set(of('AcroForm'), PDFNumber.of(1)),
    'flags that are none': ({ catalog, context }) => catalog.set(of('AcroForm'), context.obj({ SigFlags: of('Yes') })),
    'pages above themselves': ({ catalog }, page, tree) => {
      page.delete(of('MediaBox'))
      const own = catalog.get(of('Pages'))
      if (own !== undefined) tree.set(of('Parent'), own)
    }
  }
  for (const [name, spoil] of Object.entries(odd)) {
    const pdf = await spoilt(spoil)
    has(t, await readPdf(pdf), { ok: false, problem: { code: 'unreadable_pdf' } }, name)
    const joined = await joinPdfs([good, pdf])
    t.ok(joined.ok || (joined.index === 1 && joined.problem.code === 'unreadable_pdf'), `${name}, joined`)
  }
})

void t.test('PDFs that are joined have no more pages together than one may have', async (t) => {
  const made = await PDFDocument.create()
  for (let page = 0; page < 1001; page++) made.addPage([595, 842])
  const half = await made.save()
  has(t, await joinPdfs([half, half]), { ok: false, index: 1, problem: { code: 'too_large' } })
})
