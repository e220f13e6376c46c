import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { readInvoice, UnreadableInvoice, writeInvoice } from '../index.ts'
import { modernPdfWith, pdfOf, pdfWith, streamOf } from './pdf-support.ts'
import { plain } from './support.ts'

const xml = Buffer.from(writeInvoice({ ...plain, currency: 'EUR' }, 'EN16931'))

function refused (bytes: Buffer): string {
  try {
    readInvoice(bytes)
    return 'read'
  } catch (error) {
    return error instanceof UnreadableInvoice ? `${error.code}: ${error.message}` : String(error)
  }
}

void t.test('the XML in a PDF is read by its names, from old and from new tables of objects', (t) => {
  for (const name of ['factur-x.xml', 'ZUGFeRD-invoice.xml', 'xrechnung.xml']) {
    for (const pdf of [pdfWith(xml, name), modernPdfWith(xml, name), Buffer.concat([Buffer.from('junk\n'), pdfWith(xml, name)])]) {
      const file = readInvoice(pdf)
      t.strictSame([file.format, file.embedded, file.profile, file.data['number'], file.lost], ['FACTUR_X', name, 'EN16931', 'F-1', []])
    }
  }
  t.end()
})

void t.test('a later version of the PDF is the one that counts', (t) => {
  const first = pdfWith(Buffer.from('<old/>'))
  const old = /startxref\n(\d+)/.exec(first.toString('latin1'))?.[1] ?? ''
  const added = Buffer.concat([Buffer.from('4 0 obj\n'), streamOf(xml), Buffer.from('\nendobj\n')])
  const table = `xref\n4 1\n${String(first.length).padStart(10, '0')} 00000 n \ntrailer\n<< /Size 5 /Root 1 0 R /Prev ${old} >>\n`
  const later = Buffer.concat([first, added, Buffer.from(`${table}startxref\n${first.length + added.length}\n%%EOF`)])
  t.equal(readInvoice(later).data['number'], 'F-1')
  t.end()
})

void t.test('PDFs without an invoice, damaged, encrypted or hostile ones are refused', (t) => {
  contains(t, refused(pdfWith(xml, 'notes.xml')), /^no_invoice: .* \(factur-x.xml, zugferd-invoice.xml, xrechnung.xml\) but "notes.xml"\.$/)
  contains(t, refused(pdfOf(['<< /Type /Catalog >>'])), /^no_invoice: .* but no file\.$/)
  contains(t, refused(pdfWith(xml, 'factur-x.xml', '/Root 1 0 R /Encrypt << >>')), /^encrypted/)
  contains(t, refused(pdfWith(Buffer.from('<x:SCRDMCCBDACIOMessageStructure xmlns:x="u"/>'), 'order-x.xml')),
    /^not_an_invoice: The XML is an order/)
  contains(t, refused(Buffer.from('%PDF-1.7\nnothing')), /^not_a_pdf/)
  contains(t, refused(pdfWith(xml).subarray(0, 500)), /^not_a_pdf/)
  contains(t, refused(pdfWith(Buffer.alloc(26 * 1024 * 1024))), /^too_large: The PDF unpacks to more than 25 MiB/)
  // References, trees and tables that lead to themselves.
  contains(t, refused(pdfOf(['1 0 R'])), /^no_invoice/)
  contains(t, refused(pdfOf(['<< /Names << /EmbeddedFiles 2 0 R >> >>', '<< /Kids [2 0 R 3 0 R] >>', '<< /Kids [2 0 R] >>'])),
    /^no_invoice/)
  contains(t, refused(pdfOf(['<< /Names << /EmbeddedFiles 2 0 R >> >>', '<< /Length 2 0 R >>\nstream\nx'])), /^no_invoice/)
  const looping = pdfWith(xml).toString('latin1')
  const start = /startxref\n(\d+)/.exec(looping)?.[1] ?? ''
  t.equal(readInvoice(Buffer.from(looping.replace('/Root 1 0 R', `/Prev ${start} /Root 1 0 R`), 'latin1')).data['number'], 'F-1')
  contains(t, refused(pdfOf([`${'['.repeat(200)}${']'.repeat(200)}`])), /^too_large/)
  contains(t, refused(pdfOf(['<< /Root (((( >>'])), /^not_a_pdf/)
  t.end()
})

void t.test('a file that is cut or changed anywhere is read or refused, and nothing else', (t) => {
  const pdf = modernPdfWith(xml, 'factur-x.xml')
  for (let at = 0; at < pdf.length; at += 7) {
    const changed = Buffer.from(pdf)
    changed[at] = (changed[at] ?? 0) ^ 0x15
    for (const bytes of [changed, pdf.subarray(0, at)]) contains(t, refused(bytes), /^(read$|[a-z_]+: )/)
  }
  t.end()
})
