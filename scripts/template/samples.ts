import { type CompiledTemplate, compileTemplate, render, standalone, type TemplateFolder } from '@dispatch/documents'

/** A file with its name. */
export type SampleFiles = Readonly<Record<string, string | Uint8Array>>

/** The samples of a template as files, in every format for which the template is made. Throws a RenderError. */
export async function samplesIn ({ source, samples }: Pick<TemplateFolder, 'source' | 'samples'>, now: Date): Promise<SampleFiles> {
  const template = compileTemplate(source)
  const makers = source.documentType === 'E_INVOICE' ? [filesOf, eInvoicesOf] : [filesOf]
  const made = await Promise.all(
    Object.entries(samples).flatMap(([name, data]) => makers.map((make) => make(template, name, data, now.toISOString())))
  )
  return Object.assign({}, ...made) as SampleFiles
}

async function filesOf (template: CompiledTemplate, name: string, data: object, now: string): Promise<SampleFiles> {
  const [pdf, docx, xlsx, mail, message] = await Promise.all([
    render(template, { data, format: 'pdf', now }),
    render(template, { data, format: 'docx', now }),
    render(template, { data, format: 'xlsx', now }),
    render(template, { data, format: 'html', now }),
    render(template, { data, format: 'text', now })
  ])
  return {
    [`${name}.pdf`]: pdf.bytes,
    [`${name}.docx`]: docx.bytes,
    [`${name}.xlsx`]: xlsx.bytes,
    [`${name}.html`]: standalone(mail),
    [`${name}.mail.txt`]: mail.text,
    [`${name}.sms.txt`]: message.text
  }
}

async function eInvoicesOf (template: CompiledTemplate, name: string, data: object, now: string): Promise<SampleFiles> {
  const [facturX, ubl, cii] = await Promise.all([
    render(template, { data, format: 'factur-x', now }),
    render(template, { data, format: 'ubl', now }),
    render(template, { data, format: 'cii', now })
  ])
  return { [`${name}.factur-x.pdf`]: facturX.bytes, [`${name}.ubl.xml`]: ubl.bytes, [`${name}.cii.xml`]: cii.bytes }
}
