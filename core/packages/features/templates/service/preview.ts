import { cleanFilename, isServiceName, services } from '@dispatch/core'
import { type FileFormat, fileFormats, type Format, type Rendered, type RenderJob, standalone,
  type TemplateSource } from '@dispatch/documents'
import type { PreviewFormat } from '../contract/templates.ts'

/** A preview of a document: a file. */
export type Preview = { bytes: Uint8Array, contentType: string, filename: string }

/** Renders a document, or returns a RenderError when the data cannot be rendered. */
type Render = <F extends Format>(job: RenderJob<F>) => Promise<Rendered<F>>

const files: Readonly<Partial<Record<PreviewFormat, FileFormat>>> = { PDF: 'pdf', DOCX: 'docx', XLSX: 'xlsx' }

/** The format that a dispatch renders from each kind of template. */
const usual = { document: 'PDF', message: 'HTML', text: 'TEXT', upload: 'PDF' } as const satisfies Record<string, PreviewFormat>

/** The format in which a dispatch renders a template. */
export function usualFormat ({ service }: Pick<TemplateSource, 'service'>): PreviewFormat {
  return usual[isServiceName(service) ? services[service].content : 'document']
}

/** The renderer's name of a format. */
export function renderedAs (format: PreviewFormat): Format {
  return files[format] ?? (format === 'TEXT' ? 'text' : 'html')
}

/** Renders a template with data into a file, without dispatching it. */
export async function makePreview (render: Render, job: Omit<RenderJob, 'format'>, format: PreviewFormat): Promise<Preview> {
  const named = (extension: string): string => cleanFilename(job.template.source.name, extension) ?? `preview.${extension}`
  const file = files[format]
  if (file !== undefined) {
    const { bytes, contentType } = await render({ ...job, format: file })
    return { bytes, contentType, filename: named(fileFormats[file].extension) }
  }
  if (format === 'TEXT') {
    return {
      bytes: Buffer.from((await render({ ...job, format: 'text' })).text),
      contentType: 'text/plain; charset=utf-8',
      filename: named('txt')
    }
  }
  return {
    bytes: Buffer.from(standalone(await render({ ...job, format: 'html' }))),
    contentType: 'text/html; charset=utf-8',
    filename: named('html')
  }
}
