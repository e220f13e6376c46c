import { compileJsonSchema, isRecord } from '@dispatch/common'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { TemplateError } from '../model/errors.ts'
import type { TemplateSource } from '../model/model.ts'
import { templateDigestOf } from './digest.ts'
import { checkExpressions, readSource } from './source.ts'
import type { LocateFault } from './yaml.ts'

/** A template in a folder: `template.yaml`, `schema.json`, `sample.json` with further samples, and the pictures that it names. */
export type TemplateFolder = Pick<TemplateSource, 'name' | 'service' | 'documentType' | 'vocabulary' | 'locale'> & {
  id: number
  /** The complete template for the renderer, with its assets as data URIs. */
  source: TemplateSource
  /** The text of template.yaml. */
  yaml: string
  /** The JSON Schema (2020-12) of the data. */
  schema: Record<string, unknown>
  sample: Record<string, unknown>
  /** All samples by the names of their files, such as `sample` and `sample.fr`: other languages and cases, for previews and tests. */
  samples: Readonly<Record<string, Record<string, unknown>>>
  /** The SHA-256 (hexadecimal) of source, schema and sample, independent of layout and the order of fields. */
  digest: string
}

/** A template whose YAML and model were checked. `check` checks the rest, and throws a TemplateError. */
export type OpenedTemplateFolder = { template: TemplateFolder, check: () => void }

/**
 * Reads a template's folder and checks it completely: the YAML, the model, the expressions against the schema of the data, the samples
 * against the schema. Throws a TemplateError that lists the faults with file, line and column.
 */
export async function readTemplateFolder (path: string): Promise<TemplateFolder> {
  const { template, check } = await openTemplateFolder(path)
  check()
  return template
}

/** Reads a template's folder for one who may know its digest: the checks, which take most of the time, are left to `check`. */
export async function openTemplateFolder (path: string): Promise<OpenedTemplateFolder> {
  const yaml = await readFile(join(path, 'template.yaml'), 'utf8')
  const schema = await readJson(join(path, 'schema.json'))
  const sample = await readJson(join(path, 'sample.json'))
  const { source: named, place } = readSource(yaml, join(path, 'template.yaml'))
  const source = await withAssets(named, path, place)
  const samples = { sample, ...await readSamples(path) }
  if (source.id === undefined) throw new TemplateError([place({ path: '', message: 'A shared template needs an "id", from 1 to 999.' })])
  const digest = templateDigestOf({ source, schema, sample })
  return {
    template: { ...factsOf(source), id: source.id, source, yaml, schema, sample, samples, digest },
    check () {
      checkExpressions(source, schema, place)
      checkSamples(schema, samples, path)
    }
  }
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

async function readJson (file: string): Promise<Record<string, unknown>> {
  const value = parseJson(await readFile(file, 'utf8'), file)
  if (isRecord(value)) return value
  throw new TemplateError([{ path: '', message: 'Expected a JSON object.', file }])
}

function parseJson (text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TemplateError([{ path: '', message: error instanceof Error ? `${error.message}.` : 'Not JSON.', file }], { cause: error })
  }
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
