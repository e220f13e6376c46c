import { sql, type Kysely, type Selectable } from 'kysely'
import type { JsonObject } from '../contract/json.ts'
import type { TemplateSource } from '../documents/model.ts'
import type { Database } from './database.ts'
import { createFreshCache } from './fresh-cache.ts'
import type { Freshness } from './freshness.ts'
import type { Tables } from './schema.ts'

/** One version of a template; `companyId` null is shared. `source` is its block model, `schema` the JSON Schema of its data. */
export type StoredTemplate = {
  id: number
  companyId: number | null
  name: string
  version: number
  digest: string
  source: TemplateSource
  schema: JsonObject
  sample: JsonObject
  updatedAt: Date
}

/** A version as it is managed, without its pictures: `yaml` as it was written, `present` the version that dispatches use, `latest` the newest. */
export type TemplateRecord = StoredTemplate & { yaml: string, present: number | null, latest: number, publishedAt: Date | null, userId: number | null }

/** A template that the service ships. `digest` changes with its contents. */
export type SharedTemplate = Pick<StoredTemplate, 'id' | 'name' | 'digest' | 'source' | 'schema' | 'sample'> & { yaml: string }

/** What templates are looked for by. `status`: whether dispatches can use it. */
export type TemplateFilter = { service?: string, documentType?: string, name?: string, status?: 'published' | 'draft' }

export type Templates = {
  /** The present version of a template that the company may use, as of the last freshness check. */
  find: (companyId: number, templateId: number) => Promise<StoredTemplate | undefined>
  /** The present version of the template of a name: the company's own before a shared one. */
  findNamed: (companyId: number, name: string) => Promise<StoredTemplate | undefined>
  /** One version of a template, for a dispatch that has pinned it. */
  findVersion: (companyId: number, templateId: number, version: number) => Promise<StoredTemplate | undefined>
  /** A page of the templates that the company may see, by id: each as its present version, or else as its newest. */
  list: (companyId: number, filter: TemplateFilter, page: { limit: number, after?: number }) => Promise<TemplateRecord[]>
  /** Every shared template made for a service. */
  listShared: () => Promise<StoredTemplate[]>
  /** Brings the shared templates up to date: a changed one becomes a new version. Answers how many changed. */
  publishShared: (templates: readonly SharedTemplate[], now: Date) => Promise<number>
}

export function createTemplates (database: Database, freshness: Freshness): Templates {
  const cache = createFreshCache<string, StoredTemplate | undefined>(freshness, (key) => Number.parseInt(key), { max: heaviest, weigh })
  return {
    find: (companyId, templateId) => cache.get(`${companyId}:${templateId}`, () => database.company(companyId, async (queries) => {
      const row = await present(queries, companyId).where('templates.template_id', '=', templateId).executeTakeFirst()
      return row && templateOf(row)
    })),

    findNamed: (companyId, name) => cache.get(`${companyId}:"${name}"`, () => database.company(companyId, async (queries) => {
      const row = await present(queries, companyId).where('name', '=', name)
        .orderBy('templates.company_id', (order) => order.asc().nullsLast()).orderBy('templates.template_id').limit(1).executeTakeFirst()
      return row && templateOf(row)
    })),

    findVersion: (companyId, templateId, version) => database.company(companyId, async (queries) => {
      const row = await ofCompany(queries, companyId).select('source').where('templates.template_id', '=', templateId).where('template_versions.version', '=', version).executeTakeFirst()
      return row && templateOf(row)
    }),

    list: (companyId, filter, page) => database.company(companyId, async (queries) => {
      const rows = await managed(queries, companyId).where(isShown)
        .where((where) => where.and(conditions(filter)))
        .$if(page.after !== undefined, (query) => query.where('templates.template_id', '>', page.after ?? 0))
        .orderBy('templates.template_id').limit(page.limit).execute()
      return rows.map(recordOf)
    }),

    async listShared () {
      const rows = await present(database.owner, null).orderBy('templates.template_id').execute()
      return rows.map(templateOf)
    },

    publishShared: (templates, now) => publishShared(database, templates, now)
  }
}

/** Characters of pictures: beside them the rest of a template weighs nothing. */
const heaviest = 50_000_000

function weigh (template: StoredTemplate | undefined): number {
  return Object.values(template?.source.assets ?? {}).reduce((sum, { length }) => sum + length, 1)
}

/** One version of a template that is not removed: the one asked for, or else its present or newest. */
export async function readTemplate (database: Database, companyId: number, templateId: number, version?: number): Promise<TemplateRecord | undefined> {
  return database.company(companyId, async (queries) => {
    const row = await managed(queries, companyId).where('templates.template_id', '=', templateId)
      .where(version === undefined ? isShown : sql<boolean>`template_versions.version = ${version}`).executeTakeFirst()
    return row && recordOf(row)
  })
}

/** A page of the versions of a template, the newest first. */
export async function listTemplateVersions (database: Database, companyId: number, templateId: number, page: { limit: number, after?: number }): Promise<TemplateRecord[]> {
  return database.company(companyId, async (queries) => {
    const rows = await managed(queries, companyId).where('templates.template_id', '=', templateId)
      .$if(page.after !== undefined, (query) => query.where('template_versions.version', '<', page.after ?? 0))
      .orderBy('template_versions.version', 'desc').limit(page.limit).execute()
    return rows.map(recordOf)
  })
}

const withoutPictures = sql<TemplateSource>`source - 'assets'`.as('source')

const latest = sql<number>`(select max(version) from template_versions as versions where versions.template_id = templates.template_id)`

/** The version as which a template is shown. */
const isShown = sql<boolean>`template_versions.version = coalesce(templates.version, ${latest})`

function conditions ({ service, documentType, name, status }: TemplateFilter) {
  return [
    ...service === undefined ? [] : [sql<boolean>`source->>'service' = ${service}`],
    ...documentType === undefined ? [] : [sql<boolean>`source->>'documentType' = ${documentType}`],
    ...name === undefined ? [] : [sql<boolean>`name = ${name}`],
    ...status === undefined ? [] : [status === 'published' ? sql<boolean>`templates.version is not null` : sql<boolean>`templates.version is null`]
  ]
}

async function publishShared ({ owner }: Database, templates: readonly SharedTemplate[], now: Date): Promise<number> {
  return owner.transaction().execute(async (queries) => {
    // Several processes may start together: one publishes, the others then find nothing to do.
    await sql`lock table templates in exclusive mode`.execute(queries)
    let changed = 0
    for (const { id, name, digest, source, schema, sample, yaml } of templates) {
      const known = await present(queries, null).select('yaml').where('templates.template_id', '=', id).executeTakeFirst()
      // Comments and layout change nothing that is made of it.
      if (known?.digest === digest && known.yaml !== yaml) await queries.updateTable('template_versions').set({ yaml }).where('template_id', '=', id).where('version', '=', known.version).execute()
      if (known?.digest === digest) continue
      const version = (known?.version ?? 0) + 1
      await queries.insertInto('templates').values({ template_id: id, company_id: null, name, version, updated_at: now })
        .onConflict((conflict) => conflict.column('template_id').doUpdateSet({ name, version, updated_at: now })).execute()
      await queries.insertInto('template_versions').values({
        template_id: id, version, company_id: null, digest, source: JSON.stringify(source), schema: JSON.stringify(schema), sample: JSON.stringify(sample), yaml, created_at: now, published_at: now
      }).execute()
      changed++
    }
    return changed
  })
}

/** The versions of the templates that a company may use or has used: the shared ones and its own. */
function ofCompany (queries: Kysely<Tables>, companyId: number | null) {
  return queries.selectFrom('templates')
    .innerJoin('template_versions', 'template_versions.template_id', 'templates.template_id')
    .select(['templates.template_id', 'templates.company_id', 'name', 'template_versions.version', 'digest', 'schema', 'sample', 'template_versions.created_at'])
    .where((where) => where.or([where('templates.company_id', 'is not distinct from', companyId), where('templates.company_id', 'is', null)]))
}

function present (queries: Kysely<Tables>, companyId: number | null) {
  return ofCompany(queries, companyId).select('source').whereRef('template_versions.version', '=', 'templates.version').where('removed_at', 'is', null)
}

/** The versions that a company may see, with what is said of them. */
function managed (queries: Kysely<Tables>, companyId: number) {
  return ofCompany(queries, companyId).where('removed_at', 'is', null)
    .select(['yaml', 'template_versions.user_id', 'published_at', 'templates.version as present', latest.as('latest'), withoutPictures])
}

type TemplateRow = Pick<Selectable<Tables['templates']>, 'template_id' | 'company_id' | 'name'>
  & Pick<Selectable<Tables['template_versions']>, 'version' | 'digest' | 'source' | 'schema' | 'sample' | 'created_at'>
type RecordRow = TemplateRow & Pick<Selectable<Tables['template_versions']>, 'yaml' | 'user_id' | 'published_at'> & { present: number | null, latest: number }

function templateOf (row: TemplateRow): StoredTemplate {
  return {
    id: row.template_id,
    companyId: row.company_id,
    name: row.name,
    version: row.version,
    digest: row.digest,
    source: row.source,
    schema: row.schema,
    sample: row.sample,
    updatedAt: row.created_at
  }
}

function recordOf (row: RecordRow): TemplateRecord {
  return { ...templateOf(row), yaml: row.yaml, present: row.present, latest: row.latest, publishedAt: row.published_at, userId: row.user_id }
}
