import { PDFDocument } from '@cantoo/pdf-lib'
import type { Problem } from '@dispatch/common'
import { showablePdf } from '../formats/showable-pdf.ts'
import type { EnvelopeWindow, ResolvedDocument } from '../model/document.ts'
import { RenderError } from '../model/errors.ts'
import { type PaperSize, sheets } from '../model/paper.ts'
import { styleOf } from '../model/style.ts'
import { openPdf, type PdfFault, unusable } from './open-pdf.ts'

/** A page with an address, line by line. `blankBack`: its back stays empty where a letter is printed on both sides. */
export type AddressPage = { lines: readonly string[], window: EnvelopeWindow, paper: PaperSize, blankBack: boolean }

/** The letter with its page, in memory of its own; or why there is none, and which of the two is at fault. */
export type Addressed = { ok: true, bytes: Uint8Array<ArrayBuffer> } | { ok: false, of: 'pdf' | 'address', problem: Omit<Problem, 'path'> }

/** Puts a page with an address before a PDF; without one, before nothing. The same PDF and address give the same bytes. */
export async function addressPdf (pdf: Uint8Array | undefined, page: AddressPage): Promise<Addressed> {
  const first = await firstPage(page)
  if (!first.ok) return { ...first, of: 'address' }
  const whole = pdf === undefined
    ? await withPage(await PDFDocument.create({ updateMetadata: false }), first.bytes, page)
    : await openPdf(pdf, 'no page with the address can be put before it', (letter) => withPage(letter, first.bytes, page))
  return whole.ok ? whole : { ...whole, of: 'pdf' }
}

async function withPage (
  letter: PDFDocument,
  made: Uint8Array,
  { blankBack }: AddressPage
): Promise<{ ok: true, bytes: Uint8Array<ArrayBuffer> }> {
  // The page takes over nothing of the file that it was made as, such as its time.
  const [first] = await letter.copyPages(await PDFDocument.load(made), [0])
  if (first === undefined) throw new Error('The page of an address has no page.')
  letter.insertPage(0, first)
  if (blankBack) letter.insertPage(1, [first.getWidth(), first.getHeight()])
  return { ok: true, bytes: Uint8Array.from(await letter.save({ updateFieldAppearances: false })) }
}

/** The page as a PDF of its own, or why it has no room for the address. */
async function firstPage (page: AddressPage): Promise<{ ok: true, bytes: Uint8Array } | PdfFault> {
  try {
    const { bytes } = await showablePdf(pageOf(page), { data: () => ({ lines: page.lines }), now: new Date() }, undefined)
    return { ok: true, bytes }
  } catch (error) {
    const [problem] = error instanceof RenderError ? error.problems : []
    if (problem === undefined) throw error
    return unusable(problem.code, problem.message)
  }
}

/** In the size of letters, which is fitted where the address is long. */
const style = styleOf({ size: 11, text: '#000000' })

function pageOf ({ lines, window, paper }: AddressPage): ResolvedDocument {
  const [width, height] = sheets[paper]
  return {
    title: '',
    author: '',
    preheader: '',
    locale: 'en',
    page: { width, height, top: 0, right: 0, bottom: 0, left: 0 },
    style,
    header: [],
    footer: [],
    body: [{ kind: 'address', window, lines: lines.map((text) => [{ text }]), sender: [], beside: [] }]
  }
}
