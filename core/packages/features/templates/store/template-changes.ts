import { type AuditAuthor, noteAudit } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { StoredTemplate } from '@dispatch/core'
import { asOwner, type CompanyQueries, type Database } from '@dispatch/database'
import { templateLanguage } from '@dispatch/documents'
import { sql } from 'kysely'
import { readCommonLanguage } from './common-language.ts'
import { tablesIn } from './tables.ts'

/** The limits of a company: its templates, the bytes of all versions, and the drafts that are kept of each template. */
export const templateLimits = { templates: 200, bytes: 100 * 1024 * 1024, drafts: 20 } as const

/** An inspected version. Its source contains its pictures. */
export type NewVersion = Pick<StoredTemplate, 'digest' | 'source' | 'schema' | 'sample'> & { yaml: string }

/** The company that is changed, who changes it, and when. */
export type ChangeContext = { companyId: number, author: AuditAuthor, at: Date }

/** Stores a template with its first draft. Answers its number. Throws `conflict` where the name is taken or a limit is reached. */
export async function createTemplate (database: Database, by: ChangeContext, version: NewVersion): Promise<number> {
  return withTemplateLock(database, by, async (queries) => {
    const { companyId, at } = by
    const { name } = version.source
    await requireFree(queries, companyId, name)
    const { count } = await tablesIn(queries).selectFrom('templates').select((select) => select.fn.countAll<string>().as('count')).where(
      'company_id',
      '=',
      companyId
    ).where('removed_at', 'is', null).executeTakeFirstOrThrow()
    if (Number(count) >= templateLimits.templates) {
      throw new DispatchError('conflict', `The company has ${templateLimits.templates} templates, which is the most: delete one first.`, {
        reason: 'at_most'
      })
    }
    const { id } = await queries.selectNoFrom(sql<number>`nextval('template_numbers')::integer`.as('id')).executeTakeFirstOrThrow()
    await tablesIn(queries).insertInto('templates').values({ template_id: id, company_id: companyId, name, version: null, updated_at: at })
      .execute()
    await addVersion(queries, by, { id, version: 1 }, version)
    await noteTemplate(queries, by, 'template.created', id, { name, version: 1 })
    return id
  })
}

/** Stores a draft that was made from the version `base` as the next version. Throws `conflict` where `base` is not the newest any more. */
export async function changeTemplate (
  database: Database,
  by: ChangeContext,
  templateId: number,
  base: number,
  version: NewVersion
): Promise<void> {
  return withTemplateLock(database, by, async (queries) => {
    const template = await own(queries, by.companyId, templateId)
    if (template.latest !== base) {
      throw new DispatchError('conflict',
        `The newest version is ${template.latest}, and the change was made from ${base}: read it, and make the change there.`, {
        reason: 'changed_meanwhile'
      })
    }
    const { name } = version.source
    await requireFree(queries, by.companyId, name, templateId)
    // Until a version is published, the template has the name of its newest draft.
    await tablesIn(queries).updateTable('templates').set({ updated_at: by.at, ...template.version === null ? { name } : {} }).where(
      'company_id',
      '=',
      by.companyId
    ).where('template_id', '=', templateId).execute()
    await addVersion(queries, by, { id: templateId, version: base + 1 }, version)
    await noteTemplate(queries, by, 'template.changed', templateId, { name, version: base + 1 })
    await forgetDrafts(queries, by.companyId, templateId)
  })
}

/**
 * Publishes a version: dispatches use it from now on. Throws `template_not_found` where there is no such version, and
 * `service_unavailable` where a process lives that cannot read it.
 */
export async function publishTemplate (database: Database, by: ChangeContext, templateId: number, version: number): Promise<void> {
  const { companyId, at } = by
  const common = await readCommonLanguage(database)
  return withTemplateLock(database, by, async (queries) => {
    await own(queries, companyId, templateId)
    const row = await tablesIn(queries).updateTable('template_versions').set({ published_at: sql<Date>`coalesce(published_at, ${at})` })
      .where('company_id', '=', companyId).where('template_id', '=', templateId).where('version', '=', version).returning(
        ['language', sql<string>`source->>'name'`.as('name')]
      ).executeTakeFirst()
    if (row === undefined) {
      throw new DispatchError('template_not_found',
        `The template has no version ${version}: GET /api/v1/templates/${templateId}/versions lists those that it has.`)
    }
    if (row.language > common) {
      throw new DispatchError('service_unavailable',
        `The service is being upgraded: a process of an older release still works, which cannot read version ${version}. Publish it once ` +
          'all processes are new.', { reason: 'upgrade_under_way', retryAfter: 60 })
    }
    await requireFree(queries, companyId, row.name, templateId)
    await tablesIn(queries).updateTable('templates').set({ version, name: row.name, in_use_since: at, updated_at: at }).where('company_id',
      '=', companyId)
      .where(
        'template_id',
        '=',
        templateId
      ).execute()
    await noteTemplate(queries, by, 'template.published', templateId, { name: row.name, version })
  })
}

/** Removes a template from use. Dispatches that have used it keep their version. */
export async function removeTemplate (database: Database, by: ChangeContext, templateId: number): Promise<void> {
  return withTemplateLock(database, by, async (queries) => {
    const { name } = await own(queries, by.companyId, templateId)
    await tablesIn(queries).updateTable('templates').set({ removed_at: by.at, updated_at: by.at }).where('company_id', '=', by.companyId)
      .where(
        'template_id',
        '=',
        templateId
      ).execute()
    await noteTemplate(queries, by, 'template.deleted', templateId, { name })
  })
}

/** Any number that no other lock uses. */
const lock = 1_414_089_808

/** Runs the changes of one company's templates one after the other, each in its transaction. */
export async function withTemplateLock<T> (
  database: Database,
  { companyId }: Pick<ChangeContext, 'companyId'>,
  change: (queries: CompanyQueries) => Promise<T>
): Promise<T> {
  return database.company(companyId, async (queries) => {
    await sql`select pg_advisory_xact_lock(${lock}, ${companyId})`.execute(queries)
    return change(queries)
  })
}

async function own (
  queries: CompanyQueries,
  companyId: number,
  templateId: number
): Promise<{ name: string, version: number | null, latest: number }> {
  const row = await tablesIn(queries).selectFrom('templates').select(['company_id', 'name', 'version'])
    .select(
      sql<number>`(select max(version) from template_versions where template_versions.template_id = templates.template_id)`.as('latest')
    )
    .where('template_id', '=', templateId).where('removed_at', 'is', null)
    .where((where) => where.or([where('company_id', '=', companyId), where('company_id', 'is', null)])).executeTakeFirst()
  if (row === undefined) throw templateNotFound(templateId)
  requireOwn(row.company_id)
  return row
}

/** Throws `forbidden` for a shared template. */
export function requireOwn (companyId: number | null): void {
  if (companyId === null) {
    throw new DispatchError('forbidden',
      'The template is shared by all companies: only one of your own can be changed. POST /api/v1/templates makes one of its source.')
  }
}

/** The error for a template that does not exist or belongs to another company. */
export function templateNotFound (named: number | string): DispatchError {
  return new DispatchError('template_not_found',
    `There is no template "${String(named).slice(0, 60)}": GET /api/v1/templates lists those that you may use.`)
}

async function requireFree (queries: CompanyQueries, companyId: number, name: string, but = 0): Promise<void> {
  const taken = await tablesIn(queries).selectFrom('templates').select('template_id').where('company_id', '=', companyId).where('name', '=',
    name)
    .where('removed_at', 'is', null).where('template_id', '<>', but).executeTakeFirst()
  if (taken !== undefined) {
    throw new DispatchError('conflict',
      `The company has a template of the name "${name}" already, with the id ${taken.template_id}: choose another name.`, {
      reason: 'exists'
    })
  }
}

/** Stores a draft. Throws `conflict` where the versions of the company take up too much. */
export async function addVersion (
  queries: CompanyQueries,
  { companyId, author, at }: ChangeContext,
  { id, version }: { id: number, version: number },
  { digest, yaml, ...content }: NewVersion
): Promise<void> {
  const [source, schema, sample] = [JSON.stringify(content.source), JSON.stringify(content.schema), JSON.stringify(content.sample)]
  const size = [source, schema, sample, yaml].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  // The drafts that this one makes old go with it.
  const { used } = await tablesIn(queries).selectFrom('template_versions').select((select) =>
    select.fn.coalesce(select.fn.sum<string>('size'), sql<string>`0`).as('used')
  ).where('company_id', '=', companyId)
    .where((where) => where.not(where.and([where('template_id', '=', id), where('version', 'in', oldDrafts(queries, id, 1))])))
    .executeTakeFirstOrThrow()
  if (Number(used) + size > templateLimits.bytes) {
    throw new DispatchError('conflict',
      `The templates of the company, with all their versions and pictures, take up more than ${templateLimits.bytes} bytes: use ` +
        'smaller pictures, or ask the operator.')
  }
  await tablesIn(queries).insertInto('template_versions').values({
    template_id: id,
    version,
    company_id: companyId,
    digest,
    source,
    schema,
    sample,
    yaml,
    size,
    user_id: author.userId,
    created_at: at,
    published_at: null,
    language: templateLanguage
  }).execute()
}

/** The drafts of a template that are too old to be kept, once `more` were added. */
function oldDrafts (queries: CompanyQueries, templateId: number, more = 0) {
  return tablesIn(queries).selectFrom('template_versions as old').select('old.version').where('old.template_id', '=', templateId)
    .where('old.published_at', 'is', null).orderBy('old.version', 'desc').offset(templateLimits.drafts - more)
}

/**
 * Deletes old drafts, at the end of a transaction: no dispatch can have used them. It does so as the owner, as the role of companies may
 * not delete versions.
 */
export async function forgetDrafts (queries: CompanyQueries, companyId: number, templateId: number): Promise<void> {
  await tablesIn(await asOwner(queries)).deleteFrom('template_versions').where('company_id', '=', companyId)
    .where('template_id', '=', templateId).where('published_at', 'is', null)
    .where('version', 'in', oldDrafts(queries, templateId)).execute()
}

export async function noteTemplate (
  queries: CompanyQueries,
  { companyId, author, at }: ChangeContext,
  action: string,
  id: number,
  facts: { name: string, version?: number }
): Promise<void> {
  await noteAudit(queries, { companyId, author, action, object: { kind: 'template', id: String(id) }, facts, at })
}
