import type { CreditsView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import { type Selectable, sql, type Transaction } from 'kysely'

/**
 * The company's credits: all it has, what dispatches under way hold of it, and a page of its ledger, the newest entry first; where
 * `dispatches` is `none`, without what belongs to one.
 */
export async function readCredits (
  database: Database,
  companyId: number,
  page: { limit: number, after?: string, dispatches?: 'none' }
): Promise<Omit<CreditsView, 'nextCursor'>> {
  return database.snapshot(companyId, async (queries) => {
    const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId)
      .executeTakeFirstOrThrow()
    const ledger = await queries.selectFrom('ledger').select(columns.ledger).where('company_id', '=', companyId)
      .$if(page.dispatches === 'none', (query) => query.where('dispatch_id', 'is', null))
      .$if(page.after !== undefined, (query) => query.where('entry_id', '<', page.after ?? ''))
      .orderBy('entry_id', 'desc').limit(page.limit).execute()
    return { balance: Number(credits.balance), held: Number(credits.held), ledger: ledger.map(viewOf) }
  })
}

function viewOf (entry: Selectable<Tables['ledger']>): CreditsView['ledger'][number] {
  return {
    id: entry.entry_id,
    kind: entry.kind,
    amount: Number(entry.amount),
    balance: Number(entry.balance),
    ...(entry.dispatch_id === null ? {} : { dispatchId: entry.dispatch_id }),
    reason: entry.reason,
    at: entry.at.toISOString()
  }
}

/** The credits of a new company, with their entry in its ledger. */
export async function openCredits (queries: Transaction<Tables>, companyId: number, credits: number, at: Date): Promise<void> {
  await queries.insertInto('credits').values({ company_id: companyId, balance: credits, held: 0 }).execute()
  if (credits === 0) return
  await queries.insertInto('ledger').values({
    company_id: companyId,
    kind: 'grant',
    amount: credits,
    balance: credits,
    reason: 'Opening credits',
    at
  }).execute()
}

/** A change of credits; under an idempotency key it is made once, however often it is asked for. */
export type CreditChange = { amount: number, reason: string, idempotencyKey?: string }

/** When a change is made, and its row in the audit log, whose facts get the balance. */
type Noted = { at: Date, audit: Readonly<Record<string, unknown>> }

/** What a company has then. `replayed`: the change had been made before. */
export type Credited = { balance: number, held: number, replayed: boolean }

/**
 * Gives a company credits, or takes some back; `short`: fewer are free than are to be taken, `reused`: the key is that of another
 * change. Undefined when there is no such company.
 */
export async function changeCredits (
  database: Database,
  companyId: number,
  change: CreditChange,
  noted: Noted
): Promise<Credited | 'short' | 'reused' | undefined> {
  const { amount, reason, idempotencyKey } = change
  const made = await move(database, companyId, change, noted)
  if (made !== undefined) return { ...made, replayed: false }
  const { owner } = database
  const credits = await owner.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId).executeTakeFirst()
  if (credits === undefined) return undefined
  const before = idempotencyKey === undefined
    ? undefined
    : await owner.selectFrom('ledger').select(['amount', 'reason']).where('company_id', '=', companyId).where('idempotency_key', '=',
      idempotencyKey).executeTakeFirst()
  if (before === undefined) return 'short'
  return Number(before.amount) === amount && before.reason === reason
    ? { balance: Number(credits.balance), held: Number(credits.held), replayed: true }
    : 'reused'
}

/**
 * Changes credits in one statement, so that nobody waits for more than it. Undefined where the key was used, fewer are free than are to be
 * taken, or there is no such company.
 */
async function move (
  { owner }: Database,
  companyId: number,
  { amount, reason, idempotencyKey }: CreditChange,
  { at, audit }: Noted
): Promise<Omit<Credited, 'replayed'> | undefined> {
  const made = sql<{ balance: string, held: string }>`
    with credit as (
      update credits set balance = balance + ${amount} where company_id = ${companyId} and (${amount} >= 0 or balance + ${amount} >= held)
        and not exists (select from ledger where company_id = ${companyId} and idempotency_key = ${idempotencyKey ?? null})
          returning balance, held
    ), entry as (
      insert into ledger (company_id, kind, amount, balance, reason, idempotency_key, at)
      select ${companyId}, ${amount < 0 ? 'correction' : 'grant'}, ${amount}, balance, ${reason}, ${
    idempotencyKey ?? null
  }, ${at} from credit
    ), audited as (
      insert into audit (${sql.join(Object.keys(audit).map((column) => sql.ref(column)))})
      select
        ${
    sql.join(Object.entries(audit).map(([column, value]) =>
      column === 'facts' ? sql`${value}::jsonb || jsonb_build_object('balance', balance)` : sql`${value}`
    ))
  } from credit
    )
    select balance, held from credit`
  const { rows: [moved] } = await made.execute(owner).catch(unlessKeyed)
  return moved && { balance: Number(moved.balance), held: Number(moved.held) }
}

/** Another change under the key was made at the same moment. */
function unlessKeyed (error: unknown): { rows: [] } {
  if (error instanceof Error && 'constraint' in error && error.constraint === 'ledger_key') return { rows: [] }
  throw error
}
