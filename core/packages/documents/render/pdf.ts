import { finished } from 'node:stream/promises'
import PDFDocument from 'pdfkit'
import { isCmyk } from '../image/jpeg.ts'
import type { Face } from '../layout/fonts.ts'
import { layOutPages } from '../layout/pages.ts'
import type { SignatureBox, Surface } from '../layout/surface.ts'
import type { ImageData, ResolvedDocument } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { archiveMetadata, invoiceMetadata } from './archive.ts'
import { type EmbeddedFont, textOperators, typeOperator } from './glyphs.ts'

/** A PDF as bytes that own their memory, so that they can be transferred to another thread. `signatures` are in the order of the pages. */
export type Pdf = { bytes: Uint8Array<ArrayBuffer>, pages: number, signatures: SignatureField[] }

/**
 * The place of a signature: the signer (from 1), the page (from 1) with its size, and the rectangle in points from the top left corner of
 * the page.
 */
export type SignatureField = SignatureBox & { page: number, pageSize: { width: number, height: number } }

/** A PDF for archives (PDF/A-3b). `invoice` is the CII that it contains, which makes it a Factur-X, and its level of conformance. */
export type Archive = { invoice?: { xml: string, conformance: string } }

/**
 * Makes a PDF with its fonts embedded as subsets. The same document and time give the same bytes. Throws a RenderError when it does not fit
 * on pages, and an UnshowableText when no font has one of its characters.
 */
export async function renderPdf (document: ResolvedDocument, now: Date, archive?: Archive): Promise<Pdf> {
  const pages = layOutPages(document)
  const pdf = archive === undefined ? open(document, now) : openArchive(document, now, archive)
  const bytes = collect(pdf)
  // A picture of a header is put into the file once, and not once for each page.
  const pictures: Pictures = new Map()
  const signatures: SignatureField[] = []
  const pageSize = { width: hundredths(document.page.width), height: hundredths(document.page.height) }
  for (const [index, page] of pages.entries()) {
    pdf.addPage()
    const drawing = surfaceOf(pdf, pictures)
    page.paint({
      ...archive === undefined ? drawing : inRgb(drawing),
      signature: (place) => {
        signatures.push({ page: index + 1, ...rounded(place), pageSize })
      }
    })
  }
  pdf.end()
  return { bytes: await bytes, pages: pages.length, signatures }
}

function rounded ({ signer, x, y, width, height }: SignatureBox): SignatureBox {
  return { signer, x: hundredths(x), y: hundredths(y), width: hundredths(width), height: hundredths(height) }
}

/** Hundredths of a point are finer than any printer, and more readable than sums with rounding errors. */
function hundredths (value: number): number {
  return Math.round(value * 100) / 100
}

function open ({ title, author, ...document }: ResolvedDocument, now: Date): PDFKit.PDFDocument {
  return new PDFDocument({ ...optionsOf(document), info: { ...infoOf(now), Title: title, ...(author === '' ? {} : { Author: author }) } })
}

/** Title and author are in the XMP packet only, because pdfkit would copy them there without escaping them. */
function openArchive (document: ResolvedDocument, now: Date, { invoice }: Archive): PDFKit.PDFDocument {
  const pdf = new PDFDocument({ ...optionsOf(document), pdfVersion: '1.7', subset: 'PDF/A-3b', info: infoOf(now) })
  pdf.appendXML(archiveMetadata(document))
  if (invoice !== undefined) {
    const { xml, conformance } = invoice
    pdf.appendXML(invoiceMetadata(conformance))
    // Factur-X requires `relationship` (AFRelationship); the types of pdfkit do not have it. An XML without lines is no invoice itself.
    const relation = { relationship: ['MINIMUM', 'BASIC WL'].includes(conformance) ? 'Data' : 'Alternative' }
    pdf.file(Buffer.from(xml), {
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
    // No standard font is used: standard fonts are not embedded, and cannot show characters outside of Windows-1252.
    font: '',
    lang: locale,
    displayTitle: true
  }
}

function infoOf (now: Date): PDFKit.DocumentInfo {
  return { Producer: 'Document Dispatch', Creator: 'Document Dispatch', CreationDate: now }
}

/** The pictures of a file in pdfkit's form. */
type Pictures = Map<ImageData, PDFKit.Mixins.ImageSrc>

/** The last added page, which begins without colours. A colour is written only when it changes. */
function surfaceOf (pdf: PDFKit.PDFDocument, pictures: Pictures): Omit<Surface, 'signature'> {
  let fill = ''
  let stroke = ''
  let type = ''
  return {
    text ({ text, face, size, color }, x, y) {
      if (color !== fill) pdf.fillColor(color)
      fill = color
      const font = embedded(pdf, face)
      const desired = typeOperator(font, size)
      if (desired !== type) write(pdf, desired)
      type = desired
      write(pdf, textOperators(font, text, size, x, y))
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
      // A scanner needs the light background, whatever else is painted there.
      pdf.rect(x, y, width, height).fill('#ffffff')
      // One path for all modules, so that no seam is visible between adjacent bars. Its unit is a module, so that its numbers are short.
      pdf.save().transform(width / columns, 0, 0, height / rows, x, y)
      write(pdf, dark.map((bar) => `${bar.x} ${bar.y} ${bar.width} ${bar.height} re`).join('\n'))
      pdf.fill('#000000').restore()
    },
    rotated (degrees, x, y, draw) {
      pdf.save().rotate(degrees, { origin: [x, y] })
      draw()
      pdf.restore()
      fill = ''
      stroke = ''
      type = ''
    },
    link (x, y, width, height, url) {
      pdf.link(x, y, width, height, url)
    }
  }
}

/** Adds operators to the last page, as bytes: pdfkit converts a text character by character. */
function write (pdf: PDFKit.PDFDocument, operators: string): void {
  pdf.addContent(Buffer.from(`${operators}\n`, 'latin1'))
}

/** The picture in pdfkit's form. Its types do not say that a picture can be opened without being drawn. */
function openImage (pdf: PDFKit.PDFDocument, { bytes }: ImageData): PDFKit.Mixins.ImageSrc {
  return (pdf as PDFKit.PDFDocument & { openImage: (bytes: Buffer) => PDFKit.Mixins.ImageSrc }).openImage(Buffer.from(bytes))
}

/** The colours of a PDF/A are those of its output intent, which is sRGB. */
function inRgb<Drawing extends Pick<Surface, 'image'>> (drawing: Drawing): Drawing {
  return {
    ...drawing,
    image (image, ...place) {
      if (isCmyk(image)) {
        throw renderError('', 'not_archival', 'A picture has CMYK colours, which a PDF/A in sRGB cannot contain; save it as RGB.')
      }
      drawing.image(image, ...place)
    }
  }
}

/** The face in the file, and in the resources of its last page. */
function embedded (pdf: PDFKit.PDFDocument, { name, font }: Face): EmbeddedFont {
  // pdfkit accepts any object that lays out text as a font; its types accept only the bytes of a font file.
  const source = font as unknown as PDFKit.Mixins.PDFFontSource
  // The third argument is pdfkit's cache key. Without it, every use would parse and embed the font again.
  pdf.registerFont(name, source, name).font(name)
  const { _font: used } = pdf as PDFKit.PDFDocument & { _font: EmbeddedFont }
  const { fonts } = pdf.page as { fonts: Record<string, unknown> }
  fonts[used.id] ??= used.ref()
  return used
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
