import type { AuditAuthor, RecordedActor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { filesNamedIn, type FileUse } from '@dispatch/core'
import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { sealed } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { maxWaiting } from '../contract/approvals.ts'
import { type ApprovalRow, type StoredCommand, type StoredFacts, type StoredRule, type Tables, tablesOf } from './tables.ts'

/** The most approvals that a list shows. */
const maxListed = 100

/** Seconds after which another process goes on with what one has begun to send. */
const sendingLasts = 30

/** An approval by its company. */
export type ApprovalRef = { companyId: number, approvalId: string }

export type NewApproval = {
  approvalId: string
  asker: RecordedActor
  batchId?: string
  services: readonly string[]
  command: StoredCommand
  request?: unknown
  key?: { key: string, fingerprint: string }
  facts: StoredFacts
  rules: readonly StoredRule[]
  at: Date
  expiresAt: Date
  /** Pauses its batch in the same transaction; false where that is over. */
  pause?: (queries: CompanyQueries) => Promise<boolean>
}

/**
 * Keeps what waits. Where its key or its batch waits already, that answers; undefined where as many of the company wait as may, `over`
 * where its batch does not go on. `also`: in the same transaction, where it is new.
 */
export async function addApproval (
  database: Database,
  { approvalId, asker, batchId, services, command, request, key, facts, rules, at, expiresAt, pause = () => Promise.resolve(true) }:
    NewApproval,
  also: (queries: CompanyQueries) => Promise<void>
): Promise<ApprovalRow | 'over' | undefined> {
  const { companyId } = asker
  return database.company(companyId, async (queries) => {
    const tables = tablesOf(queries)
    await sql`select pg_advisory_xact_lock(hashtextextended('approvals', ${companyId}))`.execute(queries)
    const known = batchId !== undefined || key !== undefined
      ? await tables.selectFrom('approvals').selectAll().where('company_id', '=', companyId)
        .where((where) =>
          batchId === undefined
            ? where('idempotency_key', '=', key?.key ?? '')
            : where.and([where('batch_id', '=', batchId), where('status', 'in', ['waiting', 'sending'])])
        ).executeTakeFirst()
      : undefined
    if (batchId !== undefined && known?.status === 'sending') {
      // It is about to go on: paused now, it would wait for nobody. Asked again once that has ended, another approval is kept.
      throw new DispatchError('service_unavailable', 'The batch is about to go on, as somebody has just approved it.')
    }
    if (known !== undefined) return await pause(queries) ? known : 'over'
    const { count } = await tables.selectFrom('approvals').select(({ fn }) => fn.countAll<string>().as('count'))
      .where('company_id', '=', companyId).where('status', '=', 'waiting').executeTakeFirstOrThrow()
    if (Number(count) >= maxWaiting) return undefined
    if (!await pause(queries)) return 'over'
    const row = await tables.insertInto('approvals').values({
      approval_id: approvalId,
      company_id: companyId,
      user_id: asker.userId,
      batch_id: batchId ?? null,
      asker: JSON.stringify(asker),
      services: [...services],
      command: JSON.stringify(command),
      request: request === undefined ? null : JSON.stringify(await sealed(queries, companyId, request as JsonObject)),
      idempotency_key: key?.key ?? null,
      fingerprint: key?.fingerprint ?? null,
      facts: JSON.stringify(facts),
      rules: JSON.stringify(rules),
      status: 'waiting',
      worked_at: database.now,
      created_at: at,
      expires_at: expiresAt
    }).returningAll().executeTakeFirstOrThrow()
    await also(queries)
    return row
  })
}

/**
 * Whose approvals somebody sees: all of the company, or those of a user; of certain services alone. `decider`: those too of whose rules one
 * names this user; one that names nobody names the admins.
 */
export type Circle = {
  companyId: number
  userId?: number
  services?: readonly string[]
  decider?: { userId: number, isAdmin: boolean }
}

const namedBy = ({ companyId, decider }: Circle & { decider: NonNullable<Circle['decider']> }): RawBuilder<boolean> =>
  sql<boolean>`exists (select from jsonb_array_elements(rules) as asked
    left join approval_rules as present on present.company_id = ${companyId} and present.rule_id = (asked->>'id')::uuid,
    coalesce(case when present.rule_id is null then asked else present.rule end->'approvers', '[]') as approvers
    where approvers @> to_jsonb(${decider.userId}::integer) or ${decider.isAdmin} and approvers = '[]')`

const within = ({ companyId, userId, services, decider }: Circle): RawBuilder<boolean> =>
  sql<boolean>`company_id = ${companyId} and (${userId === undefined ? sql`true` : sql`user_id = ${userId}`}${
    services === undefined ? sql`` : sql` and services <@ ${services}::text[]`
  }${decider === undefined ? sql`` : sql` or ${namedBy({ companyId, decider })}`})`

/** The files of what waits for a decision. */
export function approvalFileUse (database: Database): FileUse {
  return (companyId, fileIds, limit) =>
    database.company(companyId, (queries) =>
      filesNamedIn(queries, sql`select approval_id, request from approvals
        where company_id = ${companyId} and status in ('waiting', 'sending')`, { fileIds, limit }))
}

/** The newest first. */
export async function listApprovals (database: Database, circle: Circle, only?: 'waiting', now?: Date): Promise<ApprovalRow[]> {
  return database.reading(circle.companyId, (queries) =>
    tablesOf(queries).selectFrom('approvals').selectAll().where(within(circle))
      .$if(only !== undefined, (query) => query.where('status', '=', 'waiting').where('expires_at', '>', now ?? new Date(0)))
      .orderBy('created_at', 'desc').orderBy('approval_id').limit(maxListed).execute())
}

export async function readApproval (database: Database, circle: Circle, approvalId: string): Promise<ApprovalRow | undefined> {
  return database.company(circle.companyId,
    (queries) =>
      tablesOf(queries).selectFrom('approvals').selectAll().where(within(circle)).where('approval_id', '=', approvalId).executeTakeFirst())
}

/** What was asked for with an idempotency key. */
export async function findByKey (database: Database, companyId: number, key: string): Promise<ApprovalRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('approvals').selectAll().where('company_id', '=', companyId).where('idempotency_key', '=', key)
        .executeTakeFirst())
}

/** The rules by which a dispatch or a batch was approved: the batch after a time. */
export async function approvedBy (
  database: Database,
  companyId: number,
  of: { batchId: string, since?: Date } | { dispatchId: string }
): Promise<string[]> {
  return database.company(companyId, async (queries) => {
    const found = await tablesOf(queries).selectFrom('approvals').select('rules').where('company_id', '=', companyId)
      .$call((query) =>
        'dispatchId' in of
          ? query.where('dispatch_id', '=', of.dispatchId)
          : query.where('batch_id', '=', of.batchId).where('decided_at', '>=', of.since ?? new Date(0))
      )
      .where('status', 'in', ['sending', 'approved']).execute()
    // Where one person has approved it before, and another one after that time, the first one has seen it as it was.
    const since = 'batchId' in of ? of.since?.toISOString() ?? '' : ''
    return found.flatMap(({ rules }) => rules.flatMap(({ id, consent }) => consent === undefined || consent.at >= since ? [id] : []))
  })
}

/**
 * Notes that somebody approves what waits, for each of these rules that `names` them. Those who have seen something else of it have to look
 * again. Once there is somebody for each, it is about to be sent. Undefined where it waits no more; `also`: in the same transaction.
 */
export async function consentTo (
  database: Database,
  { companyId, approvalId }: ApprovalRef,
  { rules: present, names, by: { userId, author, reason, seen }, at }: {
    rules: readonly StoredRule[]
    names: (rule: StoredRule) => boolean
    by: NonNullable<Move['by']>
    at: Date
  },
  also: (queries: CompanyQueries, row: ApprovalRow) => Promise<void>
): Promise<ApprovalRow | undefined> {
  return database.company(companyId, async (queries) => {
    const tables = tablesOf(queries)
    const before = await tables.selectFrom('approvals').select('rules').where('company_id', '=', companyId)
      .where('approval_id', '=', approvalId).where('status', '=', 'waiting').where('expires_at', '>', at).forUpdate().executeTakeFirst()
    if (before === undefined) return undefined
    const consent = { by: userId, at: at.toISOString(), ...seen !== undefined && { seen } }
    const known = new Map([...present, ...before.rules].map((rule) => [rule.id, rule]))
    const rules = consentsTo(seen, [...known.values()]).map(({ consent: earlier, lapsed, ...rule }): StoredRule => {
      const named = present.find(({ id }) => id === rule.id) ?? rule
      // Who is named no more has not approved it.
      const counts = earlier !== undefined && (named.approvers.length === 0 || named.approvers.includes(earlier.by))
      const now = (counts ? earlier : undefined) ?? (names(named) ? consent : undefined)
      return { ...rule, approvers: named.approvers, ...now === undefined ? lapsed && { lapsed } : { consent: now } }
    })
    const isAskedAnew = rules.length > before.rules.length || rules.some((rule) => isLapsed(rule, before.rules))
    const isDone = rules.every((rule) => rule.consent !== undefined)
    const row = await tables.updateTable('approvals').set({
      rules: JSON.stringify(rules),
      ...isAskedAnew && tellAnew,
      ...isDone && {
        status: 'sending' as const,
        worked_at: database.now,
        decided_by: userId,
        author: JSON.stringify(author),
        reason: reason ?? null,
        seen: seen ?? null,
        decided_at: at
      }
    }).where('company_id', '=', companyId).where('approval_id', '=', approvalId).returningAll().executeTakeFirstOrThrow()
    await also(queries, row)
    return row
  })
}

/** The rules with those consents alone that are to this; the others have lapsed. A batch has none that says what was seen. */
export const consentsTo = (seen: string | undefined, rules: readonly StoredRule[]): StoredRule[] =>
  rules.map(({ consent, ...rule }) => ({ ...rule, ...consent && (consent.seen === seen ? { consent } : { lapsed: consent }) }))

/** Whether the consent for a rule has lapsed since. */
const isLapsed = ({ id, lapsed }: StoredRule, before: readonly StoredRule[]): boolean =>
  lapsed !== undefined && before.find((rule) => rule.id === id)?.consent?.at === lapsed.at

/** Has those mailed whom the rules name and who were not yet. */
const tellAnew = { mailed_at: null, tell_after: null, tell_tries: 0 }

/** Whether the rules and their consents are still these. */
const rulesAre = (rules: readonly StoredRule[]): RawBuilder<boolean> => sql<boolean>`rules = ${JSON.stringify(rules)}::jsonb`

/**
 * Lets the consents lapse that are to something else than this, where it waits, and has those mailed who gave them. `of`: the rules as they
 * were before that was looked for: a consent that was given since is to something newer. `also`: with the rules that have lost theirs, in
 * the same transaction; it is not called where there are none.
 */
export async function lapseConsents (
  database: Database,
  { companyId, approvalId }: ApprovalRef,
  { seen, of }: { seen: string, of: readonly StoredRule[] },
  also: (queries: CompanyQueries, lapsed: readonly StoredRule[]) => Promise<void>
): Promise<void> {
  await database.company(companyId, async (queries) => {
    const tables = tablesOf(queries)
    const before = await tables.selectFrom('approvals').select('rules').where('company_id', '=', companyId)
      .where('approval_id', '=', approvalId).where('status', '=', 'waiting').where(rulesAre(of)).forUpdate().executeTakeFirst()
    const rules = consentsTo(seen, before?.rules ?? [])
    const lapsed = rules.filter((rule) => isLapsed(rule, before?.rules ?? []))
    if (lapsed.length === 0) return
    await tables.updateTable('approvals').set({ rules: JSON.stringify(rules), ...tellAnew }).where('company_id', '=', companyId)
      .where('approval_id', '=', approvalId).execute()
    await also(queries, lapsed)
  })
}

/** The e-mail addresses of users of a company. */
export async function addressesOf (database: Database, companyId: number, users: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const { rows } = await database.reading(companyId,
    (queries) =>
      sql<{ id: number, email: string }>`select user_id as id, email from users where company_id = ${companyId}
      and user_id = any (${users}::integer[])`.execute(queries))
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/** How a status is changed: from which ones, by whom. `open`: only what has not expired. */
type Move = {
  from: ApprovalRow['status'] | readonly ApprovalRow['status'][]
  to: ApprovalRow['status']
  by?: { userId: number, author: AuditAuthor, reason?: string | undefined, seen?: string | undefined }
  dispatchId?: string
  /** All by which it waits from now on. `asksAgain`: those whom they name are mailed. */
  rules?: readonly StoredRule[]
  asksAgain?: boolean
  at: Date
  open?: true
  /** Only where no other process has taken it over since. */
  since?: Date
}

/** Changes the status. Undefined where it is not in the one before; `also`: in the same transaction. */
export async function moveApproval (
  database: Database,
  { companyId, approvalId }: ApprovalRef,
  { from, to, by, dispatchId, rules, asksAgain = false, at, open, since }: Move,
  also: (queries: CompanyQueries, row: ApprovalRow) => Promise<void> = () => Promise.resolve()
): Promise<ApprovalRow | undefined> {
  return database.company(companyId, async (queries) => {
    const row = await tablesOf(queries).updateTable('approvals').set({
      status: to,
      worked_at: database.now,
      ...rules === undefined ? {} : { rules: JSON.stringify(rules) },
      ...asksAgain ? tellAnew : {},
      ...to === 'waiting' ? { tries: 0, decided_by: null, author: null, seen: null, reason: null, decided_at: null } : {},
      ...by === undefined ? {} : {
        decided_by: by.userId,
        author: JSON.stringify(by.author),
        reason: by.reason ?? null,
        seen: by.seen ?? null,
        decided_at: at
      },
      ...to === 'withdrawn' || to === 'expired' ? { decided_at: at } : {},
      ...dispatchId === undefined ? {} : { dispatch_id: dispatchId }
    }).where('company_id', '=', companyId).where('approval_id', '=', approvalId).where('status', 'in', [from].flat())
      .$if(since !== undefined, (query) => query.where(sql`date_trunc('milliseconds', worked_at)`, '=', since ?? at))
      .$if(open !== undefined, (query) => query.where('expires_at', '>', at)).returningAll().executeTakeFirst()
    if (row !== undefined) await also(queries, row)
    return row
  })
}

/** Takes what a process that has ended has left half sent; each is taken by one process. */
export async function takeStuck ({ owner, now }: Database): Promise<ApprovalRow[]> {
  const { rows } = await sql<ApprovalRow>`update approvals set worked_at = ${now}, tries = tries + 1 where (company_id, approval_id) in (
      select company_id, approval_id from approvals
      where status = 'sending' and worked_at < ${now} - make_interval(secs => ${sendingLasts}) order by worked_at limit 20
      for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** Seconds after which what waits, and what some have approved, is looked at again. */
const lookedAtEvery = 60

/** Takes what waits for others than those who have approved it: what was looked at first; each is taken by one process. */
export async function takeConsented ({ owner, now }: Database): Promise<ApprovalRow[]> {
  const { rows } = await sql<ApprovalRow>`update approvals set worked_at = ${now} where (company_id, approval_id) in (
      select company_id, approval_id from approvals
      where status = 'waiting' and batch_id is null and rules @? '$[*].consent' and expires_at > ${now}
        and worked_at < ${now} - make_interval(secs => ${lookedAtEvery}) order by worked_at limit 50 for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** The dispatch of an idempotency key, where there is one. */
export async function dispatchUnder (database: Database, companyId: number, key: string): Promise<string | undefined> {
  const row = await database.company(companyId,
    (queries) =>
      queries.selectFrom('idempotency_keys').select('dispatch_id').where('company_id', '=', companyId).where('key', '=', key)
        .executeTakeFirst())
  return row?.dispatch_id
}

/** Lists the approvals that have waited too long. */
export async function listExpired ({ owner }: Database, at: Date): Promise<ApprovalRef[]> {
  return owner.$extendTables<Tables>().selectFrom('approvals').select(['company_id as companyId', 'approval_id as approvalId'])
    .where('status', '=', 'waiting').where('expires_at', '<=', at).orderBy('worked_at').limit(100).execute()
}

/** What nobody was told of, by a callback or by mail: the oldest of each company, then the next ones. */
export async function listUnnotified (
  { owner, now }: Pick<Database, 'owner' | 'now'>,
  way: 'told_at' | 'mailed_at'
): Promise<ApprovalRow[]> {
  const { rows } = await sql<ApprovalRow>`select * from (
      select *, row_number() over (partition by company_id order by created_at) as turn from approvals
      where ${sql.ref(way)} is null and (told_at is null or mailed_at is null) and (tell_after is null or tell_after <= ${now})
    ) as untold order by turn, created_at limit 100`.execute(owner)
  return rows
}

/** Tries to tell of it later: after 1 minute, and after twice as long each time, up to 1 hour. */
export async function notifyLater ({ owner, now }: Pick<Database, 'owner' | 'now'>, { companyId, approvalId }: ApprovalRef): Promise<void> {
  await sql`update approvals set tell_tries = tell_tries + 1,
      tell_after = ${now} + make_interval(mins => least(60, (2 ^ least(tell_tries, 6))::integer))
    where company_id = ${companyId} and approval_id = ${approvalId}`.execute(owner)
}

/** Notes that people were mailed of these rules: where they are others by now, others may have to be. */
export async function noteMailed (
  { owner, now }: Database,
  { companyId, approvalId }: ApprovalRef,
  rules: readonly StoredRule[]
): Promise<void> {
  await owner.$extendTables<Tables>().updateTable('approvals').set({ mailed_at: now }).where('company_id', '=', companyId)
    .where('approval_id', '=', approvalId).where(rulesAre(rules)).execute()
}

/** Notes that a callback tells of it; `tell` adds that in the same transaction: of several processes, one does. */
export async function markNotified (
  { owner, now }: Database,
  { companyId, approvalId }: ApprovalRef,
  tell: (queries: OwnerQueries, row: ApprovalRow) => Promise<void>
): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    const row = await queries.$extendTables<Tables>().updateTable('approvals').set({ told_at: now }).where('company_id', '=', companyId)
      .where('approval_id', '=', approvalId).where('told_at', 'is', null).returningAll().executeTakeFirst()
    if (row !== undefined) await tell(queries, row)
  })
}

/** Removes some of what was decided or has expired before a time, in all companies. Answers how many. */
export async function removeOld ({ owner }: Database, before: Date, max = 500): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from approvals where (company_id, approval_id) in (
      select company_id, approval_id from approvals where created_at < ${before} and status not in ('waiting', 'sending')
      order by created_at limit ${max} for update skip locked
    )`.execute(owner)
  return Number(numAffectedRows)
}

/** Rows of a company, for the tests of the walls between companies. */
export async function fillApprovals (queries: Database['owner'], companyId: number): Promise<void> {
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  const at = new Date()
  const tables = queries.$extendTables<Tables>()
  await tables.insertInto('approval_rules').values({
    rule_id: crypto.randomUUID(),
    company_id: companyId,
    rule: '{"name":"All","rowsAbove":1000000}',
    created_at: at
  })
    .execute()
  await tables.insertInto('approvals').values({
    approval_id: crypto.randomUUID(),
    company_id: companyId,
    user_id: userId,
    asker: JSON.stringify({ companyId, userId, impersonatorId: null, key: null, permitted: ['*'] }),
    services: [],
    command: '{"requestId":"x"}',
    request: '{}',
    facts: '{"credits":0}',
    rules: '[]',
    status: 'refused',
    told_at: at,
    mailed_at: at,
    worked_at: at,
    created_at: at,
    expires_at: at
  }).execute()
}
