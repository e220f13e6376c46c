import { noteAudit } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { type Database } from '@dispatch/database'
import type { KeptPartial, KeptPartials } from '@dispatch/documents'
import { type Selectable, sql } from 'kysely'
import type { TemplateBody } from '../contract/templates.ts'
import type { AssetUse } from './assets.ts'
import { tablesIn, type TemplateTables } from './tables.ts'
import { addVersion, type ChangeContext, forgetDrafts, type NewVersion, noteTemplate, withTemplateLock } from './template-changes.ts'

/** A partial of a company, in its newest version. */
export type PartialRow = Omit<Selectable<TemplateTables['partials']>, 'source'>

/** How many partials and layouts a company may have. */
export const maxPartials = 100

const columns = ['company_id', 'name', 'kind', 'version', 'yaml', 'user_id', 'updated_at'] as const

/** A page of a company's partials, by name. */
export async function listPartials (database: Database, companyId: number, page: { limit: number, after?: string }): Promise<PartialRow[]> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('partials').select(columns).where('company_id', '=', companyId)
        .$if(page.after !== undefined, (query) => query.where('name', '>', page.after ?? '')).orderBy('name').limit(page.limit).execute())
}

export async function readPartial (database: Database, companyId: number, name: string): Promise<PartialRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('partials').select(columns).where('company_id', '=', companyId).where('name', '=', name)
        .executeTakeFirst())
}

/** All partials of a company, as templates include them. */
export async function readKeptPartials (database: Database, companyId: number): Promise<KeptPartials> {
  const rows = await database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('partials').select(['name', 'kind', 'version', 'source']).where('company_id', '=', companyId).execute())
  return Object.fromEntries(rows.map(({ name, kind, version, source }) => [name, { kind, version, source } as KeptPartial]))
}

/** A version of a template that includes a partial: what it was written as, and the newest one of its template. */
export type IncludingVersion = AssetUse & {
  latest: number
  yaml: string
  schema: NewVersion['schema']
  sample: NewVersion['sample']
  /** The fields of a template that a request may state beside its YAML. */
  facts: Pick<TemplateBody, 'name' | 'service' | 'documentType'>
}

/** The versions of the company's templates, in use or newest, that include a partial: by template, the one in use before the newest. */
export async function listIncluding (database: Database, companyId: number, name: string): Promise<IncludingVersion[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<IncludingVersion>`
      select templates.template_id as id, templates.name, versions.version, versions.yaml, versions.schema, versions.sample, newest.latest,
        jsonb_strip_nulls(jsonb_build_object('name', versions.source -> 'name', 'service', versions.source -> 'service',
          'documentType', versions.source -> 'documentType')) as facts,
        versions.version is not distinct from templates.version as present
      from templates join template_versions as versions on versions.template_id = templates.template_id
      cross join lateral (select max(version) as latest from template_versions as of_template
        where of_template.template_id = templates.template_id) as newest
      where templates.company_id = ${companyId} and removed_at is null
        and (versions.version = templates.version or versions.version = newest.latest)
        and (versions.source ->> 'layout' = ${name}
          or exists (select from jsonb_object_keys(versions.source -> 'partials') as included where split_part(included, '/', 1) = ${name}))
      order by templates.name, templates.template_id, versions.version`.execute(queries)
    return rows
  })
}

/** The partials of a company whose text includes one. */
export async function listIncludingPartials (database: Database, companyId: number, name: string): Promise<string[]> {
  const kept = await readKeptPartials(database, companyId)
  return Object.entries(kept).flatMap(([other, { source }]) =>
    other !== name && JSON.stringify(source).includes(`{"partial":${JSON.stringify(name)}}`) ? [other] : []
  )
}

/** A partial to store. `seen`: the versions of the others that it was checked with, by name. */
export type NewPartial = {
  name: string
  kind: KeptPartial['kind']
  yaml: string
  source: KeptPartial['source']
  base: number
  seen: ReadonlyMap<string, number>
}

/** The next draft of a template that includes a partial: made of the version `of`, where `latest` was the newest. */
export type NextDraft = { id: number, latest: number, version: NewVersion }

/**
 * Stores a partial with the next drafts of the templates that include it, all or nothing. Throws `conflict` where one of them was changed
 * meanwhile, or there are too many.
 */
export async function storePartial (
  database: Database,
  by: ChangeContext,
  { name, kind, yaml, source, base, seen }: NewPartial,
  drafts: readonly NextDraft[]
): Promise<AssetUse[]> {
  const { companyId, author, at } = by
  return withTemplateLock(database, by, async (queries) => {
    const tables = tablesIn(queries)
    const all = await tables.selectFrom('partials').select(['name', 'version']).where('company_id', '=', companyId).execute()
    const known = all.find((one) => one.name === name)
    if ((known?.version ?? 0) !== base) throw changedMeanwhile(name, known?.version)
    // Two that are stored at once could include each other.
    for (const [other, version] of seen) {
      const now = all.find((one) => one.name === other)?.version
      if (now !== version) throw changedMeanwhile(other, now)
    }
    if (known === undefined && all.length >= maxPartials) {
      throw new DispatchError('conflict', `The company has ${maxPartials} partials, which is the most: delete one first.`, {
        reason: 'at_most'
      })
    }
    const row = { kind, version: base + 1, yaml, source: JSON.stringify(source), user_id: author.userId, updated_at: at }
    await tables.insertInto('partials').values({ company_id: companyId, name, ...row })
      .onConflict((conflict) => conflict.columns(['company_id', 'name']).doUpdateSet(row)).execute()
    const object = { kind: 'partial', id: name }
    await noteAudit(queries, { companyId, author, action: 'partial.changed', object, facts: { version: base + 1 }, at })
    const made: AssetUse[] = []
    const newest = new Map<number, number>()
    for (const { id, latest, version } of drafts) {
      const now = await tables.selectFrom('template_versions').select((select) => select.fn.max('version').as('latest'))
        .where('template_id', '=', id).executeTakeFirstOrThrow()
      if (now.latest !== (newest.get(id) ?? latest)) throw changedMeanwhile(version.source.name)
      const next = now.latest + 1
      newest.set(id, next)
      await addVersion(queries, by, { id, version: next }, version)
      await noteTemplate(queries, by, 'template.changed', id, { name: version.source.name, version: next })
      made.push({ id, name: version.source.name, version: next, present: false })
    }
    for (const id of newest.keys()) await forgetDrafts(queries, companyId, id)
    return made
  })
}

function changedMeanwhile (name: string, version?: number): DispatchError {
  return new DispatchError('conflict',
    `"${name}" was changed meanwhile${version === undefined ? '' : `: its version is ${version}`}: read it, and make the change there.`, {
    reason: 'changed_meanwhile'
  })
}

/** Removes a partial that nothing includes. Answers whether there was one. */
export async function removePartial (database: Database, by: ChangeContext, name: string): Promise<boolean> {
  const { companyId, author, at } = by
  return withTemplateLock(database, by, async (queries) => {
    const removed = await tablesIn(queries).deleteFrom('partials').where('company_id', '=', companyId).where('name', '=', name)
      .returning('name').executeTakeFirst()
    if (removed === undefined) return false
    await noteAudit(queries, { companyId, author, action: 'partial.deleted', object: { kind: 'partial', id: name }, at })
    return true
  })
}
