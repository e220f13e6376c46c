import { readTemplateFolder } from '@dispatch/documents'
import { templateServices } from '@dispatch/services'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { samplesIn } from './samples.ts'

/**
 * Writes every sample of a template's folder in every format into a directory, and resolves to the names of the files. Throws a
 * TemplateError or a RenderError.
 */
export async function preview (folder: string, directory: string, now: Date): Promise<string[]> {
  const files = await samplesIn(await readTemplateFolder(folder, templateServices), now)
  await mkdir(directory, { recursive: true })
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content)
  return Object.keys(files)
}
