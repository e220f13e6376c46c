import type { Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { assetName, type KeptPartials, type PartialKind, type TemplateSource, type TemplateWorkers } from '@dispatch/documents'
import { templateServices } from '@dispatch/services'
import { type TemplateBody, templateTextLimit } from '../contract/templates.ts'
import { listAssets, maxAssets, readAssets } from '../store/assets.ts'
import { readKeptPartials } from '../store/partials.ts'
import type { NewVersion } from '../store/template-changes.ts'

/** A template that could be stored, with warnings. */
export type Inspected = { version: NewVersion, warnings: readonly Problem[] }

/** Limit of the pictures of one template together, in characters of data URIs. */
const maxPictures = 1_500_000

/**
 * Checks that a template compiles and that its sample fits its schema, and takes in what it includes and the pictures that it names.
 * `partials`: those of the company, unless told as they are stored. Throws `validation_failed` with every fault and its path.
 */
export async function inspectTemplate (
  { database, templateWorkers }: { database: Database, templateWorkers: TemplateWorkers },
  companyId: number,
  body: TemplateBody,
  partials?: KeptPartials
): Promise<Inspected> {
  refuseIfAny(oversized(body))
  const assets = Object.fromEntries(
    (await listAssets(database, companyId, { limit: maxAssets })).map(({ name, sha256 }) => [name, sha256])
  )
  const { name, service, documentType, source: yaml, schema, sample } = body
  const inspection = await templateWorkers.inspect(companyId, {
    yaml,
    schema,
    sample,
    assets,
    partials: partials ?? (mayInclude.test(yaml) ? await readKeptPartials(database, companyId) : {}),
    services: templateServices,
    ...given({ name, service, documentType })
  })
  if (!inspection.ok) throw refusal('validation_failed', inspection.problems)
  const source = await withPictures(database, companyId, inspection.source)
  return { version: { source, digest: inspection.digest, schema, sample, yaml }, warnings: inspection.warnings }
}

/** Checks what templates share, with all that the company has. */
export async function inspectKept (
  { database, templateWorkers }: { database: Database, templateWorkers: TemplateWorkers },
  companyId: number,
  draft: { name: string, kind: PartialKind, yaml: string }
) {
  const [kept, assets] = await Promise.all([
    readKeptPartials(database, companyId),
    listAssets(database, companyId, { limit: maxAssets })
  ])
  const inspection = await templateWorkers.inspectPartial(companyId, {
    ...draft,
    partials: kept,
    assets: Object.fromEntries(assets.map(({ name, sha256 }) => [name, sha256]))
  })
  return { inspection, kept }
}

/** What a text has in it that includes something. */
const mayInclude = /partial|layout/

/** Embeds the company's pictures into the template, so that later changes of a picture do not change this version. */
async function withPictures (database: Database, companyId: number, source: TemplateSource): Promise<TemplateSource> {
  if (source.assets === undefined) return source
  const pictures = new Map(
    (await readAssets(database, companyId, Object.values(source.assets).flatMap((asset) => assetName(asset) ?? []))).map(
      ({ name, uri }) => [name, uri]
    )
  )
  const assets = Object.fromEntries(
    Object.entries(source.assets).map(([name, asset]) => [name, pictures.get(assetName(asset) ?? '') ?? asset])
  )
  if (Object.values(assets).join('').length > maxPictures) {
    throw refusal('validation_failed', [{
      path: '/source',
      code: 'too_large',
      message: `The pictures of the template, as data URIs, have more than ${maxPictures} characters: make them smaller.`
    }])
  }
  return { ...source, assets }
}

/** Throws `validation_failed` where there are problems. */
export function refuseIfAny (problems: readonly Problem[]): void {
  if (problems.length > 0) throw refusal('validation_failed', problems)
}

function oversized (body: TemplateBody): Problem[] {
  return (['schema', 'sample'] as const).filter((part) => JSON.stringify(body[part]).length > templateTextLimit)
    .map((part) => ({ path: `/${part}`, code: 'too_large', message: `May have at most ${templateTextLimit} characters as JSON.` }))
}

/** The fields that are there. */
function given<T extends Record<string, string | undefined>> (fields: T): { [Name in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [Name in keyof T]?: string }
}
