import { compileTemplate } from '../../core/documents/compile.ts'
import { RenderError, TemplateError } from '../../core/documents/errors.ts'
import { readTemplateFolder } from '../../core/documents/folder.ts'
import { unread } from '../../core/documents/uses.ts'
import { samplesIn } from './samples.ts'

/** What is wrong with a template's folder, a sentence each: what readTemplateFolder finds, samples that do not become documents, and fields of them that no block shows. */
export async function check (folder: string): Promise<string[]> {
  try {
    const { source, samples } = await readTemplateFolder(folder)
    const template = compileTemplate(source)
    const unseen = Object.entries(samples).flatMap(([name, data]) => unread(template.uses, data).map((field) => `${name}.json: no block shows ${field}.`))
    await samplesIn(template, samples, new Date())
    return unseen
  } catch (error) {
    if (error instanceof TemplateError || error instanceof RenderError) return error.message.split('\n')
    throw error
  }
}
