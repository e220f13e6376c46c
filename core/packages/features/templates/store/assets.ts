import { noteAudit } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { CompanyQueries, Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'
import { hash } from 'node:crypto'
import { tablesIn, type TemplateTables } from './tables.ts'
import { type ChangeContext, withTemplateLock } from './template-changes.ts'

/** A picture of a company: a data URI, with its size in pixels. */
export type Asset = Selectable<TemplateTables['assets']>
export type AssetFacts = Omit<Asset, 'uri'> & { type: string }

/** A version of a template whose text names a picture. `present`: dispatches use it. */
export type AssetUse = { id: number, name: string, version: number, present: boolean }

/** How many pictures a company may have. */
export const maxAssets = 100

const columns = ['company_id', 'name', 'uri', 'sha256', 'width', 'height', 'size', 'created_at'] as const
const facts = ['company_id', 'name', 'sha256', 'width', 'height', 'size', 'created_at',
  sql<string>`substring(uri from 'data:([a-z/]+);')`.as('type')] as const

type NewAsset = Pick<Asset, 'name' | 'uri' | 'width' | 'height'> & { bytes: number }

/** A page of a company's pictures, by name. */
export async function listAssets (database: Database, companyId: number, page: { limit: number, after?: string }): Promise<AssetFacts[]> {
  return database.company(companyId, (queries) =>
    tablesIn(queries).selectFrom('assets').select(facts).where('company_id', '=', companyId)
      .$if(page.after !== undefined, (query) => query.where('name', '>', page.after ?? '')).orderBy('name').limit(page.limit).execute())
}

/** The pictures with these names. Names without a picture are left out. */
export async function readAssets (database: Database, companyId: number, names: readonly string[]): Promise<Asset[]> {
  return names.length === 0
    ? []
    : database.company(companyId,
      (queries) =>
        tablesIn(queries).selectFrom('assets').select(columns).where('company_id', '=', companyId).where('name', 'in', names).execute())
}

/** Stores a picture. Throws `conflict` where the name is taken or the company has too many. */
export async function addAsset (
  database: Database,
  by: ChangeContext,
  asset: NewAsset
): Promise<AssetFacts> {
  const { companyId, author, at } = by
  const { name } = asset
  return withTemplateLock(database, by, async (queries) => {
    const names = await tablesIn(queries).selectFrom('assets').select('name').where('company_id', '=', companyId).execute()
    if (names.some((known) => known.name === name)) {
      throw new DispatchError('conflict',
        `The company has an asset "${name}" already: delete it first, or choose another name. Versions of templates keep theirs.`, {
        reason: 'exists'
      })
    }
    if (names.length >= maxAssets) {
      throw new DispatchError('conflict', `The company has ${maxAssets} assets, which is the most: delete one first.`, {
        reason: 'at_most'
      })
    }
    await noteAudit(queries, { companyId, author, action: 'asset.created', object: { kind: 'asset', id: name }, at })
    return insert(queries, by, asset)
  })
}

async function insert (
  queries: CompanyQueries,
  { companyId, at }: ChangeContext,
  { name, uri, bytes, ...size }: NewAsset
): Promise<AssetFacts> {
  return tablesIn(queries).insertInto('assets').values({
    company_id: companyId,
    name,
    uri,
    sha256: hash('sha256', uri),
    size: bytes,
    ...size,
    created_at: at
  }).returning(facts).executeTakeFirstOrThrow()
}

/** Stores another picture under the name of one. Undefined where there is none. */
export async function replaceAsset (database: Database, by: ChangeContext, asset: NewAsset): Promise<AssetFacts | undefined> {
  const { companyId, author, at } = by
  const { name } = asset
  return withTemplateLock(database, by, async (queries) => {
    const known = await tablesIn(queries).deleteFrom('assets').where('company_id', '=', companyId).where('name', '=', name).returning(
      'name'
    )
      .executeTakeFirst()
    if (known === undefined) return undefined
    await noteAudit(queries, { companyId, author, action: 'asset.replaced', object: { kind: 'asset', id: name }, at })
    return insert(queries, by, asset)
  })
}

/** The versions of the company's templates, in use or newest, whose text names a picture. `name` is that of a picture: it has no signs. */
export async function listAssetUses (database: Database, companyId: number, name: string): Promise<AssetUse[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<AssetUse>`
      select templates.template_id as id, templates.name, versions.version, versions.version is not distinct from templates.version as present
      from templates join template_versions as versions on versions.template_id = templates.template_id
      where templates.company_id = ${companyId} and removed_at is null and yaml ~ ${`asset:${name}([^a-z0-9-]|$)`} and (
        versions.version = templates.version or versions.version = (
          select max(newest.version) from template_versions as newest where newest.template_id = templates.template_id
        )
      ) order by templates.name, versions.version`.execute(queries)
    return rows
  })
}

/** Removes a picture. Versions of templates keep their copies. Answers whether there was one. */
export async function removeAsset (database: Database, by: ChangeContext, name: string): Promise<boolean> {
  const { companyId, author, at } = by
  return withTemplateLock(database, by, async (queries) => {
    const removed = await tablesIn(queries).deleteFrom('assets').where('company_id', '=', companyId).where('name', '=', name).returning(
      'name'
    )
      .executeTakeFirst()
    if (removed !== undefined) {
      await noteAudit(queries, { companyId, author, action: 'asset.deleted', object: { kind: 'asset', id: name }, at })
    }
    return removed !== undefined
  })
}
