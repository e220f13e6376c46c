import { finished } from 'node:stream/promises'
import PDFDocument from 'pdfkit'
import { isCmyk } from '../image/jpeg.ts'
import type { Face } from '../layout/fonts.ts'
import { layOutPages } from '../layout/pages.ts'
import type { SignatureBox, Surface } from '../layout/surface.ts'
import type { ImageData, ResolvedDocument } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { archiveMetadata, invoiceMetadata } from './archive.ts'

/** A PDF as bytes that own their memory, so that they can be moved to another thread; `signatures` in the order of the pages. */
export type Pdf = { bytes: Uint8Array<ArrayBuffer>, pages: number, signatures: SignatureField[] }

/** Where a signer (from 1) signs: the page (from 1) and the rectangle, in points from its top left corner. */
export type SignatureField = SignatureBox & { page: number }

/** A PDF for archives (PDF/A-3b); `invoice` is the CII that it carries, which makes it a Factur-X. */
export type Archive = { invoice?: string }

/**
 * Makes a PDF with its fonts embedded as subsets; the same document and time give the same bytes. A RenderError when it
 * does not fit on pages, an UnshowableText when it has characters that no font can show.
 */
export async function renderPdf (document: ResolvedDocument, now: Date, archive?: Archive): Promise<Pdf> {
  const pages = layOutPages(document)
  const pdf = archive === undefined ? open(document, now) : openArchive(document, now, archive)
  const bytes = collect(pdf)
  // A picture of a header is put into the file once, and not once for each page.
  const pictures: Pictures = new Map()
  const signatures: SignatureField[] = []
  for (const [index, page] of pages.entries()) {
    pdf.addPage()
    const drawing = surfaceOf(pdf, pictures)
    page.paint({
      ...archive === undefined ? drawing : inRgb(drawing),
      signature: (place) => {
        signatures.push({ page: index + 1, ...rounded(place) })
      }
    })
  }
  pdf.end()
  return { bytes: await bytes, pages: pages.length, signatures }
}

/** Hundredths of a point are finer than any printer, and read better than the sums of roundings. */
function rounded ({ signer, x, y, width, height }: SignatureBox): SignatureBox {
  const hundredths = (value: number): number => Math.round(value * 100) / 100
  return { signer, x: hundredths(x), y: hundredths(y), width: hundredths(width), height: hundredths(height) }
}

function open ({ title, author, ...document }: ResolvedDocument, now: Date): PDFKit.PDFDocument {
  return new PDFDocument({ ...optionsOf(document), info: { ...infoOf(now), Title: title, ...(author === '' ? {} : { Author: author }) } })
}

/** Title and author stand in the XMP packet alone: pdfkit would copy them there without escaping them. */
function openArchive (document: ResolvedDocument, now: Date, { invoice }: Archive): PDFKit.PDFDocument {
  const pdf = new PDFDocument({ ...optionsOf(document), pdfVersion: '1.7', subset: 'PDF/A-3b', info: infoOf(now) })
  pdf.appendXML(archiveMetadata(document))
  if (invoice !== undefined) {
    pdf.appendXML(invoiceMetadata)
    // `relationship` is what Factur-X asks for (AFRelationship); the types of pdfkit do not know it.
    const relation = { relationship: 'Alternative' }
    pdf.file(Buffer.from(invoice), {
      name: 'factur-x.xml',
      type: 'text/xml',
      description: 'Factur-X',
      creationDate: now,
      modifiedDate: now,
      ...relation
    })
  }
  return pdf
}

function optionsOf ({ locale, page }: Pick<ResolvedDocument, 'locale' | 'page'>): PDFKit.PDFDocumentOptions {
  return {
    size: [page.width, page.height],
    margin: 0,
    autoFirstPage: false,
    // No standard font: those are not embedded, and print garbage outside of Windows-1252.
    font: '',
    lang: locale,
    displayTitle: true
  }
}

function infoOf (now: Date): PDFKit.DocumentInfo {
  return { Producer: 'Document Dispatch', Creator: 'Document Dispatch', CreationDate: now }
}

/** The pictures of a file, as pdfkit keeps them. */
type Pictures = Map<ImageData, PDFKit.Mixins.ImageSrc>

/** The page that was added last, which begins without colours. They are written when they change. */
function surfaceOf (pdf: PDFKit.PDFDocument, pictures: Pictures): Omit<Surface, 'signature'> {
  let fill = ''
  let stroke = ''
  return {
    text ({ text, face, size, color, width }, x, y) {
      if (color !== fill) pdf.fillColor(color)
      fill = color
      // The third argument is pdfkit's cache key: without it every use would parse and embed the font again.
      pdf.registerFont(face.name, fontSource(face), face.name).font(face.name, size)
      // `textWidth` and `wordCount` spare pdfkit from measuring again; its types do not know them.
      const measured = { textWidth: width, wordCount: 1 }
      pdf.text(text, x, y, { lineBreak: false, baseline: 'alphabetic', ...measured })
    },
    rule (x, y, width, thickness, color) {
      if (color !== stroke) pdf.strokeColor(color)
      stroke = color
      pdf.moveTo(x, y).lineTo(x + width, y).lineWidth(thickness).stroke()
    },
    image (image, x, y, width, height) {
      const opened = pictures.get(image) ?? openImage(pdf, image)
      pictures.set(image, opened)
      pdf.image(opened, x, y, { width, height })
    },
    modules ({ columns, rows, dark }, x, y, width, height) {
      fill = ''
      const [module, row] = [width / columns, height / rows]
      // White behind it: a scanner needs the light ground, whatever else is painted there.
      pdf.rect(x, y, width, height).fill('#ffffff')
      // One path for all: bars that touch must not show a seam between them.
      for (const bar of dark) pdf.rect(x + bar.x * module, y + bar.y * row, bar.width * module, bar.height * row)
      pdf.fill('#000000')
    },
    rotated (degrees, x, y, draw) {
      pdf.save().rotate(degrees, { origin: [x, y] })
      draw()
      pdf.restore()
      fill = ''
      stroke = ''
    },
    link (x, y, width, height, url) {
      pdf.link(x, y, width, height, url)
    }
  }
}

/** The picture as pdfkit keeps it; its types do not know that it can be had without being drawn. */
function openImage (pdf: PDFKit.PDFDocument, { bytes }: ImageData): PDFKit.Mixins.ImageSrc {
  return (pdf as PDFKit.PDFDocument & { openImage: (bytes: Buffer) => PDFKit.Mixins.ImageSrc }).openImage(Buffer.from(bytes))
}

/** The colours of a PDF/A are those of its output intent, which is sRGB. */
function inRgb<Drawing extends Pick<Surface, 'image'>> (drawing: Drawing): Drawing {
  return {
    ...drawing,
    image (image, ...place) {
      if (isCmyk(image)) {
        throw renderError('', 'not_archival',
          'A picture has the colours of print (CMYK), which a PDF/A of sRGB cannot have; save it as RGB.')
      }
      drawing.image(image, ...place)
    }
  }
}

/** pdfkit takes any object that lays text out as a font; its types know only the bytes of a font file. */
function fontSource ({ font }: Face): PDFKit.Mixins.PDFFontSource {
  return font as unknown as PDFKit.Mixins.PDFFontSource
}

async function collect (pdf: PDFKit.PDFDocument): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  pdf.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk)
    size += chunk.length
  })
  await finished(pdf, { writable: false })
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
