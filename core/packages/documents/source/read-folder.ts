import type { TemplateFolder } from './folder.ts'

/**
 * Reads a template's folder and checks it completely, see {@link TemplateFolder}. What reads YAML and checks the model is loaded with the
 * first folder: a service whose templates are published needs none of it.
 */
export async function readTemplateFolder (path: string, services: readonly string[]): Promise<TemplateFolder> {
  return (await import('./folder.ts')).readTemplateFolder(path, services)
}
