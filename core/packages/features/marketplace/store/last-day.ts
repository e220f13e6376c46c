import { type Database, firstIdAt, idSkew } from '@dispatch/database'
import { sql } from 'kysely'

/** What became of the calls of a version. `latency`: in milliseconds; of calls that have not ended nothing is known. */
export type VersionCalls = {
  version: string
  calls: number
  accepted: number
  failures: Readonly<Record<string, number>>
  latency?: { p50: number, p95: number }
}

/** Milliseconds. */
const day = 86_400_000
/** Dispatches through a provider that are looked at, the newest ones. */
const maxDispatches = 20_000

/**
 * What became of the dispatches of the last 24 hours that an adapter was given, by version: of its newest ones, so many as `max` says. Of
 * a step that went from one provider of a list to the next only the last call is known to be its own.
 */
export async function callsOfLastDay (
  { owner }: Database,
  code: string,
  at: Date,
  max = maxDispatches
): Promise<VersionCalls[]> {
  const from = new Date(at.getTime() - day)
  const { rows } = await sql<Omit<VersionCalls, 'latency'> & { p50: number | null, p95: number | null }>`
    with newest as materialized (
      select step_id, providers from steps
      where provider_code = ${code} and status <> 'planned' and step_id >= ${firstIdAt(from.getTime() - idSkew)}
      order by step_id desc limit ${max}
    ), taken as materialized (
      select attempts.provider_version as version, outcome, coalesce(attempts.error->>'word', outcome) as word,
        (extract(epoch from answered_at - started_at) * 1000)::integer as ms
      from newest join attempts using (step_id)
      where started_at >= ${from} and (providers is null or
        number = (select max(number) from attempts as others where others.step_id = attempts.step_id))
    ), failed as (
      select version, jsonb_object_agg(word, count) as failures from (
        select version, word, count(*) from taken where outcome <> 'accepted' group by version, word
      ) as words group by version
    )
    select taken.version, count(*)::integer as calls, (count(*) filter (where outcome = 'accepted'))::integer as accepted,
      coalesce(failures, '{}') as failures, percentile_disc(0.5) within group (order by ms) as p50,
      percentile_disc(0.95) within group (order by ms) as p95
    from taken left join failed using (version) group by taken.version, failures order by taken.version desc`.execute(owner)
  return rows.map(({ p50, p95, ...row }) => ({ ...row, ...(p50 !== null && p95 !== null && { latency: { p50, p95 } }) }))
}
