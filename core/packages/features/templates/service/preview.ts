import { apiFormats, apiNameOf, type Format, formatFacts, type Rendered, type RenderJob, standalone, type TemplateSource, usualApiFormat,
  usualFormats } from '@dispatch/documents'
import { cleanFilename, isServiceName, madeAs } from '@dispatch/services'
import type { PreviewFormat } from '../contract/templates.ts'

/** A preview of a document: a file. `subject`: of the mail, where the template makes it. */
export type Preview = { bytes: Uint8Array, contentType: string, filename: string, subject?: string }

/** Renders a document, or returns a RenderError when the data cannot be rendered. */
type Render = <F extends Format>(job: RenderJob<F>) => Promise<Rendered<F>>

/** The format in which a dispatch renders a template. */
export function usualFormat ({ service }: Pick<TemplateSource, 'service'>): PreviewFormat {
  const made = isServiceName(service) ? madeAs(service, {}) : usualFormats.document
  return apiNameOf(made) ?? usualApiFormat
}

/** Renders a template with data into a file, without dispatching it. */
export async function makePreview (render: Render, job: Omit<RenderJob, 'format'>, desired: PreviewFormat): Promise<Preview> {
  const named = (extension: string): string => cleanFilename(job.template.source.name, extension) ?? `preview.${extension}`
  const format = apiFormats[desired]
  const made = await render({ ...job, format })
  if ('bytes' in made) return { ...made, filename: named(formatFacts[format].file?.extension ?? '') }
  return 'html' in made
    ? { bytes: Buffer.from(standalone(made)), contentType: 'text/html; charset=utf-8', filename: named('html') }
    : { bytes: Buffer.from(made.text), contentType: 'text/plain; charset=utf-8', filename: named('txt') }
}
