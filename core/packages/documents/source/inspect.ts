import { didYouMean, inspectJson, isRecord, pointer, type Problem } from '@dispatch/common'
import { Check } from 'typebox/value'
import { examineTemplate } from '../compile/compile.ts'
import { placeholderImage } from '../data/placeholder-image.ts'
import { type DataSchema, readDataSchema } from '../model/data-schema.ts'
import { type Fault, TemplateError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import { templateModel, type TemplateSource } from '../model/model.ts'
import type { KeptPartials } from '../model/partial.ts'
import type { Schema } from '../model/subschemas.ts'
import { assetName } from './asset-name.ts'
import { templateDigestOf } from './digest.ts'
import { explain } from './explain.ts'
import { include, placedInTemplate } from './include.ts'
import { unknownPathFaults } from './schema-paths.ts'
import { unusedFields } from './unused-fields.ts'
import { type LocateFault, readYaml } from './yaml.ts'

/** The input of an author for a template. `assets`: the SHA-256 of each picture that the template may name. */
export type TemplateDraft = Partial<Record<Fact, string>> & {
  yaml: string
  schema: Schema
  sample: Schema
  assets: Readonly<Record<string, string>>
  /** The partials and layouts of the company, which the template may include. */
  partials?: KeptPartials
  /** The services that it may be made for. */
  services: readonly string[]
}

/** Facts that may be given beside the YAML as well as in it. */
type Fact = typeof facts[number]
const facts = ['name', 'service', 'documentType'] as const

/**
 * A template that compiles, or all its problems, with places below /source (with line and column), /schema or /sample. The source refers to
 * a picture as `asset:<name>`. `digest` identifies the content with all pictures.
 */
export type Inspection =
  | { ok: true, source: TemplateSource, digest: string, warnings: Problem[] }
  | { ok: false, problems: Problem[] }

/** Reads and checks a template: the YAML, the model, its expressions against the schema, the schema, the sample against the schema. */
export function inspectDraft (draft: TemplateDraft): Inspection {
  const schema = readDataSchema(draft.schema, '/schema')
  const { source, faults, warnings } = readModel(draft, schema)
  const problems = [...faults, ...schema.ok ? sampleProblems(schema, draft.sample) : schema.problems]
  if (problems.length > 0 || source === undefined) return { ok: false, problems }
  const { assets, ...rest } = source
  const content = assets === undefined
    ? rest
    : { ...rest, assets: Object.fromEntries(Object.entries(assets).map(([name, asset]) => [name, hashOf(asset, draft)])) }
  return { ok: true, source, digest: templateDigestOf({ source: content, schema: draft.schema, sample: draft.sample }), warnings }
}

type Reading = { source?: TemplateSource, faults: Problem[], warnings: Problem[] }

/** The block model of the YAML, with its problems. */
function readModel (draft: TemplateDraft, schema: DataSchema): Reading {
  const { value, place, faults } = readText(draft.yaml)
  if (faults.length > 0) return { faults: faults.map(problemOf), warnings: [] }
  const { model, problems } = withFacts(value, draft, place)
  const at = (found: readonly Fault[]): Problem[] => found.map((fault) => problemOf(place(fault)))
  // An alias of YAML can make a list that contains itself. Such a model is not inspected any further.
  const unusable = inspectJson(model, '', renderLimits.yamlDepth)
  if (unusable.length > 0) return { faults: [...problems, ...at(unusable)], warnings: [] }
  const known = templateModel(draft.services)
  if (!Check(known, model)) return { faults: [...problems, ...at(explain(known, model))], warnings: [] }
  const { id, ...written } = model
  const { source, faults: missing } = include(written, draft.partials ?? {})
  if (missing.length > 0) return { faults: [...problems, ...at(missing)], warnings: [] }
  const compiled = examineTemplate({ ...source, ...source.assets === undefined ? {} : { assets: standIns(source.assets) } })
  const wrong = [...compiled.faults, ...assetFaults(source, draft), ...schema.ok ? unknownPathFaults(draft.schema, compiled.reads) : []]
    .map((fault) => placedInTemplate(fault, compiled.includedAt))
  return {
    source,
    faults: [...problems, ...at(wrong)],
    warnings: [
      ...id === undefined
        ? []
        : at([{ path: '/id', code: 'ignored', message: `The id ${id} belongs to a shared template: this template gets its own number.` }]),
      ...at(unusedAssets(source)),
      ...unusedFields(draft.schema, compiled.uses).map((path) => ({
        path: `/schema${path}`,
        code: 'unused_field',
        message: 'The template does not show this field.'
      }))
    ]
  }
}

export function readText (yaml: string): { value: unknown, place: LocateFault, faults: readonly Fault[] } {
  try {
    return { ...readYaml(yaml, ''), faults: [] }
  } catch (error) {
    if (error instanceof TemplateError) return { value: undefined, place: (fault) => fault, faults: error.faults }
    // The YAML parser is recursive: it calls itself for each level.
    if (error instanceof RangeError) {
      return {
        value: undefined,
        place: (fault) => fault,
        faults: [{ path: '', code: 'too_deep', message: 'The YAML is nested too deeply.' }]
      }
    }
    throw error
  }
}

/** A fault of the template as a problem of the request. */
export function problemOf ({ code = 'template_error', message, line, column }: Fault): Problem {
  return { path: '/source', code, message, ...line === undefined ? {} : { line }, ...column === undefined ? {} : { column } }
}

/** The model with the facts that are given beside it. A fact that is given twice must be the same. */
function withFacts (value: unknown, draft: TemplateDraft, place: LocateFault): { model: unknown, problems: Problem[] } {
  if (!isRecord(value)) return { model: value, problems: [] }
  const given = facts.flatMap((name) => draft[name] === undefined ? [] : [{ name, said: draft[name] }])
  const problems = given.flatMap(({ name, said }) => {
    const written = value[name]
    if (written === undefined || written === said) return []
    const { line } = place({ path: pointer('', name), message: '' })
    return [{
      path: `/${name}`,
      code: 'contradiction',
      message: `Says "${said}", and line ${line ?? 1} of the source says ${
        JSON.stringify(written).slice(0, 100)
      }: give it once, or the same.`
    }]
  })
  return { model: { ...Object.fromEntries(given.map(({ name, said }) => [name, said])), ...value }, problems }
}

export function assetFaults ({ assets = {} }: Pick<TemplateSource, 'assets'>, draft: Pick<TemplateDraft, 'assets'>): Fault[] {
  const known = Object.keys(draft.assets)
  return Object.entries(assets).flatMap(([name, asset]) => {
    const path = pointer('/assets', name)
    const desired = assetName(asset)
    if (desired === undefined) {
      return asset.startsWith('data:')
        ? []
        : [{
          path,
          code: 'unknown_asset',
          message: 'Expected asset:<name>, a picture of the company (POST /api/v1/assets), or a data URI (data:image/png;base64,…).'
        }]
    }
    return known.includes(desired)
      ? []
      : [{
        path,
        code: 'unknown_asset',
        message: `The company has no asset "${desired}"${didYouMean(desired, known)}: upload it with POST /api/v1/assets.`
      }]
  })
}

export function standIns (assets: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(assets).map(([name, asset]) => [name, asset.startsWith('data:') ? asset : placeholderImage]))
}

function hashOf (asset: string, draft: TemplateDraft): string {
  const name = assetName(asset)
  return name === undefined ? asset : `sha256:${draft.assets[name] ?? ''}`
}

function unusedAssets ({ assets = {}, ...source }: TemplateSource): Fault[] {
  const used = new Set<unknown>()
  // Every image in the blocks, at any depth.
  JSON.stringify(source, (key, value: unknown) => {
    if (key === 'asset') used.add(value)
    return value
  })
  return Object.keys(assets).filter((name) => !used.has(name)).map((name) => ({
    path: pointer('/assets', name),
    code: 'unused_asset',
    message: `No block shows the asset "${name}".`
  }))
}

function sampleProblems (schema: DataSchema & { ok: true }, sample: Schema): Problem[] {
  const fit = schema.fit(sample, '/sample')
  return fit.ok ? [] : fit.problems
}
