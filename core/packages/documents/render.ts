import { eInvoiceOf } from '@dispatch/einvoice'
import type { CompiledTemplate } from './compile/compile.ts'
import { withSigners } from './data/signers.ts'
import { plainDataOf, readingOf } from './data/template-data.ts'
import { type Format, formatFacts } from './formats/file-formats.ts'
import type { Maker } from './formats/format.ts'
import type { Rendered, RenderJob } from './job.ts'
import type { ResolvedDocument } from './model/document.ts'

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
  const { xml = '', conformance = '' } = invoice ?? {}
  const made = await makers[format](page, { data, now: new Date(now), archival, xml, conformance })
  const { file } = formatFacts[format]
  return (file === undefined ? made : { ...made as object, contentType: file.contentType }) as Rendered<F>
}

/** Loaded with the first document, and then all: none waits for its maker. */
const makers = Object.fromEntries(
  await Promise.all(Object.entries(formatFacts).map(async ([name, { make }]) => [name, (await make()).make] as const))
) as Readonly<Record<Format, Maker<unknown>>>
