import { isRecord, pointer } from '@dispatch/common'
import { eInvoiceOf } from '@dispatch/einvoice'
import type { CompiledTemplate } from '../compile/compile.ts'
import { withSigners } from '../data/signers.ts'
import { plainDataOf, readingOf } from '../data/template-data.ts'
import { cjkLanguageOf, fontPackagesFor } from '../layout/fallback-fonts.ts'
import { facesFor } from '../layout/fonts.ts'
import { characterName, unshowable, UnshowableText } from '../layout/shape.ts'
import type { ResolvedDocument } from '../model/document.ts'
import { RenderError, renderError } from '../model/errors.ts'
import { type File, fileOf } from '../model/file-formats.ts'
import { renderDocx } from './docx.ts'
import { renderHtml } from './html.ts'
import type { Format, Rendered, RenderedFormats, RenderJob } from './job.ts'
import { type Archive, type Pdf, renderPdf } from './pdf.ts'
import { renderText } from './text.ts'
import { renderXlsx } from './xlsx.ts'

/** Makes the document of a template with data. All problems of the data are in one RenderError, with pointers into the data. */
export async function render<F extends Format> (
  template: CompiledTemplate,
  { data: given, format, now, signers, paper }: Omit<RenderJob<F>, 'template'>
): Promise<Rendered<F>> {
  const reading = readingOf(template.source, format)
  const invoice = reading === undefined ? undefined : eInvoiceOf(given, reading)
  const plain = invoice === undefined ? plainDataOf(template.source, given) : given
  const data = invoice?.data ?? (() => plain)
  const { archival = false } = template.source
  function page (): ResolvedDocument {
    const resolved = template.resolve(data(), paper)
    return signers === undefined ? resolved : withSigners(resolved, signers)
  }
  return makers[format](page, { data, now: new Date(now), archival, xml: invoice?.xml ?? '' })
}

/** `data` as the template reads them; `xml`: the XML of an e-invoice. */
type Making = { data: () => unknown, now: Date, archival: boolean, xml: string }
/** `page` evaluates the template with the data. An e-invoice that is XML only has no page. */
type Maker<F extends Format> = (page: () => ResolvedDocument, making: Making) => RenderedFormats[F] | Promise<RenderedFormats[F]>

const makers: { readonly [F in Format]: Maker<F> } = {
  pdf: (page, making) => makePdf('pdf', page(), making, making.archival ? {} : undefined),
  'factur-x': (page, making) => makePdf('factur-x', page(), making, { invoice: making.xml }),
  ubl: (_page, { xml }) => fileOf('ubl', new TextEncoder().encode(xml)),
  cii: (_page, { xml }) => fileOf('cii', new TextEncoder().encode(xml)),
  docx: (page, { now }) => fileOf('docx', renderDocx(page(), now)),
  xlsx: (page, { now }) => fileOf('xlsx', renderXlsx(page(), now)),
  html: (page) => renderHtml(page()),
  text: (page) => ({ text: renderText(page()) })
}

async function makePdf<F extends 'pdf' | 'factur-x'> (
  format: F,
  document: ResolvedDocument,
  { data, now }: Making,
  archive: Archive | undefined
): Promise<Pdf & File<F>> {
  try {
    const { bytes, ...facts } = await renderPdf(document, now, archive)
    return { ...fileOf(format, bytes), ...facts }
  } catch (error) {
    throw error instanceof UnshowableText ? unshowableData(error, data(), document) : error
  }
}

/** The places of characters that cannot be shown; the place is the template when the data do not contain them. */
function unshowableData (error: UnshowableText, data: unknown, { style, locale }: ResolvedDocument): RenderError {
  const faces = facesFor(style.font, {}, cjkLanguageOf(locale))
  const problems = textsOf(data, '').flatMap(({ text, at }) => {
    const characters = unshowable(text, faces)
    return characters.length === 0 ? [] : [{ path: at, code: 'unsupported_characters', message: sentence(characters, locale) }]
  })
  return problems.length > 0
    ? new RenderError(problems.slice(0, 100), { cause: error })
    : renderError('', 'unsupported_characters', sentence(error.characters, locale), error)
}

function sentence (characters: readonly string[], locale: string): string {
  const named = characters.slice(0, 20).map(characterName).join(', ')
  const missing = fontPackagesFor(characters, locale)
  const remedy = missing.length === 0
    ? 'there is no font for them'
    : `the operator installs fonts for them with "npm install --ignore-scripts ${
      missing.join(' ')
    }" in the folder of the service, and starts `
      + 'it again'
  return `The PDF cannot show ${named}${characters.length > 20 ? ', …' : ''}: ${remedy}.`
}

function textsOf (value: unknown, at: string): { text: string, at: string }[] {
  if (typeof value === 'string') return [{ text: value, at }]
  if (Array.isArray(value)) return value.flatMap((item, index) => textsOf(item, pointer(at, index)))
  return isRecord(value) ? Object.entries(value).flatMap(([name, field]) => textsOf(field, pointer(at, name))) : []
}
