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

/** A template that the service ships. `digest` changes with its contents. */
export type SharedTemplate = Pick<StoredTemplate, 'id' | 'name' | 'digest' | 'source' | 'schema' | 'sample'>

export type Templates = {
  /** The present version of a template that the company may use, as of the last freshness check. */
  find: (companyId: number, templateId: number) => Promise<StoredTemplate | undefined>
  /** The present version of the template of a name: the company's own before a shared one. */
  findNamed: (companyId: number, name: string) => Promise<StoredTemplate | undefined>
  /** One version of a template, for a dispatch that has pinned it. */
  findVersion: (companyId: number, templateId: number, version: number) => Promise<StoredTemplate | undefined>
  /** A page of the templates that the company may use, by id. */
  list: (companyId: number, filter: { service?: string, documentType?: string }, page: { limit: number, after?: number }) => Promise<StoredTemplate[]>
  /** Every shared template made for a service. */
  listShared: () => Promise<StoredTemplate[]>
  /** Brings the shared templates up to date: a changed one becomes a new version. Answers how many changed. */
  publishShared: (templates: readonly SharedTemplate[], now: Date) => Promise<number>
}

export function createTemplates (database: Database, freshness: Freshness): Templates {
  const cache = createFreshCache<string, StoredTemplate | undefined>(freshness, (key) => Number.parseInt(key))
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
      const row = await ofCompany(queries, companyId).where('templates.template_id', '=', templateId).where('template_versions.version', '=', version).executeTakeFirst()
      return row && templateOf(row)
    }),

    list: (companyId, { service, documentType }, page) => database.company(companyId, async (queries) => {
      const rows = await present(queries, companyId)
        .$if(service !== undefined, (query) => query.where(sql<boolean>`source->>'service' = ${service}`))
        .$if(documentType !== undefined, (query) => query.where(sql<boolean>`source->>'documentType' = ${documentType}`))
        .$if(page.after !== undefined, (query) => query.where('templates.template_id', '>', page.after ?? 0))
        .orderBy('templates.template_id').limit(page.limit).execute()
      return rows.map(templateOf)
    }),

    async listShared () {
      const rows = await present(database.owner, null).orderBy('templates.template_id').execute()
      return rows.map(templateOf)
    },

    publishShared: (templates, now) => publishShared(database, templates, now)
  }
}

async function publishShared ({ owner }: Database, templates: readonly SharedTemplate[], now: Date): Promise<number> {
  return owner.transaction().execute(async (queries) => {
    // Several processes may start together: one publishes, the others then find nothing to do.
    await sql`lock table templates in exclusive mode`.execute(queries)
    let changed = 0
    for (const { id, name, digest, source, schema, sample } of templates) {
      const known = await queries.selectFrom('templates').innerJoin('template_versions', (join) => join
        .onRef('template_versions.template_id', '=', 'templates.template_id').onRef('template_versions.version', '=', 'templates.version'))
        .select(['templates.version', 'digest']).where('templates.template_id', '=', id).executeTakeFirst()
      if (known?.digest === digest) continue
      const version = (known?.version ?? 0) + 1
      await queries.insertInto('templates').values({ template_id: id, company_id: null, name, version, updated_at: now })
        .onConflict((conflict) => conflict.column('template_id').doUpdateSet({ name, version, updated_at: now })).execute()
      await queries.insertInto('template_versions').values({
        template_id: id, version, company_id: null, digest, source: JSON.stringify(source), schema: JSON.stringify(schema), sample: JSON.stringify(sample), created_at: now
      }).execute()
      changed++
    }
    return changed
  })
}

/** The versions of the templates that a company may use: the shared ones and its own. */
function ofCompany (queries: Kysely<Tables>, companyId: number | null) {
  return queries.selectFrom('templates')
    .innerJoin('template_versions', 'template_versions.template_id', 'templates.template_id')
    .select(['templates.template_id', 'templates.company_id', 'name', 'template_versions.version', 'digest', 'source', 'schema', 'sample', 'template_versions.created_at'])
    .where((where) => where.or([where('templates.company_id', 'is not distinct from', companyId), where('templates.company_id', 'is', null)]))
}

function present (queries: Kysely<Tables>, companyId: number | null) {
  return ofCompany(queries, companyId).whereRef('template_versions.version', '=', 'templates.version')
}

type TemplateRow = Pick<Selectable<Tables['templates']>, 'template_id' | 'company_id' | 'name'>
  & Pick<Selectable<Tables['template_versions']>, 'version' | 'digest' | 'source' | 'schema' | 'sample' | 'created_at'>

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
