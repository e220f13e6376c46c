import type { JsonObject } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** A step for which a template was used: the first of its dispatch (position 0), or one that follows in a chain. */
export type TemplateUse = { dispatchId: string, position: number }

/** How many of a company's newest dispatches are looked through for those of a template: so it is quick with a million of them, too. */
const maxLookedThrough = 20_000

/**
 * Who has used a template since a time, and whose data are kept: at most `max` dispatches, the newest first. `complete`: these are all.
 */
export async function listTemplateUses (
  database: Database,
  companyId: number,
  { templateId, since, max }: { templateId: number, since: Date, max: number }
): Promise<{ uses: TemplateUse[], complete: boolean }> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<TemplateUse>`
      select newest.dispatch_id as "dispatchId", case when newest.template_id = ${templateId} then 0 else following.position end as position
      from (
        select dispatch_id, created_at, template_id, services, data is not null as kept from dispatches
        where company_id = ${companyId} order by dispatch_id desc limit ${maxLookedThrough}
      ) as newest left join lateral (
        select position from steps where steps.dispatch_id = newest.dispatch_id and steps.company_id = ${companyId}
          and steps.template_id = ${templateId} and position > 0 and steps.data is not null and cardinality(newest.services) > 1
        order by position limit 1
      ) as following on true
      where created_at >= ${since} and (newest.template_id = ${templateId} and kept or following.position is not null)
      order by dispatch_id desc limit ${max + 1}`.execute(queries)
    const beyond = await queries.selectFrom('dispatches').select('created_at').where('company_id', '=', companyId)
      .orderBy('dispatch_id', 'desc').offset(maxLookedThrough).limit(1).executeTakeFirst()
    return { uses: rows.slice(0, max), complete: rows.length <= max && (beyond === undefined || beyond.created_at < since) }
  })
}

/** The data with which a template was used. Those that were deleted meanwhile are left out. */
export async function readTemplateData (
  database: Database,
  companyId: number,
  uses: readonly TemplateUse[]
): Promise<{ id: string, data: JsonObject }[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<{ id: string, data: JsonObject | null }>`
      select used.id, case when used.position = 0 then dispatches.data else (
        select steps.data from steps where steps.dispatch_id = used.id and steps.position = used.position and steps.company_id = ${companyId}
      ) end as data
      from unnest(${uses.map(({ dispatchId }) => dispatchId)}::uuid[], ${uses.map(({ position }) => position)}::integer[])
        with ordinality as used (id, position, place)
      join dispatches on dispatches.dispatch_id = used.id and dispatches.company_id = ${companyId} order by used.place`.execute(queries)
    return rows.flatMap(({ id, data }) => data === null ? [] : [{ id, data }])
  })
}
