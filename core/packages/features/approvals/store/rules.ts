import { type CompanyQueries, createFreshCache, type Database, type Freshness } from '@dispatch/database'
import { sql } from 'kysely'
import { maxRules, type RuleBody } from '../contract/rules.ts'
import { type ApprovalRow, type StoredRule, tablesOf } from './tables.ts'

/** A rule of a company. */
export type Rule = RuleBody & { id: string, createdAt: Date }

/** What a company wants approved. `hasKeys`: when that changed last, something had an idempotency key. */
export type Policy = { rules: readonly Rule[], hasKeys: boolean }

/** The policies of companies, as of the last check of what has changed. */
export function createPolicies (database: Database, freshness: Freshness): { of: (companyId: number) => Promise<Policy> } {
  const cache = createFreshCache<number, Policy>(freshness, (companyId) => companyId)
  const read = (companyId: number): Promise<Policy> =>
    database.company(companyId, async (queries) => {
      const { rows: [found] } = await sql<{ hasKeys: boolean }>`select exists (select from approvals
        where company_id = ${companyId} and idempotency_key is not null) as "hasKeys"`.execute(queries)
      return { rules: await rulesIn(queries, companyId), hasKeys: found?.hasKeys ?? false }
    })
  return { of: (companyId) => cache.get(companyId, () => read(companyId)) }
}

/** The rules of a company, the oldest first. */
export async function listRules (database: Database, companyId: number): Promise<Rule[]> {
  return database.reading(companyId, (queries) => rulesIn(queries, companyId))
}

async function rulesIn (queries: CompanyQueries, companyId: number): Promise<Rule[]> {
  const rows = await tablesOf(queries).selectFrom('approval_rules').select(['rule_id', 'rule', 'created_at'])
    .where('company_id', '=', companyId).orderBy('created_at').orderBy('rule_id').limit(maxRules).execute()
  return rows.map(({ rule_id: id, rule, created_at: createdAt }) => ({ ...rule, id, createdAt }))
}

/**
 * The rules by which something waits, each with whom it names now; one that is gone names whom it named when it asked. Who is named no more
 * has not approved it.
 */
export async function rulesNow (
  database: Database,
  { company_id: companyId, rules }: Pick<ApprovalRow, 'company_id' | 'rules'>
): Promise<StoredRule[]> {
  const found = await database.company(companyId, (queries) => rulesIn(queries, companyId))
  const named = new Map(found.map((rule) => [rule.id, rule.approvers ?? []]))
  return rules.map(({ consent, ...rule }) => {
    const approvers = named.get(rule.id) ?? rule.approvers
    const counts = consent !== undefined && (approvers.length === 0 || approvers.includes(consent.by))
    return { ...rule, approvers, ...counts && { consent } }
  })
}

/** Adds a rule. Answers false where the company has as many as it may; two at once take turns. */
export async function addRule (
  queries: CompanyQueries,
  companyId: number,
  { id, rule, at }: { id: string, rule: RuleBody, at: Date }
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('approval_rules', ${companyId}))`.execute(queries)
  if ((await rulesIn(queries, companyId)).length >= maxRules) return false
  await tablesOf(queries).insertInto('approval_rules').values({
    rule_id: id,
    company_id: companyId,
    rule: JSON.stringify(rule),
    created_at: at
  }).execute()
  return true
}

/**
 * Replaces what a rule says, and has those mailed whom it names now for what waits by it. Answers what it said; undefined where there is no
 * such rule.
 */
export async function changeRule (
  queries: CompanyQueries,
  companyId: number,
  { id, rule }: { id: string, rule: RuleBody }
): Promise<RuleBody | undefined> {
  const before = await tablesOf(queries).selectFrom('approval_rules').select('rule').where('company_id', '=', companyId)
    .where('rule_id', '=', id).forUpdate().executeTakeFirst()
  await tablesOf(queries).updateTable('approval_rules').set({ rule: JSON.stringify(rule) })
    .where('company_id', '=', companyId).where('rule_id', '=', id).execute()
  await sql`update approvals set mailed_at = null, tell_after = null, tell_tries = 0
    where company_id = ${companyId} and status = 'waiting' and rules @> ${JSON.stringify([{ id }])}::jsonb`.execute(queries)
  return before?.rule
}

/** Answers false where there is no such rule. */
export async function removeRule (queries: CompanyQueries, companyId: number, id: string): Promise<boolean> {
  const { numDeletedRows } = await tablesOf(queries).deleteFrom('approval_rules').where('company_id', '=', companyId).where('rule_id', '=',
    id)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Those of these users who are not of the company. */
export async function strangersAmong (queries: CompanyQueries, companyId: number, users: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select user_id as id from users where company_id = ${companyId}
    and user_id = any (${users}::integer[])`.execute(queries)
  const known = new Set(rows.map(({ id }) => id))
  return users.filter((id) => !known.has(id))
}
