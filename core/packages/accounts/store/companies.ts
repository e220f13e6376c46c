import type { JsonObject } from '@dispatch/common'
import { openCredits } from '@dispatch/credits'
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
        await openCredits(queries, companyId, 0, signature.at)
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
