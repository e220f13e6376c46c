import type { CompanyQueries, Database } from '@dispatch/database'
import { sql } from 'kysely'
import { type ReceptionRow, tablesIn } from './tables.ts'

/** The reception of a company by one of its providers. */
export type ReceptionRef = { companyId: number, provider: string }

export async function listReceptions (database: Database, companyId: number): Promise<ReceptionRow[]> {
  return database.company(companyId,
    (queries) => tablesIn(queries).selectFrom('receptions').selectAll().where('company_id', '=', companyId).execute())
}

/**
 * Begins or ends asking a provider, at once. With `since` it begins there anew, else where it went on last, or now. Files that were given
 * up are asked for once more.
 */
export async function setReception (
  queries: CompanyQueries,
  { now }: Pick<Database, 'now'>,
  { companyId, provider }: ReceptionRef,
  { receives, since }: { receives: boolean, since: Date | undefined }
): Promise<void> {
  await sql`insert into receptions (company_id, provider_code, is_on, since, next_at)
    values (${companyId}, ${provider}, ${receives}, coalesce(${since ?? null}::timestamptz, ${now}), ${now})
    on conflict (company_id, provider_code) do update set is_on = excluded.is_on, next_at = excluded.next_at, failures = 0, problem = null,
      since = coalesce(${since ?? null}::timestamptz, receptions.since),
      cursor = case when ${since === undefined} then receptions.cursor end`.execute(queries)
  if (!receives) return
  await sql`update received_invoices set state = 'fetching', problem = null, tries = 0, next_at = ${now}
    where company_id = ${companyId} and provider_code = ${provider} and state = 'unreadable' and problem->>'code' = 'not_fetched'
      and removed_at is null`.execute(queries)
}

/** Takes receptions that are due, so many at most: of several processes each takes others. An end of the process delays the next look. */
export async function takeReceptions ({ owner, now }: Database, max: number): Promise<ReceptionRow[]> {
  const { rows } = await sql<ReceptionRow>`update receptions set looked_at = ${now}, next_at = ${now} + interval '5 minutes'
    where (company_id, provider_code) in (
      select company_id, provider_code from receptions where is_on and next_at <= ${now} order by next_at limit ${max}
      for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** Notes that a provider could not be asked: it is asked again in 5 minutes, then later and later, every hour at last. */
export async function noteFailure (
  { owner, now }: Database,
  { company_id: companyId, provider_code: provider }: ReceptionRow,
  problem: string
): Promise<void> {
  await sql`update receptions set problem = ${problem}, failures = failures + 1,
      next_at = ${now} + least(interval '5 minutes' * 2 ^ least(failures, 10), interval '1 hour')
    where company_id = ${companyId} and provider_code = ${provider}`.execute(owner)
}

/** What was listed: the ids of the files, and where the next question goes on. */
export type Found = {
  received: readonly { remoteId: string, receivedId: string, at: Date | undefined }[]
  cursor: string
  sandbox: boolean
}

/**
 * Records what a provider has listed, and where the next question goes on, together. What was listed before is there already. Answers
 * false, and records nothing, where the reception was changed meanwhile.
 */
export async function noteFound ({ owner, now }: Database, row: ReceptionRow, { received, cursor, sandbox }: Found): Promise<boolean> {
  const { company_id: companyId, provider_code: provider } = row
  return owner.transaction().execute(async (queries) => {
    const { rows: [mine] } = await sql`update receptions set cursor = ${cursor}, sandbox = ${sandbox}, problem = null, failures = 0
      where company_id = ${companyId} and provider_code = ${provider} and is_on and since = ${row.since}
        and cursor is not distinct from ${row.cursor} returning 1`.execute(queries)
    if (mine === undefined) return false
    await sql`insert into received_invoices
        (company_id, received_id, provider_code, sandbox, remote_id, state, received_at, taken_at, next_at)
      select ${companyId}, received_id, ${provider}, ${sandbox}, remote_id, 'fetching', coalesce(at, ${now}), ${now}, ${now}
      from unnest(${received.map(({ receivedId }) => receivedId)}::uuid[], ${received.map(({ remoteId }) => remoteId)}::text[],
        ${received.map(({ at }) => at ?? null)}::timestamptz[]) as found (received_id, remote_id, at)
      on conflict (company_id, provider_code, sandbox, remote_id) do nothing`.execute(queries)
    return true
  })
}

/** The place of one environment says nothing of another: the next look begins anew. */
export async function forgetCursor (
  { owner }: Database,
  { company_id: companyId, provider_code: provider }: ReceptionRow,
  sandbox: boolean
) {
  await sql`update receptions set cursor = null, sandbox = ${sandbox} where company_id = ${companyId} and provider_code = ${provider}`
    .execute(owner)
}

/** How many files of a company are still to be fetched. */
export async function countWaiting ({ owner }: Database, companyId: number): Promise<number> {
  const { count } = await tablesIn(owner).selectFrom('received_invoices').select(sql<number>`count(*)::integer`.as('count'))
    .where('company_id', '=', companyId).where('state', '=', 'fetching').where('removed_at', 'is', null).executeTakeFirstOrThrow()
  return count
}
