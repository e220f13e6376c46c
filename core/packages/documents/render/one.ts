import { compileTemplate } from '../compile/compile.ts'
import type { TemplateSource } from '../model/model.ts'
import type { PaperSize } from '../model/paper.ts'
import type { Format, Rendered } from './job.ts'
import { render } from './render.ts'

/** `now`: the date inside the document, this moment unless told. `signers`: their names. `paper`: of a page whose size is `auto`. */
export type RenderOptions = { now?: Date, signers?: readonly string[], paper?: PaperSize }

type RenderOne<F extends Format> = (template: TemplateSource, data: unknown, options?: RenderOptions) => Promise<Rendered<F>>

/**
 * Makes one document of a template and its data in this process. Throws a TemplateError that lists the faults of the template, or a
 * RenderError that lists what is wrong with the data. For many documents `compileTemplate` and `render`, or the threads of
 * `createRenderer`, are faster.
 */
function renderOne<F extends Format> (format: F): RenderOne<F> {
  return async (template, data, { now = new Date(), ...rest } = {}) =>
    render(compileTemplate(template), { data, format, now: now.toISOString(), ...rest })
}

/** `bytes` of a PDF, how many `pages` it has, and where signers sign. */
export const renderPdf = renderOne('pdf')
/** `bytes` of a Word document. */
export const renderDocx = renderOne('docx')
/** `bytes` of a workbook: its tables as cells with formulas. */
export const renderXlsx = renderOne('xlsx')
/** A mail: its HTML, the plain text beside it, and its pictures. */
export const renderHtml = renderOne('html')
/** The `text` of a message, such as an SMS. */
export const renderText = renderOne('text')
