import { compileTemplate, type CompiledTemplate } from '../../core/documents/compile.ts'
import type { TemplateFolder } from '../../core/documents/folder.ts'
import { render } from '../../core/documents/render.ts'

/** A file by its name. */
export type Files = Readonly<Record<string, string | Uint8Array>>

/** The samples of a template in every format that it is made for, as files. Throws a RenderError. */
export async function samplesIn ({ source, samples }: Pick<TemplateFolder, 'source' | 'samples'>, now: Date): Promise<Files> {
  const template = compileTemplate(source)
  const makers = source.documentType === 'E_INVOICE' ? [filesOf, eInvoicesOf] : [filesOf]
  const made = await Promise.all(Object.entries(samples).flatMap(([name, data]) => makers.map((make) => make(template, name, data, now.toISOString()))))
  return Object.assign({}, ...made) as Files
}

async function filesOf (template: CompiledTemplate, name: string, data: object, now: string): Promise<Files> {
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
    [`${name}.html`]: withPictures(mail),
    [`${name}.mail.txt`]: mail.text,
    [`${name}.sms.txt`]: message.text
  }
}

async function eInvoicesOf (template: CompiledTemplate, name: string, data: object, now: string): Promise<Files> {
  const [facturX, ubl, cii] = await Promise.all([
    render(template, { data, format: 'factur-x', now }),
    render(template, { data, format: 'ubl', now }),
    render(template, { data, format: 'cii', now })
  ])
  return { [`${name}.factur-x.pdf`]: facturX.bytes, [`${name}.ubl.xml`]: ubl.bytes, [`${name}.cii.xml`]: cii.bytes }
}

/** A mail has its pictures as parts of their own; a page has them inside. */
function withPictures ({ html, inline }: { html: string, inline: readonly { cid: string, contentType: string, bytes: Uint8Array }[] }): string {
  return inline.reduce((page, { cid, contentType, bytes }) => page.replaceAll(`cid:${cid}`, `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`), html)
}
