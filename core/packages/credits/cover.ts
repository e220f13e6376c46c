import { DispatchError } from '@dispatch/contract'
import { type CompanyQueries, type Database, hasCode } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { exceededOf } from './budgets.ts'

/** An SQL expression: whether the free credits of a company cover a price. What this transaction holds counts only after its commit. */
export function hasFreeCredits (companyId: number, price: number): RawBuilder<boolean> {
  return sql<boolean>`(${price} = 0 or exists (select from credits where company_id = ${companyId} and balance - held >= ${price}))`
}

/**
 * Runs a transaction that holds credits. Throws `insufficient_credits` where the commit fails because other dispatches took them first; the
 * price in its message is read after that; `budget_exceeded` where a hard budget does not cover it.
 */
export async function withCreditCheck<T> (
  database: Database,
  requested: { company_id: number, price: number },
  transaction: () => Promise<T>
): Promise<T> {
  try {
    return await transaction()
  } catch (error) {
    if (hasCode(error, 'DC429')) throw await exceededOf(database, requested.company_id, error)
    throw hasCode(error, 'DC402') ? await shortOf(database, requested.company_id, requested.price) : error
  }
}

/** The error for a price that free credits do not cover, in a transaction of its own. */
export function shortOf (database: Database, companyId: number, price: number): Promise<DispatchError> {
  return database.company(companyId, (queries) => insufficientCredits(queries, companyId, price))
}

/** The error for a price, in credits, that the company's free credits do not cover. */
export async function insufficientCredits (queries: CompanyQueries, companyId: number, price: number): Promise<DispatchError> {
  const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  const free = Number(credits.balance) - Number(credits.held)
  return new DispatchError('insufficient_credits',
    `The dispatch costs ${price} credit${price === 1 ? '' : 's'}; ${free} of ${credits.balance} are free, ${credits.held} are held ` +
      'by dispatches under way.')
}
