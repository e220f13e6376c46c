import { type AuditStamp, noteAudit, type UserRef } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { filesNamedIn, type FileUse, type Holder, tableHolder } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { sealed } from '@dispatch/tables'
import { type ColumnType, type Generated, type Selectable, sql } from 'kysely'

type Tables = {
  proposals: {
    proposal_id: string
    company_id: number
    user_id: number
    service: string
    request: ColumnType<JsonObject, string, string>
    reason: string | null
    sandbox: Generated<boolean>
    decision: 'sent' | 'declined' | null
    decided_by: number | null
    dispatch_id: string | null
    created_at: Date
    expires_at: Date
    idempotency_key: string | null
  }
}

export type ProposalRow = Omit<Selectable<Tables['proposals']>, 'idempotency_key'>
export type SummaryRow = Omit<ProposalRow, 'request'>

const summary = ['proposal_id', 'company_id', 'user_id', 'service', 'reason', 'sandbox', 'decision', 'decided_by', 'dispatch_id',
  'created_at', 'expires_at'] as const

/** How many of a user wait at most for a decision. */
export const maxOpen = 100
/** How many of a list are shown. */
const maxListed = 100

/** Whose proposals somebody sees: those of a user, or, where none is named, all of the company. */
export type Circle = { companyId: number, userId?: number }

/**
 * Keeps a proposal, or finds the one that the user has made with this idempotency key. Undefined where as many of the user as may wait are
 * open; two at once take turns.
 */
export async function addProposal (
  database: Database,
  { companyId, userId }: UserRef,
  proposal: {
    id: string
    service: string
    request: JsonObject
    reason: string | null
    sandbox: boolean
    key: string | null
    at: Date
    expiresAt: Date
  }
): Promise<ProposalRow | undefined> {
  return database.company(companyId, async (queries) => {
    await sql`select pg_advisory_xact_lock(hashtext('proposals'), ${userId})`.execute(queries)
    const own = tablesOf(queries)
    const before = proposal.key === null ? undefined : await own.selectFrom('proposals').select([...summary, 'request'])
      .where('company_id', '=', companyId).where('user_id', '=', userId).where('idempotency_key', '=', proposal.key).executeTakeFirst()
    if (before !== undefined) return before
    const { open } = await own.selectFrom('proposals').select(({ fn }) => fn.countAll<string>().as('open'))
      .where('company_id', '=', companyId).where('user_id', '=', userId).where('decision', 'is', null).where('expires_at', '>', proposal.at)
      .executeTakeFirstOrThrow()
    if (Number(open) >= maxOpen) return undefined
    return own.insertInto('proposals').values({
      proposal_id: proposal.id,
      company_id: companyId,
      user_id: userId,
      service: proposal.service,
      request: JSON.stringify(await sealed(queries, companyId, proposal.request)),
      reason: proposal.reason,
      sandbox: proposal.sandbox,
      idempotency_key: proposal.key,
      created_at: proposal.at,
      expires_at: proposal.expiresAt
    }).returning([...summary, 'request']).executeTakeFirstOrThrow()
  })
}

/** The newest first. `sandbox`: only tests, or none. */
export async function listProposals (database: Database, { companyId, userId }: Circle, sandbox?: boolean): Promise<SummaryRow[]> {
  return database.reading(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('proposals').select(summary).where('company_id', '=', companyId)
        .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
        .$if(sandbox !== undefined, (query) => query.where('sandbox', '=', sandbox ?? false)).orderBy('created_at', 'desc').limit(
          maxListed
        )
        .execute())
}

export async function readProposal (database: Database, { companyId, userId }: Circle, id: string): Promise<ProposalRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesOf(queries).selectFrom('proposals').select([...summary, 'request']).where('company_id', '=', companyId)
        .where('proposal_id', '=', id).$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0)).executeTakeFirst())
}

/** Notes what a person has decided; nothing where somebody has decided before, but that it was sent goes before that it was declined. */
export async function decide (
  database: Database,
  { companyId, id }: { companyId: number, id: string },
  { decision, by, dispatchId }: { decision: 'sent' | 'declined', by: number, dispatchId?: string },
  stamp: AuditStamp
): Promise<void> {
  await database.company(companyId, async (queries) => {
    const { numUpdatedRows } = await tablesOf(queries).updateTable('proposals')
      .set({ decision, decided_by: by, dispatch_id: dispatchId ?? null }).where('company_id', '=', companyId).where('proposal_id', '=', id)
      .where((where) => where.or([where('decision', 'is', null), where('decision', '<', decision)])).executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return
    await noteAudit(queries, { companyId, action: `proposal.${decision}`, object: { kind: 'proposal', id }, ...stamp })
  })
}

/** Removes what was proposed before a time, in all companies. */
export async function removeOldProposals ({ owner }: Database, before: Date): Promise<void> {
  await owner.$extendTables<Tables>().deleteFrom('proposals').where('created_at', '<', before).execute()
}

/** What an assistant has proposed to send to a person goes. */
export function proposalsHolder (database: Database): Holder {
  return tableHolder(database, { kind: 'proposals', table: 'proposals', key: sql`proposal_id`, type: 'uuid' })
}

/** The files of proposals that wait for a decision. */
export function proposalFileUse (database: Database, now: () => Date): FileUse {
  return (companyId, fileIds, limit) =>
    database.company(companyId, (queries) =>
      filesNamedIn(queries, sql`select proposal_id, request from proposals
        where company_id = ${companyId} and decision is null and expires_at > ${now()}`, { fileIds, limit }))
}

/** A row of a company, for the tests of the walls between companies. */
export async function fillProposals (queries: Database['owner'], companyId: number): Promise<void> {
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  const at = new Date()
  await queries.$extendTables<Tables>().insertInto('proposals').values({
    proposal_id: crypto.randomUUID(),
    company_id: companyId,
    user_id: userId,
    service: 'invoicing/email',
    request: '{}',
    created_at: at,
    expires_at: at
  }).execute()
}

const tablesOf = (queries: CompanyQueries) => queries.$extendTables<Tables>()
