import { seedDemo, type SharedTemplate } from '@dispatch/core'
import { type OpenedTemplateFolder, openTemplateFolder } from '@dispatch/documents'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { App } from '../container.ts'
import { refuseDevelopmentDefaults } from './production-checks.ts'

const shipped = fileURLToPath(new URL('../../templates/', import.meta.url))

/** Publishes the shared templates. In development it seeds a new database with demo data; production refuses a database with demo data. */
export async function prepareDatabase ({ get }: App): Promise<void> {
  const time = get('now')()
  await get('files').ready()
  if (get('config').environment === 'production') await refuseDevelopmentDefaults(get('config'), get('accounts'))
  const changed = await get('templates').publishShared(await readTemplates(shipped), time)
  if (changed > 0) get('log').info({ changed }, 'shared templates published')
  if (get('config').environment === 'development' && await seedDemo(get('database'), time)) get('log').info({}, 'company "Demo" created')
}

async function readTemplates (folder: string): Promise<SharedTemplate[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return Promise.all(
    entries.filter((entry) => entry.isDirectory()).map(async ({ name }) => {
      const opened = await openTemplateFolder(join(folder, name)).catch((cause: unknown) => {
        throw unusable(name, cause)
      })
      return sharedOf(name, opened)
    })
  )
}

function unusable (name: string, cause: unknown): Error {
  const reasons = cause instanceof Error ? cause.message.replaceAll('\n', '; ') : String(cause)
  return new Error(`The shared template "${name}" cannot be used: ${reasons}`, { cause })
}

function sharedOf (folder: string, { template, check }: OpenedTemplateFolder): SharedTemplate {
  const { id, name, digest, source, schema, sample, yaml } = template
  return {
    id,
    name,
    digest,
    source,
    // Both were read from JSON files, so they are plain data although their type is wider.
    schema: schema as SharedTemplate['schema'],
    sample: sample as SharedTemplate['sample'],
    yaml,
    check () {
      try {
        check()
      } catch (cause) {
        throw unusable(folder, cause)
      }
    }
  }
}
