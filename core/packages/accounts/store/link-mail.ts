import type { DispatchStatus } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import type { Selectable } from 'kysely'
import { type AuditAuthor, noteAudit } from '../audit/audit.ts'

export type LinkMailRow = Selectable<Tables['link_mail']>

/** Who mails one-time links. Read as the owner: it concerns the service, not the company that asks. */
export async function readLinkMail ({ owner }: Database): Promise<LinkMailRow | undefined> {
  return owner.selectFrom('link_mail').select(['company_id', 'user_id', 'provider', 'sender', 'set_at']).executeTakeFirst()
}

/** What became of mails, by their dispatches; those of another company than the one that mails now are left out. */
export async function readMailStates ({ owner }: Database, dispatchIds: readonly string[]): Promise<Map<string, DispatchStatus>> {
  if (dispatchIds.length === 0) return new Map()
  const rows = await owner.selectFrom('dispatches').innerJoin('link_mail', 'link_mail.company_id', 'dispatches.company_id')
    .select(['dispatch_id', 'status']).where('dispatch_id', 'in', dispatchIds).execute()
  return new Map(rows.map((row) => [row.dispatch_id, row.status]))
}

/** Stores who mails one-time links, in the place of an earlier one; null: nobody. False where nobody did before, and nobody does now. */
export async function storeLinkMail (
  { owner }: Database,
  row: Pick<LinkMailRow, 'provider' | 'sender'> | null,
  { author, at }: { author: AuditAuthor, at: Date }
): Promise<boolean> {
  const { userId, companyId } = author
  return owner.transaction().execute(async (queries) => {
    const { numDeletedRows } = await queries.deleteFrom('link_mail').executeTakeFirstOrThrow()
    if (row === null && numDeletedRows === 0n) return false
    if (row !== null) await queries.insertInto('link_mail').values({ company_id: companyId, user_id: userId, ...row, set_at: at }).execute()
    const object = { kind: 'company', id: String(companyId) }
    const change = row === null ? { action: 'link-mail.removed' } : { action: 'link-mail.changed', facts: { ...row } }
    await noteAudit(queries, { companyId, object, ...change, author, at })
    return true
  })
}
