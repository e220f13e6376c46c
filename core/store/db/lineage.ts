import { sql } from 'kysely'
import type { Database } from './database.ts'

/**
 * How far a database has come. `lineage`: its present life, which begins anew with each restore; `before`: the lives before it. `epoch`
 * only grows within a life, while processes run; `at`: when it last did, by the clock of the database.
 */
export type Lineage = { lineage: string, epoch: number, at: Date, before: readonly string[] }

export async function readLineage ({ vital }: Pick<Database, 'vital'>): Promise<Lineage> {
  const { rows: [last] } = await sql<Lineage>`
    select lineage, epoch::float, at, array(select before.lineage::text from lineages before where before.number < lineages.number) as before
    from lineages order by number desc limit 1`.execute(vital)
  if (last === undefined) throw new TypeError('The database has lost what tells its lives apart: the table "lineages" is empty.')
  return last
}

/** Notes that the database has come further, on its disk; answers its epoch then. Undefined where it is not, or not yet, so far. */
export async function advanceEpoch (
  { vital, now }: Pick<Database, 'vital' | 'now'>,
  { lineage, epoch }: Pick<Lineage, 'lineage' | 'epoch'>
): Promise<number | undefined> {
  const { rows: [advanced] } = await sql<{ epoch: number }>`
    update lineages set epoch = epoch + 1, at = ${now}
    where lineage = ${lineage} and epoch >= ${epoch} and number = (select max(number) from lineages) returning epoch::float`.execute(vital)
  return advanced?.epoch
}

/**
 * Begins another life of a database that was put back to an earlier moment: `to`, or when it last came further, whichever is earlier. Of
 * everything that is not surely done, nobody knows what became of it since: its run makes it uncertain before anything is sent, so what is
 * queued is due now. Answers how many steps there are, or undefined where the database is in another life than `lineage` by now.
 */
export async function beginLineage (
  database: Pick<Database, 'session' | 'time'>,
  { lineage, to }: { lineage: string, to?: Date | undefined }
): Promise<number | undefined> {
  const moment = await database.time()
  return database.session(async (client) => {
    await client.query('begin')
    // Nothing is changed unless all of it is: the connection ends with the transaction.
    const { rows: [last] } = await client.query<{ lineage: string, to: Date }>(
      'select lineage, least(at, $1::timestamptz) as to from lineages order by number desc limit 1 for update',
      [to ?? null]
    )
    if (last?.lineage !== lineage) return undefined
    const { rowCount } = await client.query(restored, [last.to, moment])
    await client.query('update dispatches set next_try_at = $1 where status = \'queued\' and next_try_at > $1', [moment])
    await client.query('insert into lineages (at, began_at, restored_to) values ($1, $1, $2)', [moment, last.to])
    await client.query('commit')
    return rowCount ?? 0
  })
}

/** A doubt begins anew, because a lost call may have been made until now. What a person has to say goes on waiting for that. */
const restored = `
  update steps set restored_to = least(uncertain_at, $1::timestamptz),
    uncertain_at = case when status = 'uncertain' then $2::timestamptz else uncertain_at end,
    looks = case when status = 'uncertain' then 0 else looks end,
    next_look_at = case when next_look_at is not null then $2::timestamptz + interval '10 seconds' end
  where status <> 'accepted' and provider_code is not null`
