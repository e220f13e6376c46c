import { compileJsonSchema } from '@dispatch/common'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { TemplateError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { templateDigestOf } from './digest.ts'
import { readJson, readTemplateFiles, type TemplateFiles } from './files.ts'
import { checkExpressions, readSource } from './source.ts'
import type { LocateFault } from './yaml.ts'

/** A template in a folder: `template.yaml`, `schema.json`, `sample.json` with further samples, and the pictures that it names. */
export type TemplateFolder = TemplateFiles & Pick<TemplateSource, 'name' | 'service' | 'documentType' | 'vocabulary' | 'locale'> & {
  id: number
  /** The complete template for the renderer, with its assets as data URIs. */
  source: TemplateSource
  /** All samples by the names of their files, such as `sample` and `sample.fr`: other languages and cases, for previews and tests. */
  samples: Readonly<Record<string, Record<string, unknown>>>
  /** The SHA-256 (hexadecimal) of source, schema and sample, independent of layout and the order of fields. */
  digest: string
}

/**
 * Reads a template's folder and checks it completely: the YAML, the model, the expressions against the schema of the data, the samples
 * against the schema. `services`: those that it may be made for. Throws a TemplateError that lists the faults with file, line and column.
 */
export async function readTemplateFolder (path: string, services: readonly string[]): Promise<TemplateFolder> {
  const { yaml, schema, sample } = await readTemplateFiles(path)
  const { source: named, place } = readSource(yaml, join(path, 'template.yaml'), services)
  const source = await withAssets(named, path, place)
  checkExpressions(source, schema, place)
  const samples = { sample, ...await readSamples(path) }
  checkSamples(schema, samples, path)
  if (source.id === undefined) throw new TemplateError([place({ path: '', message: 'A shared template needs an "id", from 1 to 999.' })])
  return { ...factsOf(source), id: source.id, source, yaml, schema, sample, samples, digest: templateDigestOf({ source, schema, sample }) }
}

function factsOf ({ name, service, documentType, vocabulary, locale }: TemplateSource): Pick<
  TemplateFolder,
  'name' | 'service' | 'documentType' | 'vocabulary' | 'locale'
> {
  return {
    name,
    service,
    locale,
    ...(documentType === undefined ? {} : { documentType }),
    ...(vocabulary === undefined ? {} : { vocabulary })
  }
}

/** The samples besides `sample.json`. */
async function readSamples (path: string): Promise<Record<string, Record<string, unknown>>> {
  const names = (await readdir(path)).flatMap((file) => /^(sample\.[a-z][a-z0-9-]*)\.json$/i.exec(file)?.[1] ?? []).sort()
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readJson(join(path, `${name}.json`))] as const)))
}

const mediaTypes: Readonly<Record<string, string>> = { '.png': 'image/png', '.jpg': 'image/jpeg', '.jpeg': 'image/jpeg' }

/** The template, with the content of the file for each asset that names a file of the folder. */
async function withAssets (source: TemplateSource, path: string, place: LocateFault): Promise<TemplateSource> {
  if (source.assets === undefined) return source
  const assets = await Promise.all(
    Object.entries(source.assets).map(async ([name, file]) => [name, await readAsset(file, path, `/assets/${name}`, place)] as const)
  )
  return { ...source, assets: Object.fromEntries(assets) }
}

async function readAsset (file: string, path: string, at: string, place: LocateFault): Promise<string> {
  if (file.startsWith('data:')) return file
  const mediaType = mediaTypes[extname(file).toLowerCase()]
  if (mediaType === undefined || basename(file) !== file) {
    throw new TemplateError([
      place({ path: at, message: `Expected the name of a PNG or JPEG file in the template's folder, got "${file}".` })
    ])
  }
  try {
    return `data:${mediaType};base64,${await readFile(join(path, file), 'base64')}`
  } catch (error) {
    throw new TemplateError([place({ path: at, message: `The file "${file}" cannot be read from the template's folder.` })], {
      cause: error
    })
  }
}

function checkSamples (schema: Record<string, unknown>, samples: TemplateFolder['samples'], path: string): void {
  const check = compileData(schema, join(path, 'schema.json'))
  const faults = Object.entries(samples).flatMap(([name, sample]) => {
    const fit = check(sample)
    return fit.ok
      ? []
      : fit.problems.map(({ path: at, message }) => ({ path: at, message: `${at} ${message}`, file: join(path, `${name}.json`) }))
  })
  if (faults.length > 0) throw new TemplateError(faults)
}

function compileData (schema: Record<string, unknown>, file: string): ReturnType<typeof compileJsonSchema> {
  try {
    return compileJsonSchema(schema)
  } catch (error) {
    throw new TemplateError([{ path: '', message: error instanceof Error ? `${error.message}.` : 'Not a JSON Schema.', file }], {
      cause: error
    })
  }
}
