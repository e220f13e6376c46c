import { getDocumentProxy } from 'unpdf'
import type { Problem } from '../../common/json.ts'
import { type CompiledTemplate, compileTemplate } from '../compile/compile.ts'
import type { Format } from '../formats/file-formats.ts'
import type { Rendered } from '../job.ts'
import { type Fault, RenderError, TemplateError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { render } from '../render.ts'

/** The time of every document in the tests. */
export const now = new Date('2026-03-14T09:30:00.000Z')

/** A piece of text on a page, in points from the top left corner; `y` is the baseline. */
export type Text = { text: string, x: number, y: number, right: number }

/** The texts of every page, from top to bottom and left to right. */
export async function pagesOf ({ bytes }: { bytes: Uint8Array }): Promise<Text[][]> {
  const document = await getDocumentProxy(Uint8Array.from(bytes))
  const pages: Text[][] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const height = page.getViewport({ scale: 1 }).height
    const { items } = await page.getTextContent()
    const texts = items.flatMap((item) => 'str' in item && item.str.trim() !== '' ? [textOf(item, height)] : [])
    pages.push(texts.sort((a, b) => a.y - b.y || a.x - b.x))
  }
  return pages
}

function textOf (item: { str: string, width: number, transform: unknown[] }, height: number): Text {
  const [x, y] = [Number(item.transform[4]), height - Number(item.transform[5])]
  return { text: item.str, x, y, right: x + item.width }
}

/** All texts of the document as words with one space between them. */
export async function wordsOf (pdf: { bytes: Uint8Array }): Promise<string> {
  return (await pagesOf(pdf)).flat().map(({ text }) => text.trim()).join(' ')
}

/** A template with this body; `more` adds to it. */
export function templateOf (body: TemplateSource['body'], more: Partial<TemplateSource> = {}): TemplateSource {
  return { name: 'Test', service: 'file', locale: 'en-GB', body, ...more }
}

/** A compiled template with this body. */
export function compiled (body: TemplateSource['body'], more: Partial<TemplateSource> = {}): CompiledTemplate {
  return compileTemplate(templateOf(body, more))
}

/** Makes the PDF of a body with data. */
export async function pdfOf (
  body: TemplateSource['body'],
  data: object = {},
  more: Partial<TemplateSource> = {}
): Promise<Rendered<'pdf'>> {
  return await made('pdf', compiled(body, more), data)
}

/** Makes a document of a compiled template, at the time of the tests. */
export async function made<F extends Format> (
  format: F,
  template: CompiledTemplate,
  data: unknown,
  signers?: readonly string[]
): Promise<Rendered<F>> {
  return await render(template, { data, format, now: now.toISOString(), ...(signers === undefined ? {} : { signers }) })
}

/** The problems with which rendering fails. */
export async function problemsOf (
  body: TemplateSource['body'],
  data: object = {},
  more: Partial<TemplateSource> = {}
): Promise<readonly Problem[]> {
  try {
    await pdfOf(body, data, more)
  } catch (error) {
    if (error instanceof RenderError) return error.problems
    throw error
  }
  return []
}

/** The faults with which compiling a template fails. */
export function faultsOf (body: TemplateSource['body'], more: Partial<TemplateSource> = {}): readonly Fault[] {
  try {
    compileTemplate(templateOf(body, more))
  } catch (error) {
    if (error instanceof TemplateError) return error.faults
    throw error
  }
  return []
}
