import { seedDemo, type SharedTemplate } from '@dispatch/core'
import { readTemplateFiles, readTemplateFolder, type TemplateFiles, type TemplateFolder } from '@dispatch/documents'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { App } from '../container.ts'
import { refuseDevelopmentDefaults } from './production-checks.ts'

const shipped = fileURLToPath(new URL('../../templates/', import.meta.url))

/** Publishes the shared templates. In development it seeds a new database with demo data; production refuses a database with demo data. */
export async function prepareDatabase ({ get }: App): Promise<void> {
  const time = get('now')()
  if (get('config').environment === 'production') await refuseDevelopmentDefaults(get('config'), get('accounts'))
  const changed = await get('templates').publishShared(
    (await readTemplates(shipped, await get('templates').listSharedFiles())).map(sharedOf),
    time
  )
  if (changed > 0) get('log').info({ changed }, 'shared templates published')
  if (get('config').environment === 'development' && await seedDemo(get('database'), time)) get('log').info({}, 'company "Demo" created')
}

/** The templates of a folder that are not `published` as they are. What is published was checked when it was. */
async function readTemplates (folder: string, published: readonly TemplateFiles[]): Promise<TemplateFolder[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const read = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map(({ name }) =>
      readUnlessPublished(join(folder, name), published).catch((cause: unknown) => {
        const reasons = cause instanceof Error ? cause.message.replaceAll('\n', '; ') : String(cause)
        throw new Error(`The shared template "${name}" cannot be used: ${reasons}`, { cause })
      })
    )
  )
  return read.filter((template) => template !== undefined)
}

async function readUnlessPublished (path: string, published: readonly TemplateFiles[]): Promise<TemplateFolder | undefined> {
  const files = await readTemplateFiles(path)
  return published.some((known) => isDeepStrictEqual(known, files)) ? undefined : readTemplateFolder(path)
}

function sharedOf ({ id, name, digest, source, schema, sample, yaml }: TemplateFolder): SharedTemplate {
  // Both were read from JSON files, so they are plain data although their type is wider.
  return { id, name, digest, source, schema: schema as SharedTemplate['schema'], sample: sample as SharedTemplate['sample'], yaml }
}
