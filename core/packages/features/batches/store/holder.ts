import type { JsonObject } from '@dispatch/common'
import { type Holder, names, namesSealed, type Person, tableHolder } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { mayHaveSealed, openRow, openText } from '@dispatch/tables'
import { sql } from 'kysely'
import { changeRows } from './rows.ts'
import { type RowState, tablesIn } from './tables.ts'

/** Rows that one look reads, and how many of them at once where they have to be opened. */
const [together, openedTogether] = [500, 25]

type Place = { batchId: string, number: number }
type Row = Place & { row: JsonObject | null }
type Named = { batch_id: string, number: number, state: RowState }

const idOf = ({ batchId, number }: Place): string => `${batchId}/${number}`

function placeOf (id: string): Place {
  const [batchId = '', number = '0'] = id.split('/')
  return { batchId, number: Number(number) }
}

/** Rows of batches. One that was not sent is cancelled, and so is each of a batch whose common body names the person. */
export function rowsHolder (database: Database): Holder {
  const { owner } = database

  async function stateOf (queries: Database['owner'], companyId: number, ids: readonly string[]): Promise<Named[]> {
    const keys = JSON.stringify(ids.map(placeOf))
    const { rows } = await sql<Named>`select batch_id, number, state from batch_rows
      join json_to_recordset(${keys}::json) as place ("batchId" uuid, number integer) using (number)
      where company_id = ${companyId} and batch_id = "batchId" order by batch_id, number`.execute(queries)
    return rows
  }

  /** Of these rows, those that name a person in what is sealed of them, or in the sealed body that their batch has in common: opened. */
  async function openedRows (
    companyId: number,
    person: Person,
    desired: readonly (Place & { named: boolean, isUnsent: boolean })[]
  ): Promise<Map<string, JsonObject>> {
    const isNamedInCommon = new Map<string, boolean>()
    const opened = new Map<string, JsonObject>()
    for (let at = 0; at < desired.length; at += openedTogether) {
      const some = new Map(desired.slice(at, at + openedTogether).map((row) => [idOf(row), row]))
      const keys = JSON.stringify([...some.values()].map(({ batchId, number }) => ({ batchId, number })))
      const { rows: stored } = await sql<Place & { row: JsonObject }>`select one.batch_id as "batchId", number,
          to_jsonb(one) - '{company_id}'::text[] as row
        from batch_rows as one join json_to_recordset(${keys}::json) as place ("batchId" uuid, number integer) using (number)
        where company_id = ${companyId} and batch_id = "batchId"`.execute(owner)
      for (const { row, ...place } of stored) {
        const { named, isUnsent } = some.get(idOf(place)) ?? { named: false, isUnsent: false }
        if (isUnsent && !isNamedInCommon.has(place.batchId)) {
          const batch = await tablesIn(owner).selectFrom('batches').select('common as stored').where('company_id', '=', companyId)
            .where('batch_id', '=', place.batchId).executeTakeFirst()
          isNamedInCommon.set(place.batchId, person.isIn(await openText(owner, batch?.stored ?? '') ?? ''))
        }
        const isNamed = named || (isUnsent && isNamedInCommon.get(place.batchId) === true) || await namesSealed(owner, person, row)
        if (isNamed) opened.set(idOf(place), await openRow(owner, row))
      }
    }
    return opened
  }

  return {
    kind: 'batchRows',
    async search (companyId, person, after) {
      const place = after === undefined ? null : placeOf(after)
      const { rows } = await sql<Row & { named: boolean, isUnsent: boolean, hasSealed: boolean }>`
        select batch_id as "batchId", number, is_unsent as "isUnsent", named,
          case when named and not has_sealed then row - '{company_id}'::text[] end as row,
          has_sealed or (is_unsent and ${mayHaveSealed(sql`common`)}) as "hasSealed"
        from (
          select *, ${names(sql`row::text`, person)} or (is_unsent and ${names(sql`common`, person)}) as named, ${
        mayHaveSealed(sql`row`)
      } as has_sealed
          from (
            select one.batch_id, number, common, to_jsonb(one) as row, state in ('unchecked', 'waiting', 'handing') as is_unsent
            from batch_rows as one join batches using (company_id, batch_id)
            where one.company_id = ${companyId} and (${place === null} or (one.batch_id, number) > (${place?.batchId ?? null}::uuid, ${
        place?.number ?? 0
      }))
            order by one.batch_id, number limit ${together}
          ) as page
        ) as page order by batch_id, number`.execute(owner)
      const opened = await openedRows(companyId, person, rows.filter((row) => row.hasSealed))
      const found = rows.flatMap((one) => {
        const content = one.row ?? opened.get(idOf(one))
        return content === undefined ? [] : [{ id: idOf(one), content }]
      })
      const last = rows.at(-1)
      return rows.length < together || last === undefined ? { found } : { found, next: idOf(last) }
    },

    async prepare ({ companyId }, ids) {
      const rows = await stateOf(owner, companyId, ids)
      for (const [batchId, of] of Map.groupBy(rows, (row) => row.batch_id)) {
        const unsent = of.flatMap(({ number, state: from }) =>
          from === 'unchecked' || from === 'waiting' ? [{ number, from, to: 'cancelled' as const }] : []
        )
        if (unsent.length > 0) await changeRows(database, { companyId, batchId }, unsent)
      }
    },

    async erase (queries, { companyId, person }, ids) {
      const rows = await stateOf(queries, companyId, ids)
      const over = rows.filter(({ state }) => state !== 'unchecked' && state !== 'waiting' && state !== 'handing')
      const tables = tablesIn(queries)
      for (const { batch_id: batchId, number } of over) {
        await tables.updateTable('batch_rows')
          .set({
            body: null,
            facts: null,
            problem: null,
            row_id: sql`case when ${names(sql`to_jsonb(row_id)::text`, person)} then null else row_id end`
          })
          .where('company_id', '=', companyId).where('batch_id', '=', batchId).where('number', '=', number).execute()
      }
      return { counts: { batchRows: over.length }, waiting: rows.length - over.length }
    }
  }
}

/** What stands in a batch itself: its common body, its key and its address. It is emptied once nothing more of it is sent. */
export function batchesHolder (database: Database): Holder {
  const holder = tableHolder(database, {
    kind: 'batches',
    table: 'batches',
    key: sql`batch_id`,
    type: 'uuid',
    hidden: ['key', 'claim', 'claimed_until', 'permitted', 'fingerprint']
  })
  return {
    ...holder,
    async erase (queries, { companyId, person }, ids) {
      const { numUpdatedRows } = await tablesIn(queries).updateTable('batches')
        .set({
          common: null,
          idempotency_key: sql`case when ${names(sql`idempotency_key`, person)} then null else idempotency_key end`,
          callback_url: null,
          problem: null
        }).where('company_id', '=', companyId)
        .where('batch_id', 'in', ids).where(sql<boolean>`unchecked + waiting + handing = 0`).executeTakeFirstOrThrow()
      return { counts: { batches: Number(numUpdatedRows) }, waiting: ids.length - Number(numUpdatedRows) }
    }
  }
}
