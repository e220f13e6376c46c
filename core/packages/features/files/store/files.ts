import type { Sight } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'

type Tables = {
  files: {
    file_id: string
    company_id: number
    user_id: number
    test: boolean
    filename: string
    content_type: string
    size: string
    sha256: string
    storage_key: string
    created_at: Date
    expires_at: Date
    removed_at: Date | null
  }
}

export type FileRow = Omit<Selectable<Tables['files']>, 'company_id' | 'removed_at'>

const columns = ['file_id', 'user_id', 'test', 'filename', 'content_type', 'size', 'sha256', 'storage_key', 'created_at',
  'expires_at'] as const

/** Queries that know the table of files. */
export const tablesIn = (queries: Database['owner']) => queries.$extendTables<Tables>()

/** What the files of a company may be together. */
type Room = { files: number, bytes: number }

/** What a company has no room for; undefined where it has room for a file of so many bytes. */
export type Lacking = keyof Room | undefined

export async function lackingFor (database: Database, companyId: number, size: number, room: Room): Promise<Lacking> {
  return database.company(companyId, (queries) => lackingIn(queries, companyId, size, room))
}

async function lackingIn (queries: Database['owner'], companyId: number, size: number, room: Room): Promise<Lacking> {
  const { files, bytes } = await tablesIn(queries).selectFrom('files')
    .select([sql<string>`count(*)`.as('files'), sql<string>`coalesce(sum(size), 0)`.as('bytes')])
    .where('company_id', '=', companyId).where('removed_at', 'is', null).executeTakeFirstOrThrow()
  if (Number(files) >= room.files) return 'files'
  return Number(bytes) + size > room.bytes ? 'bytes' : undefined
}

/** Adds a file, or answers what the company has no room for. One upload of a company is counted at a time. */
export async function addFile (database: Database, companyId: number, row: FileRow, room: Room): Promise<Lacking> {
  return database.company(companyId, async (queries) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('files', ${companyId}))`.execute(queries)
    const lacking = await lackingIn(queries, companyId, Number(row.size), room)
    if (lacking === undefined) await tablesIn(queries).insertInto('files').values({ ...row, company_id: companyId }).execute()
    return lacking
  })
}

/** Files of a company that somebody may see, the newest first. */
export async function listFiles (
  database: Database,
  companyId: number,
  { test, userId }: Sight,
  { limit, after, now }: { limit: number, after?: string | undefined, now: Date }
): Promise<FileRow[]> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('files').select(columns).where('company_id', '=', companyId).where('removed_at', 'is', null)
        .where('expires_at', '>', now)
        .$if(test === true, (query) => query.where('test', '=', true))
        .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
        .$if(after !== undefined, (query) => query.where('file_id', '<', after ?? ''))
        .orderBy('file_id', 'desc').limit(limit).execute())
}

export async function findFile (database: Database, companyId: number, fileId: string, now: Date): Promise<FileRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('files').select(columns).where('company_id', '=', companyId).where('file_id', '=', fileId)
        .where('removed_at', 'is', null).where('expires_at', '>', now).executeTakeFirst())
}

/** Keeps files until a time, those that are there now. One that is kept for about so long already is not written again. */
export async function keepFiles (
  database: Database,
  companyId: number,
  { fileIds, now, until, about }: { fileIds: readonly string[], now: Date, until: Date, about: Date }
): Promise<string[]> {
  return database.company(companyId, async (queries) => {
    const there = await tablesIn(queries).selectFrom('files').select(['file_id', 'expires_at']).where('company_id', '=', companyId)
      .where('file_id', 'in', [...fileIds]).where('removed_at', 'is', null).where('expires_at', '>', now).execute()
    const short = there.filter((row) => row.expires_at < about).map((row) => row.file_id)
    const long = there.filter((row) => row.expires_at >= about).map((row) => row.file_id)
    if (short.length === 0) return long
    const kept = await tablesIn(queries).updateTable('files').set({ expires_at: until }).where('company_id', '=', companyId)
      .where('file_id', 'in', short).where('removed_at', 'is', null).returning('file_id').execute()
    return [...long, ...kept.map((row) => row.file_id)]
  })
}

/** Where a file stands among those of all companies. */
export type FilePlace = Pick<Tables['files'], 'company_id' | 'file_id'>
export type EndingFile = FilePlace & Pick<Tables['files'], 'expires_at'>

/** Files that expire soon, or are kept for long, so many behind a place. */
export async function endingFiles (
  { owner }: Database,
  { soon, far, after, limit }: { soon: Date, far: Date, after: FilePlace | undefined, limit: number }
): Promise<EndingFile[]> {
  return tablesIn(owner).selectFrom('files').select(['company_id', 'file_id', 'expires_at']).where('removed_at', 'is', null)
    .where((where) => where.or([where('expires_at', '<=', soon), where('expires_at', '>', far)]))
    .$if(after !== undefined,
      (query) =>
        query.where((where) =>
          where(where.refTuple('company_id', 'file_id'), '>', where.tuple(after?.company_id ?? 0, after?.file_id ?? ''))
        ))
    .orderBy('company_id').orderBy('file_id').limit(limit).execute()
}

/** Changes until when files are kept. One that somebody else has changed meanwhile, or removed, stays as it is. */
export async function setExpiry (
  database: Database,
  companyId: number,
  files: readonly Pick<EndingFile, 'file_id' | 'expires_at'>[],
  until: Date
): Promise<void> {
  if (files.length === 0) return
  const known = JSON.stringify(files)
  await database.company(companyId,
    (queries) =>
      sql`update files set expires_at = ${until} from json_to_recordset(${known}::json) as known (file_id uuid, expires_at timestamptz)
      where company_id = ${companyId} and files.file_id = known.file_id and removed_at is null
        and date_trunc('milliseconds', files.expires_at) = known.expires_at`.execute(queries))
}

/** Hides a file from everybody; answers whether there was one. */
export async function hideFile (database: Database, companyId: number, fileId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await database.company(companyId,
    (queries) =>
      tablesIn(queries).updateTable('files').set({ removed_at: now }).where('company_id', '=', companyId).where('file_id', '=', fileId)
        .where('removed_at', 'is', null).executeTakeFirstOrThrow())
  return numUpdatedRows > 0n
}

/** A file whose bytes are to be removed. */
export type Removable = Pick<Tables['files'], 'file_id' | 'company_id' | 'storage_key'>

/** Hides files that have expired, and answers files that nobody gets any more, so many of each at most. */
export async function takeExpired ({ owner }: Database, now: Date, limit: number): Promise<Removable[]> {
  return owner.transaction().execute(async (queries) => {
    const tables = tablesIn(queries)
    const expired = tables.selectFrom('files').select(['company_id', 'file_id']).where('removed_at', 'is', null).where('expires_at', '<=',
      now)
      .orderBy('expires_at').limit(limit).forUpdate().skipLocked()
    await tables.updateTable('files').set({ removed_at: now })
      .where((eb) => eb(eb.refTuple('company_id', 'file_id'), 'in', expired.$asTuple('company_id', 'file_id'))).execute()
    return tables.selectFrom('files').select(['file_id', 'company_id', 'storage_key']).where('removed_at', 'is not', null).limit(limit)
      .execute()
  })
}

/** Deletes the rows of files whose bytes are removed. */
export async function forgetFiles ({ owner }: Database, removed: readonly Removable[]): Promise<void> {
  if (removed.length === 0) return
  await tablesIn(owner).deleteFrom('files').where((eb) =>
    eb(eb.refTuple('company_id', 'file_id'), 'in', removed.map((file) => eb.tuple(file.company_id, file.file_id)))
  ).execute()
}

/** Which of these files of a company have a row. */
export async function recordedFiles ({ owner }: Database, companyId: number, fileIds: readonly string[]): Promise<Set<string>> {
  if (fileIds.length === 0) return new Set()
  const rows = await tablesIn(owner).selectFrom('files').select('file_id').where('company_id', '=', companyId)
    .where('file_id', 'in', [...fileIds]).execute()
  return new Set(rows.map((row) => row.file_id))
}

export async function companyIds ({ owner }: Database): Promise<number[]> {
  const rows = await owner.selectFrom('companies').select('company_id').execute()
  return rows.map((row) => row.company_id)
}

/** A row of a company, for the tests of the walls between companies. */
export async function fillFiles (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into files (file_id, company_id, user_id, test, filename, content_type, size, sha256, storage_key, created_at, expires_at)
    select gen_random_uuid(), ${companyId}, min(user_id), false, 'note.txt', 'text/plain', 1, '', 'files/none', now(), now()
    from users where company_id = ${companyId}`.execute(queries)
}
