import { sql } from 'kysely'
import type pg from 'pg'
import type { Database } from './database.ts'
import type { Seen } from './life-memory.ts'

/**
 * How far a database has come. `lineage`: its present life, which begins anew with each restore; `before`: the lives before it. `epoch`
 * only grows within a life, while processes run; `at`: when it last did, by the clock of the database. `firstAt`: when its first life
 * began. `marked`: what it may have done before this life is marked.
 */
export type Lineage = { lineage: string, epoch: number, at: Date, firstAt: Date, marked: boolean, before: readonly string[] }

export async function readLineage ({ vital }: Pick<Database, 'vital'>): Promise<Lineage> {
  const { rows: [last] } = await sql<Lineage>`
    select lineage, epoch::float, at, not marking as marked, (select min(began_at) from lineages) as "firstAt",
      array(select before.lineage::text from lineages before where before.number < lineages.number) as before
    from lineages order by number desc limit 1`.execute(vital)
  if (last === undefined) throw new TypeError('The database has lost what tells its lives apart: the table "lineages" is empty.')
  return last
}

/**
 * Notes that the database has come further, on its disk, unless somebody did less than `minInterval` seconds ago. Answers its epoch then.
 * Undefined where it is not, or not yet, so far as `seen`.
 */
export async function advanceEpoch (
  { vital, now }: Pick<Database, 'vital' | 'now'>,
  { lineage, epoch }: Seen,
  minInterval: number
): Promise<{ epoch: number, advanced: boolean } | undefined> {
  const { rows: [found] } = await sql<{ epoch: number, advanced: boolean }>`
    with advanced as (
      update lineages set epoch = epoch + 1, at = ${now}
      where lineage = ${lineage} and epoch >= ${epoch} and number = (select max(number) from lineages)
        and (at <= ${now} - make_interval(secs => ${minInterval}) or at > ${now})
      returning epoch
    )
    select epoch::float, true as advanced from advanced
    union all select epoch::float, false from lineages
    where lineage = ${lineage} and epoch >= ${epoch} and number = (select max(number) from lineages)
    order by epoch desc limit 1`.execute(vital)
  return found
}

/**
 * Begins another life of a database that was put back to an earlier moment: `to`, or when it last came further, whichever is earlier. Of
 * everything that is not surely done, nobody knows what became of it since. Nothing is begun until all of it is marked (`markRestored`).
 * Answers whether it began: not where the database is in another life than `lineage` by now.
 */
export async function beginLineage (
  database: Pick<Database, 'session' | 'time'>,
  { lineage, to }: { lineage: string, to?: Date | undefined }
): Promise<boolean> {
  const moment = await database.time()
  return database.session(async (client) => {
    // Nothing is changed unless all of it is: the connection ends with the transaction.
    await client.query('begin')
    const { rows: [last] } = await client.query<{ lineage: string, to: Date }>(
      `select lineage, least(at, $1::timestamptz, case when marking then restored_to end) as to
      from lineages order by number desc limit 1 for update`,
      [to ?? null]
    )
    if (last?.lineage !== lineage) return false
    await client.query(
      `insert into lineages (at, began_at, restored_to, mark_to, marking)
      values ($1, $1, $2, (select step_id from steps order by step_id desc limit 1), true)`,
      [moment, last.to]
    )
    await client.query('commit')
    return true
  })
}

/**
 * Marks the steps that were there when the life began and are not surely done: the run of each makes it uncertain before anything is sent,
 * so what is queued is due now. At most so many `together` are looked at in one transaction; any process goes on where another has stopped,
 * and several may do it at once. Answers how many this one has marked, or undefined where there was nothing to do. `batches`: it stops
 * after so many.
 */
export async function markRestored (
  database: Pick<Database, 'session' | 'time'>,
  { together = 2_000, batches = Infinity }: { together?: number, batches?: number } = {}
): Promise<number | undefined> {
  return database.session(async (client) => {
    let steps: number | undefined
    for (let batch = 0; batch < batches; batch++) {
      const some = await markSome(client, await database.time(), together)
      if (some === undefined) return steps
      steps = (steps ?? 0) + some
    }
    return steps
  })
}

/** Answers how many it has marked, or undefined where all are. */
async function markSome (client: pg.Client, moment: Date, together: number): Promise<number | undefined> {
  await client.query('begin')
  const { rows: [life] } = await client.query<{ number: number, to: Date, from: string | null, last: string | null }>(
    `select number, restored_to as to, marked_from as from, mark_to as last from lineages
    where number = (select max(number) from lineages) and marking for update`
  )
  if (life === undefined) {
    await client.query('commit')
    return undefined
  }
  const { rows } = await client.query<{ id: string }>(
    'select step_id as id from steps where ($1::uuid is null or step_id > $1) and step_id <= $2 order by step_id limit $3',
    [life.from, life.last, together]
  )
  const ids = rows.map(({ id }) => id)
  // The dispatches first, as whoever works on their steps does.
  await client.query(due, [ids, moment])
  const { rowCount } = await client.query(marked, [ids, life.to, moment])
  await client.query('update lineages set marked_from = coalesce($1, marked_from), marking = $2 where number = $3', [ids.at(-1),
    ids.length === together, life.number])
  await client.query('commit')
  return rowCount ?? 0
}

const due = `
  update dispatches set next_try_at = $2
  where status = 'queued' and next_try_at > $2 and dispatch_id in (select dispatch_id from steps where step_id = any($1::uuid[]))`

/**
 * A doubt begins anew, because a lost call may have been made until now. What a person has to say goes on waiting for that. What an
 * earlier restore has marked has been uncertain since then.
 */
const marked = `
  update steps set restored_to = least(restored_to, uncertain_at, $2::timestamptz),
    uncertain_at = case when status = 'uncertain' then $3::timestamptz else uncertain_at end,
    looks = case when status = 'uncertain' then 0 else looks end,
    next_look_at = case when next_look_at is not null then $3::timestamptz + interval '10 seconds' end
  where step_id = any($1::uuid[]) and status <> 'accepted' and provider_code is not null`
