import type { Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import type { Grouping, Period } from '../contract/usage.ts'
import { partsIn } from './count.ts'
import { counting, sentAt, type Span } from './source.ts'
import { tablesIn } from './tables.ts'

export type UsageFilter = Span & {
  by: readonly Grouping[]
  /** The name of a pair of metadata. */
  metadata?: string | undefined
  per?: Period | undefined
  service?: string | undefined
  provider?: string | undefined
  userId?: number | undefined
  test: boolean
  /** Measures that are told by service and provider, whatever was asked for. */
  priced?: readonly string[] | undefined
}

/** What was counted of a group: `measure`s, some of them by `name`. */
export type Counted = {
  at: Date | null
  service: string | null
  provider: string | null
  user_id: number | null
  key: string | null
  value: string | null
  measure: string
  name: string
  count: string
}

const columns: Readonly<Record<Grouping, string>> = { service: 'service', provider: 'provider', user: 'user_id', key: 'key' }

/** The groups of an answer: what is not asked for is null in all of them. */
function groupsOf ({ by, per, priced = [] }: Pick<UsageFilter, 'by' | 'per' | 'priced'>, at: RawBuilder<unknown>): RawBuilder<unknown> {
  const group = (Object.entries(columns) as [Grouping, string][]).map(([grouping, column]) => {
    const name = sql.ref(column)
    if (by.includes(grouping)) return name
    const isOfPrices = priced.length > 0 && (grouping === 'service' || grouping === 'provider')
    return isOfPrices ? sql`case when measure = any (${[...priced]}::text[]) then ${name} end as ${name}` : sql`null as ${name}`
  })
  return sql`${per === undefined ? sql`null::timestamptz` : sql`date_trunc(${per}, ${at}, 'UTC')`} as at, ${sql.join(group)}`
}

function conditionsOf ({ service, provider, userId, test }: UsageFilter): RawBuilder<unknown> {
  return sql.join([
    sql`test = ${test}`,
    ...service === undefined ? [] : [sql`service = ${service}`],
    ...provider === undefined ? [] : [sql`provider = ${provider}`],
    ...userId === undefined ? [] : [sql`user_id = ${userId}`]
  ], sql` and `)
}

/** The most counts that are read for one answer: more of them are of too many groups. */
export const maxCounts = 200_000

/**
 * What a company has used, by the hours that are counted; by metadata, of the dispatches that are stored. More than `maxCounts`
 * are not all of them.
 */
export async function readUsage (database: Database, requested: UsageFilter): Promise<Counted[]> {
  return requested.metadata === undefined ? readHours(database, requested) : readDispatches(database, requested, requested.metadata)
}

async function readHours (database: Database, requested: UsageFilter): Promise<Counted[]> {
  const { companyId, from, to } = requested
  return database.reading(companyId, async (queries) => {
    const { rows } = await sql<Counted>`
      select at, service, provider, user_id, key, value, measure, name, sum(count)::text as count from (
        select ${groupsOf(requested, sql`hour`)}, null as value, measure, name, count from usage_hours
        where company_id = ${companyId} and hour >= ${from} and hour < ${to} and ${conditionsOf(requested)}
      ) as told group by 1, 2, 3, 4, 5, 6, 7, 8 limit ${maxCounts + 1}`.execute(queries)
    return rows
  })
}

async function readDispatches (database: Database, requested: UsageFilter, metadata: string): Promise<Counted[]> {
  const value = sql`metadata->>${metadata}::text`
  return database.reading(requested.companyId, async (queries) => {
    const { rows } = await sql<Counted>`with ${counting(requested, value)}
      select at, service, provider, user_id, key, value, measure, name, sum(count)::text as count from (
        select ${groupsOf(requested, sql`sent_at`)}, value, measure, name, count from counted where ${conditionsOf(requested)}
      ) as told group by 1, 2, 3, 4, 5, 6, 7, 8 limit ${maxCounts + 1}`.execute(queries)
    if (rows.length > maxCounts) return rows
    const at = requested.per === undefined ? sql`null::timestamptz` : sql`date_trunc(${requested.per}, ${sentAt}, 'UTC')`
    const parts = await partsIn(queries, requested, value, at)
    const { by, service, provider, userId, test, priced = [] } = requested
    const isOfPrices = priced.includes('parts')
    const desired = parts.filter((part) =>
      part.test === test && (service ?? part.service) === part.service && (provider ?? part.provider) === part.provider &&
      (userId ?? part.user_id) === part.user_id
    )
    return [
      ...rows,
      ...desired.map((part) => ({
        at: part.at,
        service: isOfPrices || by.includes('service') ? part.service : null,
        provider: isOfPrices || by.includes('provider') ? part.provider : null,
        user_id: by.includes('user') ? part.user_id : null,
        key: by.includes('key') ? part.key : null,
        value: part.value,
        measure: 'parts',
        name: '',
        count: String(part.count)
      }))
    ]
  })
}

/** When hours were counted last. */
export async function readCountedAt ({ owner }: Database): Promise<Date | null> {
  const mark = await tablesIn(owner).selectFrom('usage_marks').select('counted_at').executeTakeFirst()
  return mark?.counted_at ?? null
}
