import type { JsonObject } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { auditRow, type AuditStamp, noteAudit } from '../audit/audit.ts'
import { insertCompany, type NewCompany, type NewUser } from './accounts.ts'
import { insertUser, unlessTaken } from './users.ts'

/** A company, and what it has of credits. */
export type CompanyRow =
  & Omit<Selectable<Tables['companies']>, 'leaving_at'>
  & Pick<Selectable<Tables['credits']>, 'balance' | 'held' | 'low_credit'>

/** A page of all companies; the id of the last of a page is its cursor. */
export async function listAllCompanies (
  { owner }: Database,
  { limit, after = '0' }: { limit: number, after?: string }
): Promise<CompanyRow[]> {
  return withCredits(owner).where('companies.company_id', '>', Number(after)).orderBy('companies.company_id').limit(limit).execute()
}

export async function findCompany ({ owner }: Database, companyId: number): Promise<CompanyRow | undefined> {
  return withCredits(owner).where('companies.company_id', '=', companyId).executeTakeFirst()
}

/** Adds a company with its users, each of whom has another e-mail address. */
export async function addCompany ({ owner }: Database, company: NewCompany, signature: AuditStamp): Promise<CompanyRow> {
  return owner.transaction().execute(async (queries) => {
    const companyId = await insertCompany(queries, company, signature.at)
    await note(queries, companyId, 'company.created', {
      name: company.name,
      credits: company.credits,
      users: company.users.map(({ email }) => email)
    }, signature)
    return withCredits(queries).where('companies.company_id', '=', companyId).executeTakeFirstOrThrow()
  })
}

/**
 * Adds a user of the platform, which is made before under its own id where there is none. Answers their id; undefined when somebody of the
 * platform has the e-mail address.
 */
export async function addOperator (
  { owner, withAdvisoryLock: alone }: Database,
  { companyId, name, user }: { companyId: number, name: string, user: NewUser },
  signature: AuditStamp
): Promise<number | undefined> {
  // Several may do so at once on a new database.
  return unlessTaken(alone(() =>
    owner.transaction().execute(async (queries) => {
      if (await queries.selectFrom('companies').select('company_id').where('company_id', '=', companyId).executeTakeFirst() === undefined) {
        await sql`insert into companies (company_id, name, created_at) overriding system value
        values (${companyId}, ${name}, ${signature.at})`.execute(queries)
        await sql`select setval(pg_get_serial_sequence('companies', 'company_id'), (select max(company_id) from companies))`.execute(
          queries
        )
        await queries.insertInto('credits').values({ company_id: companyId, balance: 0, held: 0 }).execute()
        await note(queries, companyId, 'company.created', { name, credits: 0 }, signature)
      }
      const { user_id: userId } = await insertUser(queries, companyId, user, signature)
      return userId
    })
  ))
}

/** Changes what the platform decides of a company; undefined when there is none. What is absent stays. */
export async function updateCompany (
  { owner }: Database,
  companyId: number,
  change: { name?: string, disabled?: boolean, addresses?: readonly string[] },
  signature: AuditStamp
): Promise<CompanyRow | undefined> {
  const { name, disabled, addresses } = change
  return owner.transaction().execute(async (queries) => {
    const changed = await queries.updateTable('companies').set((company) => ({
      ...(name === undefined ? {} : { name }),
      ...(addresses === undefined ? {} : { addresses: [...addresses] }),
      disabled_at: disabled === undefined
        ? company.ref('disabled_at')
        : disabled
        ? company.fn.coalesce('disabled_at', company.val(signature.at))
        : null
    })).where('company_id', '=', companyId).returning('company_id').executeTakeFirst()
    if (changed === undefined) return undefined
    await note(queries, companyId, 'company.changed', { fields: Object.keys(change), ...change }, signature)
    return withCredits(queries).where('companies.company_id', '=', companyId).executeTakeFirst()
  })
}

/** A change of credits; under an idempotency key it is made once, however often it is asked for. */
export type CreditChange = { amount: number, reason: string, idempotencyKey?: string }

/** What a company has then. `replayed`: the change had been made before. */
export type Credited = { balance: number, held: number, replayed: boolean }

/**
 * Gives a company credits, or takes some back; `short`: fewer are free than are to be taken, `reused`: the key is that of another
 * change. Undefined when there is no such company.
 */
export async function addCredits (
  database: Database,
  companyId: number,
  change: CreditChange,
  signature: AuditStamp
): Promise<Credited | 'short' | 'reused' | undefined> {
  const { amount, reason, idempotencyKey } = change
  const made = await move(database, companyId, change, signature)
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
  signature: AuditStamp
): Promise<Omit<Credited, 'replayed'> | undefined> {
  const [kind, action] = amount < 0 ? ['correction', 'credits.corrected'] : ['grant', 'credits.granted']
  const audit = auditRow({ companyId, action, object: { kind: 'credits', id: String(companyId) }, facts: { amount, reason }, ...signature })
  const made = sql<{ balance: string, held: string }>`
    with credit as (
      update credits set balance = balance + ${amount} where company_id = ${companyId} and (${amount} >= 0 or balance + ${amount} >= held)
        and not exists (select from ledger where company_id = ${companyId} and idempotency_key = ${idempotencyKey ?? null})
          returning balance, held
    ), entry as (
      insert into ledger (company_id, kind, amount, balance, reason, idempotency_key, at)
      select ${companyId}, ${kind}, ${amount}, balance, ${reason}, ${idempotencyKey ?? null}, ${signature.at} from credit
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

/** The names of companies, by their ids. */
export async function companyNames ({ owner }: Database, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await owner.selectFrom('companies').select(['company_id', 'name']).where('company_id', 'in', [...new Set(ids)]).execute()
  return new Map(rows.map(({ company_id: id, name }) => [id, name]))
}

/** Those of the ids that are no company's. */
export async function missingCompanies (database: Database, ids: readonly number[]): Promise<number[]> {
  const names = await companyNames(database, ids)
  return ids.filter((id) => !names.has(id))
}

/** What a company decides of itself; what is absent stays. */
export type SettingsChange = {
  addresses?: readonly string[]
  notifyUrl?: string | null
  lowCredit?: number | null
  requireSecondFactor?: boolean
}

/** In one statement, so that no dispatch waits for more than it. */
export async function updateSettings (
  { owner }: Database,
  companyId: number,
  change: SettingsChange,
  signature: AuditStamp
): Promise<void> {
  const { addresses, notifyUrl, lowCredit, requireSecondFactor } = change
  const audit = auditRow({
    companyId,
    action: 'settings.changed',
    object: { kind: 'company', id: String(companyId) },
    facts: {
      fields: Object.keys(change),
      ...(addresses === undefined ? {} : { addresses }),
      ...(requireSecondFactor === undefined ? {} : { requireSecondFactor })
    },
    ...signature
  })
  await sql`
    with credit as (
      update credits set low_credit = ${lowCredit ?? null} where company_id = ${companyId} and ${lowCredit !== undefined}
    ), company as (
      update companies set addresses = coalesce(${addresses === undefined ? null : [...addresses]}::text[], addresses), notify_url = case
        when ${notifyUrl !== undefined} then ${notifyUrl ?? null} else notify_url end,
        second_factor_required = coalesce(${requireSecondFactor ?? null}::boolean, second_factor_required)
      where company_id = ${companyId}
    )
    insert into audit (${sql.join(Object.keys(audit).map((column) => sql.ref(column)))}) values (${sql.join(Object.values(audit))})`
    .execute(owner)
}

function withCredits (queries: Database['owner'] | OwnerQueries) {
  return queries.selectFrom('companies').innerJoin('credits', 'credits.company_id', 'companies.company_id')
    .select(['companies.company_id', 'name', 'disabled_at', 'created_at', 'addresses', 'notify_url', 'second_factor_required', 'balance',
      'held', 'low_credit'])
}

function note (queries: OwnerQueries, companyId: number, action: string, facts: JsonObject, signature: AuditStamp): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'company', id: String(companyId) }, facts, ...signature })
}

/** Where a company has its warnings sent, null for nowhere. */
export async function notifyUrlOf (queries: OwnerQueries, companyId: number): Promise<string | null> {
  const row = await queries.selectFrom('companies').select('notify_url').where('company_id', '=', companyId).executeTakeFirst()
  return row?.notify_url ?? null
}
