import type { JsonObject } from '@dispatch/common'
import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { columns, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { noteNotice } from './notices.ts'

/** Who changes something, and from where. `companyId` is that of the user; `address` the client's, as it reached us. */
export type AuditAuthor = { userId: number, companyId: number, impersonatorId?: number, keyId?: string, address: string, requestId: string }

/** Who makes a change, and when; null: the operator at the command line. */
export type AuditStamp = { author: AuditAuthor | null, at: Date }

/** A change: whose company it concerns, who made it, what was done to which thing. */
export type Change = AuditStamp & {
  companyId: number
  /** The thing and what happened to it, such as `user.changed`. */
  action: string
  object: { kind: string, id: string }
  /** Never a secret: the names of what was changed say enough. */
  facts?: JsonObject
}

/** `from_within`: who sat at the client is of the company, not of the platform. */
export type AuditRow = Selectable<Tables['audit']> & { from_within: boolean }

/** Notes a change, inside the transaction that makes it: neither is there without the other. Whom it concerns is told of it. */
export async function noteAudit (queries: CompanyQueries | OwnerQueries, change: Change): Promise<void> {
  await queries.insertInto('audit').values(auditRow(change)).execute()
  await noteNotice(queries, change)
}

/** The row of a change, for a statement that makes the change and notes it. */
export function auditRow ({ companyId, author, action, object, facts = {}, at }: Change) {
  return {
    company_id: companyId,
    user_id: author?.userId ?? null,
    user_company_id: author?.companyId ?? null,
    impersonator_id: author?.impersonatorId ?? null,
    key_id: author?.keyId ?? null,
    action,
    object_kind: object.kind,
    object_id: object.id,
    facts: JSON.stringify(facts),
    address: author?.address ?? null,
    request_id: author?.requestId ?? null,
    at
  }
}

/** Which entries are wanted. `object` is a kind, or a kind and an id: `user` or `user/7`. */
export type AuditFilter = { action?: string, userId?: number, object?: string, from?: Date, to?: Date }

/**
 * A page of a company's entries, the newest first; the id of the last of a page is its cursor. A user's are also those under whose identity
 * somebody else acted, and those where the user did.
 */
export async function listAudit (
  database: Database,
  companyId: number,
  filter: AuditFilter,
  page: { limit: number, after?: string }
): Promise<AuditRow[]> {
  const { action, userId, object, from, to } = filter
  const [kind, ...id] = object?.split('/') ?? []
  return database.reading(companyId, (queries) =>
    queries.selectFrom('audit').select(columns.audit)
      .select(sql<boolean>`exists (select from users where users.company_id = ${companyId}
      and users.user_id = coalesce(audit.impersonator_id, audit.user_id))`.as('from_within'))
      .where('company_id', '=', companyId)
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(userId !== undefined,
        (query) => query.where((where) => where.or([where('user_id', '=', userId ?? 0), where('impersonator_id', '=', userId ?? 0)])))
      .$if(kind !== undefined, (query) => query.where('object_kind', '=', kind ?? ''))
      .$if(id.length > 0, (query) => query.where('object_id', '=', id.join('/')))
      .$if(from !== undefined, (query) => query.where('at', '>=', from ?? null))
      .$if(to !== undefined, (query) => query.where('at', '<', to ?? null))
      .$if(page.after !== undefined, (query) => query.where('audit_id', '<', page.after ?? ''))
      .orderBy('audit_id', 'desc').limit(page.limit).execute())
}
