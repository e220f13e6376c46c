import type { Selectable } from 'kysely'
import { hash } from 'node:crypto'
import { DispatchError } from '../../contract/errors.ts'
import { columns } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { noteAudit } from '../tenants/audit.ts'
import { type ChangeContext, withTemplateLock } from './template-changes.ts'

/** A picture of a company: a data URI, with its size in pixels. */
export type Asset = Selectable<Tables['assets']>
export type AssetFacts = Omit<Asset, 'uri'>

/** How many pictures a company may have. */
export const mostAssets = 100

const facts = ['company_id', 'name', 'sha256', 'width', 'height', 'size', 'created_at'] as const

/** A page of a company's pictures, by name. */
export async function listAssets (database: Database, companyId: number, page: { limit: number, after?: string }): Promise<AssetFacts[]> {
  return database.company(companyId, (queries) =>
    queries.selectFrom('assets').select(facts).where('company_id', '=', companyId)
      .$if(page.after !== undefined, (query) => query.where('name', '>', page.after ?? '')).orderBy('name').limit(page.limit).execute())
}

/** The pictures with these names. Names without a picture are left out. */
export async function readAssets (database: Database, companyId: number, names: readonly string[]): Promise<Asset[]> {
  return names.length === 0
    ? []
    : database.company(companyId,
      (queries) =>
        queries.selectFrom('assets').select(columns.assets).where('company_id', '=', companyId).where('name', 'in', names).execute())
}

/** Stores a picture. Throws `conflict` where the name is taken or the company has too many. */
export async function addAsset (
  database: Database,
  by: ChangeContext,
  { name, uri, bytes, ...size }: Pick<Asset, 'name' | 'uri' | 'width' | 'height'> & { bytes: number }
): Promise<AssetFacts> {
  const { companyId, author, at } = by
  return withTemplateLock(database, by, async (queries) => {
    const names = await queries.selectFrom('assets').select('name').where('company_id', '=', companyId).execute()
    if (names.some((known) => known.name === name)) {
      throw new DispatchError('conflict',
        `The company has an asset "${name}" already: delete it first, or choose another name. Versions of templates keep theirs.`)
    }
    if (names.length >= mostAssets) {
      throw new DispatchError('conflict', `The company has ${mostAssets} assets, which is the most: delete one first.`)
    }
    await noteAudit(queries, { companyId, author, action: 'asset.created', object: { kind: 'asset', id: name }, at })
    return queries.insertInto('assets').values({
      company_id: companyId,
      name,
      uri,
      sha256: hash('sha256', uri),
      size: bytes,
      ...size,
      created_at: at
    }).returning(facts).executeTakeFirstOrThrow()
  })
}

/** Removes a picture. Versions of templates keep their copies. Answers whether there was one. */
export async function removeAsset (database: Database, by: ChangeContext, name: string): Promise<boolean> {
  const { companyId, author, at } = by
  return withTemplateLock(database, by, async (queries) => {
    const removed = await queries.deleteFrom('assets').where('company_id', '=', companyId).where('name', '=', name).returning('name')
      .executeTakeFirst()
    if (removed !== undefined) {
      await noteAudit(queries, { companyId, author, action: 'asset.deleted', object: { kind: 'asset', id: name }, at })
    }
    return removed !== undefined
  })
}
