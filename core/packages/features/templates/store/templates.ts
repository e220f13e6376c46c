import type { StoredTemplate } from '@dispatch/core'
import { createFreshCache, type Database, type Freshness } from '@dispatch/database'
import type { TemplateFiles } from '@dispatch/documents'
import { sql } from 'kysely'
import { followCommonLanguage } from './common-language.ts'
import { publishShared, type SharedTemplate } from './shared-templates.ts'
import { tablesIn } from './tables.ts'
import { latestVersionNumber, readableTemplateOf, recordOf, selectManagedVersions, selectPublishedVersions, selectUsableVersions,
  templateOf, type TemplateRecord } from './template-rows.ts'

/** A filter of templates. `q`: words that their names have. `status`: whether dispatches can use them. */
export type TemplateFilter = { service?: string, documentType?: string, name?: string, q?: string, status?: 'published' | 'draft' }

/** The templates as they are stored. */
export type TemplateStore = {
  /**
   * The version in use of a template that the company may use, as of the last freshness check. Of a shared one it is the newest that every
   * living process can read: whichever takes the dispatch from the queue can make it.
   */
  find: (companyId: number, templateId: number) => Promise<StoredTemplate | undefined>
  /** The version in use of the template with this name. The company's own one comes before a shared one. */
  findNamed: (companyId: number, name: string) => Promise<StoredTemplate | undefined>
  /** One version of a template, for a dispatch that was recorded with it. */
  findVersion: (companyId: number, templateId: number, version: number) => Promise<StoredTemplate | undefined>
  /** What those are called now that were not removed, by their ids, as of the last freshness check. */
  namesOf: (companyId: number, templateIds: readonly number[]) => Promise<ReadonlyMap<number, string>>
  /** A page of the templates that the company may see, by id: each with its version in use, or else its newest one. */
  list: (companyId: number, filter: TemplateFilter, page: { limit: number, after?: number }) => Promise<TemplateRecord[]>
  /** Every shared template made for a service. */
  listShared: () => Promise<StoredTemplate[]>
  /** The files of the shared templates as they were published, of those without pictures. */
  listSharedFiles: () => Promise<TemplateFiles[]>
  /** Brings the shared templates up to date. A changed template gets a new version. Answers how many changed. */
  publishShared: (templates: readonly SharedTemplate[], now: Date) => Promise<number>
}

/** Reads and writes the templates of companies and those that all share. `commonLanguage`: the newest that every process can read. */
export function createTemplateStore (
  database: Database,
  freshness: Freshness,
  commonLanguage: () => Promise<number> = followCommonLanguage(database)
): TemplateStore {
  const cache = createFreshCache<string, StoredTemplate | undefined>(freshness, (key) => Number.parseInt(key), { max: heaviest, weigh })
  const names = createFreshCache<string, string | undefined>(freshness, (key) => Number.parseInt(key))
  const nameOf = (companyId: number, templateId: number): Promise<string | undefined> =>
    names.get(`${companyId}:${templateId}`, () =>
      database.company(companyId, async (queries) => {
        const row = await tablesIn(queries).selectFrom('templates').select('name').where('template_id', '=', templateId)
          .where((where) => where.or([where('company_id', '=', companyId), where('company_id', 'is', null)]))
          .where('removed_at', 'is', null).executeTakeFirst()
        return row?.name
      }))
  return {
    async namesOf (companyId, templateIds) {
      const found = await Promise.all(templateIds.map(async (id) => ({ id, name: await nameOf(companyId, id) })))
      return new Map(found.flatMap(({ id, name }) => name === undefined ? [] : [[id, name]]))
    },

    async find (companyId, templateId) {
      const common = await commonLanguage()
      return cache.get(`${companyId}:${common}:${templateId}`, () =>
        database.company(companyId, async (queries) => {
          const row = await selectPublishedVersions(queries, companyId, common).where('templates.template_id', '=', templateId)
            .executeTakeFirst()
          return row && readableTemplateOf(row)
        }))
    },

    async findNamed (companyId, name) {
      const common = await commonLanguage()
      return cache.get(`${companyId}:${common}:"${name}"`, () =>
        database.company(companyId, async (queries) => {
          const row = await selectPublishedVersions(queries, companyId, common).where('name', '=', name)
            .orderBy('templates.company_id', (order) => order.asc().nullsLast()).orderBy('templates.template_id').limit(1)
            .executeTakeFirst()
          return row && readableTemplateOf(row)
        }))
    },

    findVersion: (companyId, templateId, version) =>
      database.company(companyId, async (queries) => {
        const row = await selectUsableVersions(queries, companyId).select('source').where('templates.template_id', '=', templateId).where(
          'template_versions.version',
          '=',
          version
        ).executeTakeFirst()
        return row && readableTemplateOf(row)
      }),

    list: (companyId, filter, page) =>
      database.company(companyId, async (queries) => {
        const rows = await selectManagedVersions(queries, companyId).where(isShown)
          .where((where) => where.and(conditions(filter)))
          .$if(page.after !== undefined, (query) => query.where('templates.template_id', '>', page.after ?? 0))
          .orderBy('templates.template_id').limit(page.limit).execute()
        return rows.map(recordOf)
      }),

    async listShared () {
      const rows = await selectPublishedVersions(database.owner, null).orderBy('templates.template_id').execute()
      return rows.map(templateOf)
    },

    async listSharedFiles () {
      const rows = await selectPublishedVersions(database.owner, null).select('yaml').execute()
      return rows.filter(({ source }) => source.assets === undefined).map(({ yaml, schema, sample }) => ({ yaml, schema, sample }))
    },

    publishShared: (templates, now) => publishShared(database, templates, now)
  }
}

/** The weight of a template in the cache: the characters of its pictures. The rest is small beside them. */
const heaviest = 50_000_000

function weigh (template: StoredTemplate | undefined): number {
  return Object.values(template?.source.assets ?? {}).reduce((sum, { length }) => sum + length, 1)
}

/** One version of a template that was not removed: the requested one, or else the one in use or the newest. */
export async function readTemplate (
  database: Database,
  companyId: number,
  templateId: number,
  version?: number
): Promise<TemplateRecord | undefined> {
  return database.company(companyId, async (queries) => {
    const row = await selectManagedVersions(queries, companyId).where('templates.template_id', '=', templateId)
      .where(version === undefined ? isShown : sql<boolean>`template_versions.version = ${version}`).executeTakeFirst()
    return row && recordOf(row)
  })
}

/** A page of the versions of a template, the newest first. */
export async function listTemplateVersions (
  database: Database,
  companyId: number,
  templateId: number,
  page: { limit: number, after?: number }
): Promise<TemplateRecord[]> {
  return database.company(companyId, async (queries) => {
    const rows = await selectManagedVersions(queries, companyId).where('templates.template_id', '=', templateId)
      .$if(page.after !== undefined, (query) => query.where('template_versions.version', '<', page.after ?? 0))
      .orderBy('template_versions.version', 'desc').limit(page.limit).execute()
    return rows.map(recordOf)
  })
}

/** The version of a template that lists show. */
const isShown = sql<boolean>`template_versions.version = coalesce(templates.version, ${latestVersionNumber})`

function conditions ({ service, documentType, name, q = '', status }: TemplateFilter) {
  const words = q.split(/\s+/).filter((word) => word !== '')
  return [
    ...service === undefined ? [] : [sql<boolean>`source->>'service' = ${service}`],
    ...documentType === undefined ? [] : [sql<boolean>`source->>'documentType' = ${documentType}`],
    ...name === undefined ? [] : [sql<boolean>`name = ${name}`],
    ...words.map((word) => sql<boolean>`position(lower(${word}) in lower(name)) > 0`),
    ...status === undefined
      ? []
      : [status === 'published' ? sql<boolean>`templates.version is not null` : sql<boolean>`templates.version is null`]
  ]
}
