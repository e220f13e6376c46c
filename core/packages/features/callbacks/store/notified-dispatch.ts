import type { CallbackType } from '@dispatch/contract'
import { dispatchColumns, type DispatchRecord, withSteps } from '@dispatch/core'
import type { CompanyQueries } from '@dispatch/database'
import { sql } from 'kysely'

/** A dispatch at an event that is notified, the enabled endpoints that get it, and whether the company has a feed of events. */
export type NotifiedDispatch = { record: DispatchRecord, endpointIds: readonly string[], hasFeed: boolean }

/** The dispatch of an event of this type; undefined where nobody is notified: no address of its own, no endpoint and no feed. */
export async function readNotifiedDispatch (
  queries: CompanyQueries,
  companyId: number,
  dispatchId: string,
  type: CallbackType
): Promise<NotifiedDispatch | undefined> {
  // One statement, so that companies without endpoints and a feed pay nothing for those of others.
  const found = await queries.selectFrom('dispatches').select(dispatchColumns)
    .select(sql<string[]>`array(select endpoint_id from callback_endpoints as endpoint where endpoint.company_id = ${companyId}
      and enabled and removed_at is null and (types is null or ${type} = any (types)))`.as('endpointIds'))
    .select(sql<boolean>`exists (select from event_feeds where company_id = ${companyId})`.as('hasFeed'))
    .where('company_id', '=', companyId).where('dispatch_id', '=', dispatchId).executeTakeFirst()
  if (found === undefined || (found.callback_url === null && found.endpointIds.length === 0 && !found.hasFeed)) return undefined
  const { endpointIds, hasFeed, ...row } = found
  const [record] = await withSteps(queries, [row])
  return record && { record, endpointIds, hasFeed }
}
