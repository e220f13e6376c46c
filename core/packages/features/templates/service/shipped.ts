import type { Log } from '@dispatch/common'
import { readTemplateFiles, readTemplateFolder, type TemplateFiles, type TemplateFolder } from '@dispatch/documents'
import { templateServices } from '@dispatch/services'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import type { SharedTemplate } from '../store/shared-templates.ts'
import type { TemplateStore } from '../store/templates.ts'

/** The templates that come with the service. */
const shipped = fileURLToPath(new URL('../../../../../templates/', import.meta.url))

type Parts = { templateStore: TemplateStore, log: Log, now: () => Date }

/** Publishes the templates that come with the service, where they are not published as they are. */
export async function publishShipped ({ templateStore, log, now }: Parts): Promise<void> {
  const templates = await readTemplates(shipped, await templateStore.listSharedFiles())
  const changed = await templateStore.publishShared(templates.map(sharedOf), now())
  if (changed > 0) log.info({ changed }, 'shared templates published')
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
  return published.some((known) => isDeepStrictEqual(known, files)) ? undefined : readTemplateFolder(path, templateServices)
}

function sharedOf ({ id, name, digest, source, schema, sample, yaml }: TemplateFolder): SharedTemplate {
  // Both were read from JSON files, so they are plain data although their type is wider.
  return { id, name, digest, source, schema: schema as SharedTemplate['schema'], sample: sample as SharedTemplate['sample'], yaml }
}
