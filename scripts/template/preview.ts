import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileTemplate } from '../../core/documents/compile.ts'
import { readTemplateFolder } from '../../core/documents/folder.ts'
import { render } from '../../core/documents/render.ts'

/** A file of a preview, by its name. */
type Files = Readonly<Record<string, string | Uint8Array>>

/** Writes every sample of a template's folder in every format into a directory; resolves to the names of the files. Throws a TemplateError or a RenderError. */
export async function preview (folder: string, directory: string, now: Date): Promise<string[]> {
  const { source, samples } = await readTemplateFolder(folder)
  const template = compileTemplate(source)
  await mkdir(directory, { recursive: true })
  const written = await Promise.all(Object.entries(samples).map(async ([name, data]) => {
    const files = await filesOf(template, name, data, now.toISOString())
    for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content)
    return Object.keys(files)
  }))
  return written.flat()
}

async function filesOf (template: ReturnType<typeof compileTemplate>, name: string, data: object, now: string): Promise<Files> {
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

/** A mail names its pictures as its parts; a page has them inside. */
function withPictures ({ html, inline }: { html: string, inline: readonly { cid: string, contentType: string, bytes: Uint8Array }[] }): string {
  return inline.reduce((page, { cid, contentType, bytes }) => page.replaceAll(`cid:${cid}`, `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`), html)
}
