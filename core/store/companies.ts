import { sql, type Selectable } from 'kysely'
import type { JsonObject } from '../contract/json.ts'
import { insertCompany, type NewCompany, type NewUser } from './accounts.ts'
import { noteAudit, type Signature } from './audit.ts'
import type { Database, OwnerQueries } from './database.ts'
import type { Tables } from './schema.ts'
import { insertUser, unlessTaken } from './users.ts'

/** A company, and what it has of credits. */
export type CompanyRow = Selectable<Tables['companies']> & Pick<Selectable<Tables['credits']>, 'balance' | 'held' | 'low_credit'>

/** A page of all companies; the id of the last of a page is its cursor. */
export async function listAllCompanies ({ owner }: Database, { limit, after = '0' }: { limit: number, after?: string }): Promise<CompanyRow[]> {
  return withCredits(owner).where('companies.company_id', '>', Number(after)).orderBy('companies.company_id').limit(limit).execute()
}

export async function findCompany ({ owner }: Database, companyId: number): Promise<CompanyRow | undefined> {
  return withCredits(owner).where('companies.company_id', '=', companyId).executeTakeFirst()
}

/** Adds a company with its users, each of whom has another e-mail address. */
export async function addCompany ({ owner }: Database, company: NewCompany, signature: Signature): Promise<CompanyRow> {
  return owner.transaction().execute(async (queries) => {
    const companyId = await insertCompany(queries, company, signature.at)
    await note(queries, companyId, 'company.created', { name: company.name, credits: company.credits, users: company.users.map(({ email }) => email) }, signature)
    return withCredits(queries).where('companies.company_id', '=', companyId).executeTakeFirstOrThrow()
  })
}

/** Adds a user of the platform, which is made before under its own id where there is none. Answers their id; undefined when somebody of the platform has the e-mail address. */
export async function addOperator ({ owner, alone }: Database, { companyId, name, user }: { companyId: number, name: string, user: NewUser }, signature: Signature): Promise<number | undefined> {
  // Several may do so at once on a new database.
  return unlessTaken(alone(() => owner.transaction().execute(async (queries) => {
    if (await queries.selectFrom('companies').select('company_id').where('company_id', '=', companyId).executeTakeFirst() === undefined) {
      await sql`insert into companies (company_id, name, created_at) overriding system value values (${companyId}, ${name}, ${signature.at})`.execute(queries)
      await sql`select setval(pg_get_serial_sequence('companies', 'company_id'), (select max(company_id) from companies))`.execute(queries)
      await queries.insertInto('credits').values({ company_id: companyId, balance: 0, held: 0 }).execute()
      await note(queries, companyId, 'company.created', { name, credits: 0 }, signature)
    }
    const { user_id: userId } = await insertUser(queries, companyId, user, signature)
    return userId
  })))
}

/** Changes what the platform decides of a company; undefined when there is none. What is absent stays. */
export async function updateCompany ({ owner }: Database, companyId: number, change: { name?: string, disabled?: boolean, addresses?: readonly string[] }, signature: Signature): Promise<CompanyRow | undefined> {
  const { name, disabled, addresses } = change
  return owner.transaction().execute(async (queries) => {
    const changed = await queries.updateTable('companies').set((company) => ({
      ...(name === undefined ? {} : { name }),
      ...(addresses === undefined ? {} : { addresses: [...addresses] }),
      disabled_at: disabled === undefined ? company.ref('disabled_at') : disabled ? company.fn.coalesce('disabled_at', company.val(signature.at)) : null
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
export async function addCredits ({ owner }: Database, companyId: number, change: CreditChange, signature: Signature): Promise<Credited | 'short' | 'reused' | undefined> {
  const { amount, reason, idempotencyKey = null } = change
  return owner.transaction().execute(async (queries) => {
    const credits = await queries.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId).forUpdate().executeTakeFirst()
    if (credits === undefined) return undefined
    // Without a key, no change before is the same: null equals nothing.
    const before = await queries.selectFrom('ledger').select(['amount', 'reason']).where('company_id', '=', companyId).where('idempotency_key', '=', idempotencyKey).executeTakeFirst()
    if (before !== undefined && (Number(before.amount) !== amount || before.reason !== reason)) return 'reused'
    if (before !== undefined) return { balance: Number(credits.balance), held: Number(credits.held), replayed: true }
    const [balance, held] = [Number(credits.balance) + amount, Number(credits.held)]
    if (amount < 0 && balance < held) return 'short'
    const kind = amount < 0 ? 'correction' : 'grant'
    await queries.updateTable('credits').set({ balance }).where('company_id', '=', companyId).execute()
    await queries.insertInto('ledger').values({ company_id: companyId, kind, amount, balance, reason, idempotency_key: idempotencyKey, at: signature.at }).execute()
    await noteAudit(queries, { companyId, action: amount < 0 ? 'credits.corrected' : 'credits.granted', object: { kind: 'credits', id: String(companyId) }, facts: { amount, balance, reason }, ...signature })
    return { balance, held, replayed: false }
  })
}

/** What a company decides of itself; what is absent stays. */
export type SettingsChange = { addresses?: readonly string[], notifyUrl?: string | null, lowCredit?: number | null }

export async function updateSettings (database: Database, companyId: number, change: SettingsChange, signature: Signature): Promise<void> {
  const { addresses, notifyUrl, lowCredit } = change
  await database.company(companyId, async (queries) => {
    // First: a dispatch that has the credits waits for nothing that this could have.
    if (lowCredit !== undefined) await queries.updateTable('credits').set({ low_credit: lowCredit }).where('company_id', '=', companyId).execute()
    await queries.updateTable('companies').set((company) => ({
      addresses: addresses === undefined ? company.ref('addresses') : [...addresses],
      ...(notifyUrl === undefined ? {} : { notify_url: notifyUrl })
    })).where('company_id', '=', companyId).execute()
    await note(queries, companyId, 'settings.changed', { fields: Object.keys(change), ...(addresses === undefined ? {} : { addresses }) }, signature)
  })
}

function withCredits (queries: Database['owner'] | OwnerQueries) {
  return queries.selectFrom('companies').innerJoin('credits', 'credits.company_id', 'companies.company_id')
    .selectAll('companies').select(['balance', 'held', 'low_credit'])
}

function note (queries: OwnerQueries, companyId: number, action: string, facts: JsonObject, signature: Signature): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'company', id: String(companyId) }, facts, ...signature })
}
