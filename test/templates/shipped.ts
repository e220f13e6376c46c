import { readdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { type CompiledTemplate, compileTemplate } from '../../core/packages/documents/compile/compile.ts'
import { readTemplateFolder, type TemplateFolder } from '../../core/packages/documents/source/folder.ts'
import { templateServices } from '../../core/packages/services/lists.ts'

const root = new URL('../../templates/', import.meta.url)

export type Shipped = TemplateFolder & { folder: string, compiled: CompiledTemplate }

/** A shipped template, by its folder. */
export async function shipped (folder: string): Promise<Shipped> {
  const template = await readTemplateFolder(fileURLToPath(new URL(folder, root)), templateServices)
  return { ...template, folder, compiled: compileTemplate(template.source) }
}

/** All shipped templates, by number. */
export async function allShipped (): Promise<Shipped[]> {
  const folders = (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return (await Promise.all(folders.map(shipped))).sort((one, other) => one.id - other.id)
}

/** Data without one field. */
export function without (data: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== name))
}

/** Compares a text with its golden file; `GOLDEN=write` writes the files, after which somebody looks at every difference. */
export async function golden (t: Test, name: string, text: string): Promise<void> {
  const file = new URL(`golden/${name}`, import.meta.url)
  if (process.env['GOLDEN'] === 'write') await writeFile(file, text)
  t.equal(text, await readFile(file, 'utf8'), name)
}
