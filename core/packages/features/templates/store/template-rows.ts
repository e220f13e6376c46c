import { DispatchError } from '@dispatch/contract'
import type { StoredTemplate } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { templateLanguage, type TemplateSource } from '@dispatch/documents'
import { type Selectable, sql } from 'kysely'
import { tablesIn, type TemplateTables } from './tables.ts'

/** A version for its authors, without its pictures. `yaml`: as it was written; `present`: the version in use; `latest`: the newest one. */
export type TemplateRecord = StoredTemplate & {
  yaml: string
  present: number | null
  latest: number
  publishedAt: Date | null
  userId: number | null
}

const withoutPictures = sql<TemplateSource>`source - 'assets'`.as('source')

/** The number of the newest version. */
export const latestVersionNumber = sql<
  number
>`(select max(version) from template_versions as versions where versions.template_id = templates.template_id)`

/** All versions that a company may use or has used: of shared templates and its own. */
export function selectUsableVersions (queries: Database['owner'], companyId: number | null) {
  return tablesIn(queries).selectFrom('templates')
    .innerJoin('template_versions', 'template_versions.template_id', 'templates.template_id')
    .select(['templates.template_id', 'templates.company_id', 'name', 'template_versions.version', 'digest', 'schema', 'sample',
      'template_versions.created_at', 'language', 'in_use_since'])
    .where((where) =>
      where.or([where('templates.company_id', 'is not distinct from', companyId), where('templates.company_id', 'is', null)])
    )
}

/**
 * The versions in use of the templates that a company may use. Of a shared one it is the newest of the language `common`, which every
 * process can read, or where there is none the newest that this release can read.
 */
export function selectPublishedVersions (queries: Database['owner'], companyId: number | null, common = templateLanguage) {
  return selectUsableVersions(queries, companyId).select('source').where('removed_at', 'is', null)
    .where('template_versions.version', '=', sql<number>`case when templates.company_id is not null then templates.version else (
      select coalesce(max(readable.version) filter (where readable.language <= ${common}), max(readable.version))
      from template_versions as readable
      where readable.template_id = templates.template_id and readable.language <= ${templateLanguage}) end`)
}

/** The versions that a company may see, with the columns for its authors. */
export function selectManagedVersions (queries: Database['owner'], companyId: number) {
  return selectUsableVersions(queries, companyId).where('removed_at', 'is', null)
    .select([
      'yaml',
      'template_versions.user_id',
      'published_at',
      'templates.version as present',
      latestVersionNumber.as('latest'),
      withoutPictures
    ])
}

type TemplateRow =
  & Pick<Selectable<TemplateTables['templates']>, 'template_id' | 'company_id' | 'name' | 'in_use_since'>
  & Pick<Selectable<TemplateTables['template_versions']>, 'version' | 'digest' | 'source' | 'schema' | 'sample' | 'created_at' | 'language'>
type RecordRow = TemplateRow & Pick<Selectable<TemplateTables['template_versions']>, 'yaml' | 'user_id' | 'published_at'> & {
  present: number | null
  latest: number
}

/** Makes a template of a row. */
export function templateOf (row: TemplateRow): StoredTemplate {
  return {
    id: row.template_id,
    companyId: row.company_id,
    name: row.name,
    version: row.version,
    digest: row.digest,
    source: row.source,
    schema: row.schema,
    sample: row.sample,
    updatedAt: row.created_at,
    ...row.in_use_since !== null && { inUseSince: row.in_use_since }
  }
}

/** Makes a template for a dispatch of a row. Throws `service_unavailable` where only a newer release can read it. */
export function readableTemplateOf (row: TemplateRow): StoredTemplate {
  if (row.language <= templateLanguage) return templateOf(row)
  throw new DispatchError('service_unavailable',
    `Version ${row.version} of the template ${row.template_id} was written for a newer version of the service, which is being started now.`)
}

/** Makes a version for its authors of a row. */
export function recordOf (row: RecordRow): TemplateRecord {
  return {
    ...templateOf(row),
    yaml: row.yaml,
    present: row.present,
    latest: row.latest,
    publishedAt: row.published_at,
    userId: row.user_id
  }
}
