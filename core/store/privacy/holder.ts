import type { AuditAuthor } from '@dispatch/accounts'
import type { Counts, JsonObject } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { mayHaveSealed, openedTexts, openRow, type Queries } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { names, type Person } from './person.ts'

/** Something that names a person. `content`: as it is exported; `counts`: what of each kind it is, by default one of its holder. */
export type Found = { id: string, content: JsonObject, counts?: Counts }

/** What came of erasing. `waiting`: cannot be erased yet. */
export type Erased = { counts: Counts, waiting: number }

/** For whom something is erased, and who wants it. */
export type Erasing = { companyId: number, person: Person, author: AuditAuthor }

/** What holds data of the persons to whom companies send. A feature brings those for its tables. */
export type Holder = {
  /** The kind of its data, such as `drafts`: a word of counts and of exports. */
  kind: string
  /** A bounded search that begins after a cursor. `next`: the cursor of the next one; undefined where there is nothing more. */
  search: (companyId: number, person: Person, after: string | undefined) => Promise<{ found: Found[], next?: string }>
  /** Ends what is under way for what was found, and is asked for before each `erase`. It may be interrupted. */
  prepare?: (erasing: Erasing, ids: readonly string[]) => Promise<void>
  /** Empties what was found, in a transaction that is interrupted as a whole. */
  erase: (queries: OwnerQueries, erasing: Erasing, ids: readonly string[]) => Promise<Erased>
  /** Removes the files of what was emptied. It may be interrupted; it is asked for after each `erase`, and before the end. */
  clean?: (companyId: number) => Promise<void>
}

/**
 * A table whose rows name persons. `key`: orders its rows and is unique in a company; `type`: its type. `text`: what of a row is looked
 * into, by default all of it; `own`: what of that the company has written, by default all of it. `hidden`: columns that are not exported.
 * `erase` answers how many were erased: the others wait.
 */
export type HolderTable = {
  kind: string
  table: string
  key: RawBuilder<unknown>
  type: 'uuid' | 'bigint' | 'text'
  text?: RawBuilder<unknown>
  own?: RawBuilder<unknown>
  only?: RawBuilder<boolean>
  hidden?: readonly string[]
  erase: (queries: OwnerQueries, erasing: Erasing, ids: readonly string[]) => Promise<number>
}

/** Rows that one search reads, and how many of them at once where they have to be opened. */
const [together, openedTogether] = [500, 25]

/**
 * Whether what is sealed in the columns of a row in JSON names a person; what nobody can open any more names nobody. `others`: columns in
 * which others than the company write.
 */
export async function namesSealed (queries: Queries, person: Person, row: JsonObject, others: readonly string[] = []): Promise<boolean> {
  const texts = await openedTexts(queries, row)
  return texts.some(({ column, text }) => person.isIn(text, others.includes(column) ? '' : text))
}

/** The holder of a table. Without an `erase` of its own, the rows are deleted. */
export function tableHolder (
  { owner }: Pick<Database, 'owner'>,
  { kind, table, key, type, text = sql`row::text`, own = text, only = sql<boolean>`true`, hidden = [], erase = deleted(table, key, type) }:
    & Omit<HolderTable, 'erase'>
    & Partial<Pick<HolderTable, 'erase'>>
): Holder {
  return {
    kind,
    async search (companyId, person, after) {
      type Row = { id: string, named: boolean, has_sealed: boolean, row: JsonObject | null }
      const { rows } = await sql<Row>`
        select id, named, has_sealed, case when named and not has_sealed then row - ${['company_id', ...hidden]}::text[] end as row
        from (
          select id, row, place, ${names(text, person, own)} as named, ${mayHaveSealed(sql`row`)} as has_sealed
          from (
            select ${key}::text as id, to_jsonb(one) as row, ${key} as place from ${sql.table(table)} as one
            where company_id = ${companyId} and ${only}
              and (${after ?? null}::text is null or ${key} > ${after ?? null}::${sql.raw(type)})
            order by ${key} limit ${together}
          ) as page
        ) as page order by place`.execute(owner)
      const opened = new Map<string, JsonObject>()
      const toOpen = rows.flatMap((row) => row.has_sealed ? [row.id] : [])
      for (let at = 0; at < toOpen.length; at += openedTogether) {
        const { rows: stored } = await sql<{ id: string, row: JsonObject }>`select ${key}::text as id,
            to_jsonb(one) - ${['company_id', ...hidden]}::text[] as row
          from ${sql.table(table)} as one where company_id = ${companyId}
            and ${key} = any (${toOpen.slice(at, at + openedTogether)}::${sql.raw(type)}[])`.execute(owner)
        const named = new Set(rows.flatMap((row) => row.named ? [row.id] : []))
        for (const { id, row } of stored) {
          if (named.has(id) || await namesSealed(owner, person, row)) opened.set(id, await openRow(owner, row))
        }
      }
      const found = rows.flatMap(({ id, row }) => {
        const content = row ?? opened.get(id)
        return content === undefined ? [] : [{ id, content }]
      })
      const last = rows.at(-1)
      return rows.length < together || last === undefined ? { found } : { found, next: last.id }
    },
    async erase (queries, erasing, ids) {
      const erased = await erase(queries, erasing, ids)
      return { counts: { [kind]: erased }, waiting: ids.length - erased }
    }
  }
}

function deleted (table: string, key: RawBuilder<unknown>, type: string): HolderTable['erase'] {
  return async (queries, { companyId }, ids) => {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where company_id = ${companyId}
      and ${key} = any (${ids}::${sql.raw(type)}[])`.execute(queries)
    return Number(numAffectedRows)
  }
}
