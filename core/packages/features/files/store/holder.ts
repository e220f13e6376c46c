import { dispatchesNaming, type Person } from '@dispatch/core'
import { type Database, firstIdAt, idSkew, type OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { type FileRow, type Removable, tablesIn } from './files.ts'

/** Files that one look reads: the bytes of each are read. */
const together = 20

/** Dispatches that are looked into at once. */
const usesTogether = 100

export type Upload = Pick<FileRow, 'file_id' | 'filename' | 'content_type' | 'size' | 'sha256' | 'storage_key' | 'created_at'>

/** The files of a company, behind one of them. */
export async function listUploads (
  { owner }: Database,
  companyId: number,
  after: string | undefined
): Promise<{ uploads: Upload[], next?: string }> {
  const uploads = await tablesIn(owner).selectFrom('files')
    .select(['file_id', 'filename', 'content_type', 'size', 'sha256', 'storage_key', 'created_at'])
    .where('company_id', '=', companyId).where('removed_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('file_id', '>', after ?? ''))
    .orderBy('file_id').limit(together).execute()
  const last = uploads.at(-1)
  return uploads.length < together || last === undefined ? { uploads } : { uploads, next: last.file_id }
}

/** The steps that use a file. */
const steps = (companyId: number, fileId: string) =>
  sql`steps join dispatches using (company_id, dispatch_id) where company_id = ${companyId}
    and strpos(to_jsonb(steps)::text, ${fileId}) > 0`

/** Whether dispatches use a file, and each of them names a person. The first one that does not is the last that is looked into. */
export async function isUsedForThemAlone (
  { owner }: Database,
  { companyId, person, file: { file_id: fileId, created_at: at } }: { companyId: number, person: Person, file: Upload }
): Promise<boolean> {
  let last: string | undefined = firstIdAt(at.getTime() - idSkew)
  let isUsed = false
  while (last !== undefined) {
    const { rows }: { rows: { id: string }[] } = await sql<{ id: string }>`select distinct dispatch_id as id from ${
      steps(companyId, fileId)
    }
      and dispatch_id > ${last} order by dispatch_id limit ${usesTogether}`.execute(owner)
    const ids = rows.map(({ id }) => id)
    const naming = await dispatchesNaming({ owner }, { companyId, person }, ids)
    if (naming.length < ids.length) return false
    isUsed ||= ids.length > 0
    last = ids.length < usesTogether ? undefined : ids.at(-1)
  }
  return isUsed
}

/** Hides files from everybody, but for those that a dispatch which has not ended needs; answers how many. */
export async function hideFiles (
  queries: OwnerQueries,
  { companyId, now }: { companyId: number, now: Date },
  fileIds: readonly string[]
): Promise<number> {
  let hidden = 0
  for (const fileId of fileIds) {
    const { rows: used } = await sql`select from ${steps(companyId, fileId)} and dispatches.status in ('queued', 'running') limit 1`
      .execute(queries)
    if (used.length > 0) continue
    const { numUpdatedRows } = await tablesIn(queries).updateTable('files').set({ removed_at: now, filename: 'erased' })
      .where('company_id', '=', companyId).where('file_id', '=', fileId).executeTakeFirstOrThrow()
    hidden += Number(numUpdatedRows)
  }
  return hidden
}

/** Files of a company that nobody gets any more, and whose bytes are still there. */
export async function listHidden ({ owner }: Database, companyId: number): Promise<Removable[]> {
  return tablesIn(owner).selectFrom('files').select(['file_id', 'company_id', 'storage_key']).where('company_id', '=', companyId)
    .where('removed_at', 'is not', null).limit(together).execute()
}
