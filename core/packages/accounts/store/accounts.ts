import type { JsonObject } from '@dispatch/common'
import type { Role } from '@dispatch/contract'
import { openCredits } from '@dispatch/credits'
import { createFreshCache, type Database, type Freshness } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import type { Selectable, Transaction } from 'kysely'
import type { Account, Accounts, Person } from '../access/account.ts'

/** Reads accounts. Every call first learns of all changes that were committed before it. */
export function createAccounts (database: Database, freshness: Freshness): Accounts {
  // Another company may get a user with the same address at any time.
  const byEmail = createFreshCache<string, readonly Account[]>(freshness, () => 0)
  const byId = createFreshCache<number, Account | undefined>(freshness, (_, account) => account?.companyId ?? 0)
  return {
    async byEmail (email) {
      await freshness.check()
      return byEmail.get(email, () => findAccounts(database, 'email', email))
    },
    async byId (userId) {
      await freshness.check()
      return byId.get(userId, async () => (await findAccounts(database, 'user_id', userId))[0])
    }
  }
}

/** It reads as the owner, because a login does not know its company yet. */
async function findAccounts ({ owner }: Database, column: 'email' | 'user_id', value: string | number): Promise<Account[]> {
  const rows = await owner.selectFrom('users').innerJoin('companies', 'companies.company_id', 'users.company_id')
    .select(['user_id', 'users.company_id', 'email', 'role', 'services', 'password_hash', 'password_version', 'users.disabled_at',
      'companies.disabled_at as company_disabled_at', 'addresses', 'second_factor_at', 'second_factor_required'])
    .where(`users.${column}`, '=', value).orderBy('password_set_at', 'desc').orderBy('user_id', 'desc').execute()
  return rows.map((row) => ({
    ...personIn(row),
    passwordHash: row.password_hash,
    passwordVersion: row.password_version,
    disabled: row.disabled_at !== null || row.company_disabled_at !== null
  }))
}

/** The facts about a person in the rows of the user and of the company. */
export type PersonRow =
  & Pick<Selectable<Tables['users']>, 'user_id' | 'company_id' | 'email' | 'role' | 'services' | 'second_factor_at'>
  & Pick<Selectable<Tables['companies']>, 'addresses' | 'second_factor_required'>

export function personIn ({ user_id: userId, company_id: companyId, email, role, services, addresses, ...row }: PersonRow): Person {
  const { second_factor_at: since, second_factor_required: secondFactorRequired } = row
  return { userId, companyId, email, role, services, addresses, secondFactor: since !== null, secondFactorRequired }
}

/** `defaultProvider`: it is configured with settings that hold no secret, and chosen for the services. */
export type NewCompany = {
  name: string
  credits: number
  users: readonly NewUser[]
  defaultProvider?: { code: string, services: readonly string[], settings?: JsonObject }
}
/** `email`: in its normalised form. */
export type NewUser = { email: string, role: Role, services: readonly string[], passwordHash: string }

/** Creates companies with their users and first credits: all of them or none. Answers their ids in the same order. */
export async function createCompanies ({ owner }: Database, companies: readonly NewCompany[], now: Date): Promise<number[]> {
  return owner.transaction().execute((queries) => createAll(queries, companies, now))
}

/** Creates the first companies of a new database; answers whether it was new. */
export async function createFirstCompanies (
  { owner, withAdvisoryLock: alone }: Database,
  companies: readonly NewCompany[],
  now: Date
): Promise<boolean> {
  // Several processes may start on a new database at once: only one fills it.
  return alone(() =>
    owner.transaction().execute(async (queries) => {
      if (await queries.selectFrom('companies').select('company_id').limit(1).executeTakeFirst() !== undefined) return false
      await createAll(queries, companies, now)
      return true
    })
  )
}

async function createAll (queries: Transaction<Tables>, companies: readonly NewCompany[], now: Date): Promise<number[]> {
  const ids: number[] = []
  for (const company of companies) ids.push(await insertCompany(queries, company, now))
  return ids
}

/** Adds a company with its users and first credits; answers its id. */
export async function insertCompany (
  queries: Transaction<Tables>,
  { name, credits, users, defaultProvider }: NewCompany,
  now: Date
): Promise<number> {
  const { company_id: companyId } = await queries.insertInto('companies').values({ name, created_at: now }).returning('company_id')
    .executeTakeFirstOrThrow()
  await openCredits(queries, companyId, credits, now)
  await queries.insertInto('users').values(users.map((user) => ({
    company_id: companyId,
    email: user.email,
    role: user.role,
    services: [...user.services],
    password_hash: user.passwordHash,
    password_set_at: now,
    created_at: now
  }))).execute()
  if (defaultProvider !== undefined) {
    const common = { company_id: companyId, user_id: null, provider_code: defaultProvider.code, updated_at: now }
    await queries.insertInto('configurations').values({
      ...common,
      settings: JSON.stringify(defaultProvider.settings ?? {}),
      secrets: '{}',
      sandbox: false
    }).execute()
    await queries.insertInto('choices').values(defaultProvider.services.map((service) => ({ ...common, service }))).execute()
  }
  return companyId
}
