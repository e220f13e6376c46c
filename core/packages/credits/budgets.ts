import { DispatchError } from '@dispatch/contract'
import { type CompanyQueries, type Database, firstIdAt, idSkew, type OwnerQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/** Whose budget it is. */
export const budgetScopes = ['company', 'user', 'key'] as const
export type BudgetScope = typeof budgetScopes[number]

/**
 * What is counted: credits that are charged or held, or dispatches that were begun, were not cancelled before
 * anything was sent, and are no tests.
 */
export const budgetUnits = ['credits', 'dispatches'] as const
export type BudgetUnit = typeof budgetUnits[number]

/** How much may be used in a month (UTC). `subject`: the number of the user or the id of the key, '' for the company. */
export type NewBudget = { budgetId: string, scope: BudgetScope, subject: string, unit: BudgetUnit, amount: number, hard: boolean }

/** `used`: in this month. */
export type Budget = NewBudget & { used: number }

/** The dispatches of whom a budget counts. */
type Sender = { companyId: number, userId: number, keyId?: string | undefined }

type BudgetRow = { budgetId: string, scope: BudgetScope, subject: string, unit: BudgetUnit, amount: string, hard: boolean, used: string }

/** `at`: in ISO 8601, with its offset from UTC. */
const monthAt = ({ now }: Pick<Database, 'now'>, at?: string): RawBuilder<Date> =>
  at === undefined
    ? sql<Date>`date_trunc('month', ${now} at time zone 'UTC')::date`
    : sql<Date>`date_trunc('month', ${at}::timestamptz at time zone 'UTC')::date`

const selected = (database: Pick<Database, 'now'>, companyId: number, at?: string): RawBuilder<unknown> =>
  sql`select budgets.budget_id as "budgetId", scope, subject, unit, amount, hard, coalesce(used, 0) as used
    from budgets left join budget_use on budget_use.company_id = budgets.company_id and budget_use.budget_id = budgets.budget_id
      and month = ${monthAt(database, at)}
    where budgets.company_id = ${companyId}`

const budgetOf = ({ amount, used, ...row }: BudgetRow): Budget => ({ ...row, amount: Number(amount), used: Number(used) })

/** The budgets of a company, with what is used of them in this month. */
export async function listBudgets (database: Database, companyId: number): Promise<Budget[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<BudgetRow>`${selected(database, companyId)} order by scope, subject, unit`.execute(queries)
    return rows.map(budgetOf)
  })
}

/**
 * Adds a budget, with what was used in this month before; answers false where there is one of this scope, subject and unit. Dispatches of
 * the company that cost credits wait meanwhile.
 */
export async function addBudget (
  { now }: Database,
  queries: OwnerQueries,
  companyId: number,
  { budgetId, scope, subject, unit, amount, hard }: NewBudget
): Promise<boolean> {
  await sql`select from credits where company_id = ${companyId} for update`.execute(queries)
  const { rows: [added] } = await sql<{ month: Date, time: Date }>`
    insert into budgets (company_id, budget_id, scope, subject, unit, amount, hard, created_at)
    values (${companyId}, ${budgetId}, ${scope}, ${subject}, ${unit}, ${amount}, ${hard}, ${now}) on conflict do nothing
    returning date_trunc('month', created_at, 'UTC') as month`.execute(queries)
  if (added === undefined) return false
  const month = sql`(${added.month}::timestamptz at time zone 'UTC')::date`
  const theirs = sql`dispatches.company_id = ${companyId} and not test
    and (schedule->>'dueAt' >= ${added.month.toISOString()} or created_at >= ${added.month}
      and dispatches.dispatch_id >= ${firstIdAt(added.month.getTime() - idSkew)}) ${
    scope === 'user'
      ? sql`and user_id = ${Number(subject)}`
      : scope === 'key'
      ? sql`and exists (select from events where events.dispatch_id = dispatches.dispatch_id and kind = 'planned'
        and actor->>'keyId' = ${subject})`
      : sql``
  }`
  const used = unit === 'credits'
    ? sql`sum(held + charged) from dispatches join steps using (dispatch_id)`
    : sql`count(*) filter (where status <> 'cancelled') from dispatches`
  // Of months to come, what is scheduled counts already.
  await sql`insert into budget_use (company_id, budget_id, month, used)
    select ${companyId}::integer, ${budgetId}::uuid, month, sum(used) from (
      select ${month} as month, 0 as used union all select month_of(schedule, created_at), ${used} where ${theirs} group by 1
    ) as months where month >= ${month} group by month`.execute(queries)
  return true
}

/** Changes how much may be used; of the new amount the company is told again. Answers false where there is no such budget. */
export async function changeBudget (
  queries: CompanyQueries,
  companyId: number,
  { budgetId, amount, hard }: Pick<NewBudget, 'budgetId' | 'amount' | 'hard'>
): Promise<boolean> {
  const { rows } = await sql`update budgets set amount = ${amount}, hard = ${hard}
    where company_id = ${companyId} and budget_id = ${budgetId} returning 1`.execute(queries)
  await sql`update budget_use set told = least(told, ${percent}), mailed = least(mailed, ${percent}) from budgets
    where budgets.company_id = budget_use.company_id and budgets.budget_id = budget_use.budget_id
      and budgets.company_id = ${companyId} and budgets.budget_id = ${budgetId}`.execute(queries)
  return rows.length > 0
}

/** Answers false where there is no such budget. */
export async function removeBudget (queries: CompanyQueries, companyId: number, budgetId: string): Promise<boolean> {
  const { rows } = await sql`delete from budgets where company_id = ${companyId} and budget_id = ${budgetId} returning 1`.execute(queries)
  return rows.length > 0
}

/**
 * Throws `budget_exceeded` where a hard budget of the sender does not cover another dispatch of this price, in credits. `at`: when it is
 * sent (ISO 8601), where that is not now.
 */
export async function requireBudget (database: Database, sender: Sender, price: number, at?: string): Promise<void> {
  const { companyId, userId, keyId = '' } = sender
  const found = await database.company(companyId, async (queries) => {
    const { rows: [row] } = await sql<BudgetRow>`${selected(database, companyId, at)} and hard
      and (scope = 'company' or scope = 'user' and subject = ${String(userId)} or scope = 'key' and subject = ${keyId})
      and coalesce(used, 0) + case unit when 'credits' then ${price}::bigint else 1 end > amount
      and (unit <> 'credits' or ${price}::bigint > 0) limit 1`.execute(queries)
    return row
  })
  if (found !== undefined) throw budgetExceeded(budgetOf(found))
}

/** The error of the database about a hard budget as one for the client. */
export async function exceededOf (database: Database, companyId: number, error: unknown): Promise<DispatchError> {
  const [id = '', month] = error instanceof Error && 'detail' in error ? String(error.detail).split(' ') : []
  const found = await database.company(companyId, async (queries) => {
    const { rows: [row] } = await sql<BudgetRow>`${
      selected(database, companyId, month && `${month}T00:00:00Z`)
    } and budgets.budget_id::text = ${id}`.execute(
      queries
    )
    return row
  })
  return found === undefined
    ? new DispatchError('budget_exceeded', 'A monthly budget does not cover it.')
    : budgetExceeded(budgetOf(found))
}

const owners: Readonly<Record<BudgetScope, string>> = { company: 'the company', user: 'this user', key: 'this API key' }

function budgetExceeded ({ scope, unit, amount, used }: Budget): DispatchError {
  return new DispatchError('budget_exceeded',
    `The monthly budget of ${owners[scope]} does not cover it: ${used} of ${amount} ${unit} are used. Nothing was sent.`)
}

/** A budget of which a company is to be told, because this part of it is used, in percent. */
export type DueBudget = Budget & { month: string, percent: number }

/** How a company is told: by callbacks, and its admins by mail. */
type Way = 'told' | 'mailed'

/** How many companies are looked for together. */
const together = 100

/** The companies after one, in the order of their numbers, that are to be told of budgets, 100 at most. */
export async function listCompaniesToNotify (database: Database, after: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select distinct company_id as id from budget_use join budgets using (company_id, budget_id)
    where month = ${monthAt(database)} and (told < 100 or mailed < 100) and (${isDue('told')} or ${
    isDue('mailed')
  }) and company_id > ${after}
    order by 1 limit ${together}`.execute(database.owner)
  return rows.map(({ id }) => id)
}

const percent = sql<number>`case when used >= amount then 100 when used * 5 >= amount * 4 then 80 else 0 end`
const isDue = (way: Way): RawBuilder<boolean> => sql<boolean>`${sql.ref(way)} < ${percent}`

/** The budgets of which the admins of a company are to be mailed. */
export async function listBudgetsToMail (database: Database, companyId: number): Promise<DueBudget[]> {
  return readDue(database, database.owner, { companyId, way: 'mailed' })
}

/** Notes of which budgets the admins of a company were mailed. One that has another amount by now is mailed again. */
export async function noteMailed ({ owner }: Database, companyId: number, mailed: readonly DueBudget[]): Promise<void> {
  for (const { budgetId, month, percent: part, amount } of mailed) {
    await sql`update budget_use set mailed = greatest(mailed, ${part}::smallint) from budgets
      where budgets.company_id = budget_use.company_id and budgets.budget_id = budget_use.budget_id and amount = ${amount}
        and budgets.company_id = ${companyId} and budgets.budget_id = ${budgetId} and month = to_date(${month}, 'YYYY-MM')`.execute(owner)
  }
}

/**
 * Notes that the company was told of what is used of its budgets, by callbacks; `also` tells of each, in the same transaction: of
 * whatever several processes tell at once, one transaction does.
 */
export async function markNotified (
  database: Database,
  companyId: number,
  also: (queries: OwnerQueries, due: DueBudget) => Promise<void>
): Promise<void> {
  await database.owner.transaction().execute(async (queries) => {
    // Before the rows of budgets, as dispatches do.
    await sql`select from credits where company_id = ${companyId} for update`.execute(queries)
    for (const due of await readDue(database, queries, { companyId, way: 'told' })) {
      await sql`update budget_use set told = ${due.percent} where company_id = ${companyId} and budget_id = ${due.budgetId}
        and month = ${monthAt(database)}`.execute(queries)
      await also(queries, due)
    }
  })
}

async function readDue (database: Database, queries: Database['owner'], { companyId, way }: { companyId: number, way: Way }): Promise<
  DueBudget[]
> {
  const { rows } = await sql<BudgetRow & { month: string, percent: number }>`
    select budget_id as "budgetId", to_char(month, 'YYYY-MM') as month, ${percent} as percent, used, scope, subject, unit, amount, hard
    from budget_use join budgets using (company_id, budget_id)
    where company_id = ${companyId} and month = ${monthAt(database)} and ${isDue(way)} order by 1`.execute(queries)
  return rows.map(({ month, percent: part, ...row }) => ({ ...budgetOf(row), month, percent: part }))
}
