import { type CompiledTemplate, compileTemplate } from './compile/compile.ts'
import { formats } from './formats/all.ts'
import type { Format } from './formats/file-formats.ts'
import type { Rendered, RenderJob } from './job.ts'
import type { TemplateSource } from './model/model.ts'
import type { PaperSize } from './model/paper.ts'

/**
 * `now`: the date inside the document, by default the current time. `signers`: their names. `paper`: the paper for a page size of `auto`.
 */
export type RenderOptions = { now?: Date, signers?: readonly string[], paper?: PaperSize }

type RenderOne<F extends Format> = (template: TemplateSource, data: unknown, options?: RenderOptions) => Promise<Rendered<F>>

/**
 * Makes the document of a template with data. All problems of the data are in one RenderError, with pointers into the data. What makes
 * documents is loaded by the first one: a process whose threads make them does without, and without its fonts.
 */
export async function render<F extends Format> (
  template: CompiledTemplate,
  job: Omit<RenderJob<F>, 'template'>
): Promise<Rendered<F>> {
  const making = await import('./render.ts')
  return making.render(template, job)
}

/**
 * Makes one document of a template and its data in this process. Throws a TemplateError with the faults of the template, or a RenderError
 * with the problems of the data. For many documents, `compileTemplate` with `render`, or the threads of `createRenderer`, are faster.
 */
function renderOne<F extends Format> (format: F): RenderOne<F> {
  return async (template, data, { now = new Date(), ...rest } = {}) =>
    render(compileTemplate(template), { data, format, now: now.toISOString(), ...rest })
}

/** A PDF: its `bytes`, the number of its `pages`, and the places of its signatures. */
export const renderPdf = renderOne(formats.pdf.name)
/** A Word document: its `bytes`. */
export const renderDocx = renderOne(formats.docx.name)
/** A workbook: its `bytes`. Tables become cells with formulas. */
export const renderXlsx = renderOne(formats.xlsx.name)
/** A mail: its HTML, its plain text, and its pictures. */
export const renderHtml = renderOne(formats.html.name)
/** A message such as an SMS: its `text`. */
export const renderText = renderOne(formats.text.name)
