import { compileTemplate, readTemplateFolder, RenderError, TemplateError, unreadFields } from '@dispatch/documents'
import { templateServices } from '@dispatch/services'
import { samplesIn } from './samples.ts'

/** The results for a template, one sentence each. Faults make it unusable, warnings do not. */
export type TemplateFaults = { faults: string[], warnings: string[] }

/** Checks a template's folder and makes its samples in every format. It warns about fields of the samples that no block shows. */
export async function checkTemplateFolder (folder: string): Promise<TemplateFaults> {
  try {
    const template = await readTemplateFolder(folder, templateServices)
    const { uses } = compileTemplate(template.source)
    await samplesIn(template, new Date())
    return {
      faults: [],
      warnings: Object.entries(template.samples).flatMap(([name, data]) =>
        unreadFields(uses, data).map((field) => `${name}.json: no block shows ${field}.`)
      )
    }
  } catch (error) {
    if (error instanceof TemplateError || error instanceof RenderError) return { faults: error.message.split('\n'), warnings: [] }
    throw error
  }
}
