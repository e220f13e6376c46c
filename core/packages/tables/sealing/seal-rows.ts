import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { isPlain, sealed, sealedColumns, sealedEvent, sealedText } from './sealed-columns.ts'

/** A column with values of companies that are sealed where their companies have data keys. */
export type SealedColumn = { table: string, column: string, type: 'jsonb' | 'text' }

/** Blocks of a table, of 8 KiB each, whose rows are sealed in one transaction. */
const together = 32

/** Values that are in memory at once: each may have megabytes. */
const atOnce = 50

/** All of them, found in the catalog of the database, so that no feature is left out. */
export async function listSealedColumns ({ owner }: Pick<Database, 'owner'>): Promise<SealedColumn[]> {
  const { rows } = await sql<SealedColumn>`
    select relname as table, attname as column, format_type(atttypid, null) as type
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and not attisdropped and attname = any (${[...sealedColumns]}::text[])
      and atttypid in ('jsonb'::regtype, 'text'::regtype)
      and exists (select from pg_attribute as own where own.attrelid = pg_class.oid and own.attname = 'company_id' and own.attnotnull)
    order by relname, attname`.execute(owner)
  return rows
}

/**
 * Seals what stands in the database as it is, because it was written before there were data keys. What another process changes meanwhile is
 * left for another pass; after an interruption it is simply run again. Answers how many values it has sealed, and how many are `left`.
 */
export async function sealRows ({ owner }: Pick<Database, 'owner'>): Promise<{ values: number, left: number }> {
  let [values, left] = [0, 0]
  for (const one of await listSealedColumns({ owner })) {
    let before: number
    do {
      before = values
      values += await sealColumn(owner, one)
    } while (values > before)
    left += await countPlain(owner, one)
  }
  return { values, left }
}

async function sealColumn (owner: Database['owner'], one: SealedColumn): Promise<number> {
  const { rows: [{ blocks } = { blocks: 0 }] } = await sql<{ blocks: number }>`
    select (pg_relation_size(${one.table}::regclass) / current_setting('block_size')::integer)::integer as blocks`.execute(owner)
  let count = 0
  for (let from = 0; from <= blocks; from += together) {
    let some: number
    do {
      some = await owner.transaction().execute((queries) => sealBlocks(queries, one, from))
      count += some
    } while (some === atOnce)
  }
  return count
}

async function countPlain (owner: Database['owner'], { table, column, type }: SealedColumn): Promise<number> {
  const { rows: [plain] } = await sql<{ count: number }>`select count(*)::integer as count from ${sql.table(table)}
    where ${isPlain(column, type)}`.execute(owner)
  return plain?.count ?? 0
}

async function sealBlocks (queries: OwnerQueries, { table, column, type }: SealedColumn, from: number): Promise<number> {
  const [rows, value] = [sql.table(table), sql.ref(column)]
  const { rows: plain } = await sql<{ place: string, company: number, plain: string }>`
    select ctid::text as place, company_id as company, ${value}::text as plain from ${rows}
    where ctid >= ${`(${from},0)`}::tid and ctid < ${`(${from + together},0)`}::tid
      and ${isPlain(column, type)}
    limit ${atOnce} for update skip locked`.execute(queries)
  const stored = await Promise.all(plain.map(async ({ place, company, plain: text }) => ({
    place,
    value: await sealedAs(queries, company, { type, text })
  })))
  await sql`update ${rows} set ${value} = given.value::${sql.raw(type)}
    from unnest(${stored.map((one) => one.place)}::tid[], ${stored.map((one) => one.value)}::text[]) as given (place, value)
    where ctid = given.place`.execute(queries)
  return stored.length
}

async function sealedAs (
  queries: OwnerQueries,
  company: number,
  { type, text }: { type: SealedColumn['type'], text: string }
): Promise<string> {
  const value = JSON.parse(text) as Json
  if (type === 'jsonb') return JSON.stringify(await sealed(queries, company, value as JsonObject))
  const isEvent = isRecord(value) && isRecord(value['data']) && typeof value['sequence'] === 'number'
  return isEvent ? sealedEvent(queries, company, text) : sealedText(queries, company, text)
}
