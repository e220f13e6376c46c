import { noteAudit } from '@dispatch/accounts'
import { type CompanyQueries, type Database } from '@dispatch/database'
import type { Brand, KeptBrand } from '@dispatch/documents'
import { type Selectable, sql } from 'kysely'
import { hash } from 'node:crypto'
import type { BrandBody } from '../contract/brand.ts'
import { tablesIn, type TemplateTables } from './tables.ts'
import { type ChangeContext, withTemplateLock } from './template-changes.ts'

/** The settings of a company's brand. `uri`: its logo as a data URI. */
export type BrandRow = Selectable<TemplateTables['brands']> & { uri: string | null }

/** A version of a brand. `inUseSince`: only of the version in use. */
export type BrandVersion = KeptBrand & { version: number, inUseSince?: Date }

/** The settings of a company's brand; undefined where it has none. */
export async function readBrand (database: Database, companyId: number): Promise<BrandRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('brands').leftJoin('brand_logos', (join) =>
        join.onRef('brand_logos.sha256', '=', 'brands.logo').onRef('brand_logos.company_id', '=', 'brands.company_id'))
        .select(['brands.company_id', 'settings', 'logo', 'updated_at', 'uri']).where('brands.company_id', '=', companyId)
        .executeTakeFirst())
}

/** What was approved waits again for what has changed since, and only for that. */
const sinceChanged = sql<Date>`case when (brands.settings, brands.logo) is distinct from (excluded.settings, excluded.logo)
  then excluded.updated_at else brands.updated_at end`

/** Sets the brand of a company. `uri`: its logo as a data URI. */
export async function writeBrand (database: Database, by: ChangeContext, settings: BrandBody, uri: string | undefined): Promise<void> {
  const { companyId, author, at } = by
  await withTemplateLock(database, by, async (queries) => {
    const logo = uri === undefined ? null : await keepLogo(queries, companyId, uri)
    const row = { settings: JSON.stringify(settings), logo, updated_at: at }
    await tablesIn(queries).insertInto('brands').values({ company_id: companyId, ...row })
      .onConflict((conflict) => conflict.column('company_id').doUpdateSet({ ...row, updated_at: sinceChanged })).execute()
    const facts = { fields: Object.keys(settings) }
    await noteAudit(queries, { companyId, author, action: 'brand.changed', object: { kind: 'company', id: String(companyId) }, facts, at })
  })
}

async function keepLogo (queries: CompanyQueries, companyId: number, uri: string): Promise<string> {
  const sha256 = hash('sha256', uri)
  await tablesIn(queries).insertInto('brand_logos').values({ company_id: companyId, sha256, uri }).onConflict((conflict) =>
    conflict.doNothing()
  ).execute()
  return sha256
}

/** The number of a brand with this content: of the version that has it already, or of a new one. */
export async function versionOfBrand (database: Database, by: { companyId: number, at: Date }, { logo, ...content }: Brand): Promise<
  BrandVersion
> {
  const { companyId, at } = by
  const sha256 = logo === undefined ? null : hash('sha256', logo)
  const text = JSON.stringify(content)
  const digest = hash('sha256', `${text} ${sha256 ?? ''}`)
  const kept = { digest, content: { ...content, ...logo !== undefined && { logo } } }
  const known = await database.company(companyId, (queries) => findDigest(queries, companyId, digest))
  if (known !== undefined) return { ...kept, ...known }
  return withTemplateLock(database, by, async (queries) => {
    // Another process may have been quicker.
    const { version } = await findDigest(queries, companyId, digest) ?? await tablesIn(queries).insertInto('brand_versions').values({
      company_id: companyId,
      version: sql<number>`(select coalesce(max(version), 0) + 1 from brand_versions where company_id = ${companyId})`,
      digest,
      content: text,
      logo: sha256,
      created_at: at
    }).returning('version').executeTakeFirstOrThrow()
    return { ...kept, version }
  })
}

async function findDigest (queries: CompanyQueries, companyId: number, digest: string): Promise<{ version: number } | undefined> {
  return tablesIn(queries).selectFrom('brand_versions').select('version').where('company_id', '=', companyId).where('digest', '=', digest)
    .executeTakeFirst()
}

/** A version of a company's brand. */
export async function readBrandVersion (database: Database, companyId: number, version: number): Promise<BrandVersion | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('brand_versions').leftJoin('brand_logos', (join) =>
        join.onRef('brand_logos.sha256', '=', 'brand_versions.logo').onRef('brand_logos.company_id', '=', 'brand_versions.company_id'))
        .select(['digest', 'content', 'uri']).where('brand_versions.company_id', '=', companyId).where('version', '=', version)
        .executeTakeFirst())
  return row && { version, digest: row.digest, content: { ...row.content, ...row.uri !== null && { logo: row.uri } } }
}
