import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from './failures.ts'
import { readJson } from './input.ts'
import type { Api } from './service.ts'
import { type Json, warningsOf } from './words.ts'

type TemplateOptions = { out?: string, data?: string, show: (answer: Json, line: string) => void }

/** Pulls, pushes and previews templates. A file has what a company may write, and the version that it is based on. */
export async function templates (api: Api['api'], [word, place]: readonly string[], { out, data, show }: TemplateOptions): Promise<number> {
  if (word === 'pull') {
    const folder = place ?? '.'
    await mkdir(folder, { recursive: true })
    const pulled: Json[] = []
    for await (const { id, companyId } of api.templates({ limit: 100 })) {
      if (companyId === null) continue
      const { name, service, documentType, source, schema, sample, latestVersion } = await api.template(String(id))
      const file = join(folder, `${String(id)}.template.json`)
      await writeFile(file,
        `${JSON.stringify({ id, baseVersion: latestVersion, name, service, documentType, source, schema, sample }, null, 2)}\n`)
      pulled.push({ file, id, name, version: latestVersion })
    }
    show({ data: pulled }, pulled.map((one) => `${String(one['file'])} ${String(one['name'])}`).join('\n'))
    return 0
  }
  if (word === 'push' && place !== undefined) {
    const { id, baseVersion, ...template } = await readJson(place) as { id?: number, baseVersion?: number } & Json
    const stored = id === undefined ? await api.addTemplate(template) : await api.addVersion(id, { baseVersion, ...template })
    const { id: kept, latestVersion } = stored
    // The next push is based on what this one has stored.
    await writeFile(place, `${JSON.stringify({ id: kept, baseVersion: latestVersion, ...template }, null, 2)}\n`)
    show({ file: place, id: kept, version: latestVersion, warnings: stored['warnings'] },
      `${String(kept)} version ${String(latestVersion)}${warningsOf(stored)}`)
    return 0
  }
  if (word === 'preview' && place !== undefined && out !== undefined) {
    const answer = await api.preview(place, data === undefined ? {} : { data: await readJson(data) })
    await writeFile(out, new Uint8Array(await answer.arrayBuffer()))
    show({ file: out }, out)
    return 0
  }
  throw new UsageError('There are "templates pull [<folder>]", "templates push <file>" and "templates preview <template> --out <file>".')
}
