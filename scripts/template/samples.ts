import { compileTemplate, eInvoiceFileFormats, type Format, formatFacts, render, type Rendered, standalone,
  type TemplateFolder } from '@dispatch/documents'

/** A file with its name. */
export type SampleFiles = Readonly<Record<string, string | Uint8Array>>

/** The samples of a template as files, in every format for which the template is made. Throws a RenderError. */
export async function samplesIn ({ source, samples }: Pick<TemplateFolder, 'source' | 'samples'>, now: Date): Promise<SampleFiles> {
  const template = compileTemplate(source)
  const fitting = Object.keys(formatFacts).filter((format): format is Format =>
    source.documentType === 'E_INVOICE' || !(format in eInvoiceFileFormats)
  )
  const made = await Promise.all(
    Object.entries(samples).flatMap(([name, data]) =>
      fitting.map(async (format) => filesOf(name, format, await render(template, { data, format, now: now.toISOString() })))
    )
  )
  return Object.assign({}, ...made) as SampleFiles
}

function filesOf (name: string, format: Format, made: Rendered): SampleFiles {
  if ('html' in made) return { [`${name}.html`]: standalone(made), [`${name}.mail.txt`]: made.text }
  if ('text' in made) return { [`${name}.sms.txt`]: made.text }
  const { extension = '' } = formatFacts[format].file ?? {}
  return { [`${name}.${format === extension ? '' : `${format}.`}${extension}`]: made.bytes }
}
