import type { AuditAuthor, RecordedActor } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import type { ApprovalFacts, ServicePath, Version } from '@dispatch/contract'
import type { CompanyQueries } from '@dispatch/database'
import type { ColumnType, Generated, Selectable } from 'kysely'
import type { ApprovalView } from '../contract/approvals.ts'
import type { RuleBody } from '../contract/rules.ts'

/** How a request was asked for. */
export type StoredCommand = { requestId: string, version?: Version, strict?: true, sandbox?: true, sendAt?: string }

/** That somebody has approved it for a rule. `seen`: what they had seen of it; a batch has none. */
export type Consent = { by: number, at: string, seen?: string }

/**
 * A rule as it was when it asked. No approvers: the admins. `lapsed`: a consent that counts no more, since something else would come of it
 * now, or since it could not be sent.
 */
export type StoredRule = { id: string, name: string, approvers: readonly number[], consent?: Consent, lapsed?: Consent }

/** What the rules have seen of it. */
export type StoredFacts = Pick<ApprovalFacts, 'recipient' | 'amount' | 'currency' | 'credits' | 'rows'> & {
  totals?: ApprovalView['totals']
}

type Json<T> = ColumnType<T, string, string>

export type Tables = {
  approval_rules: { rule_id: string, company_id: number, rule: Json<RuleBody>, created_at: Date }
  approvals: {
    approval_id: string
    company_id: number
    user_id: number
    batch_id: string | null
    asker: Json<RecordedActor>
    services: ColumnType<ServicePath, string[], never>
    command: Json<StoredCommand>
    request: ColumnType<JsonObject | null, string | null, never>
    idempotency_key: string | null
    fingerprint: string | null
    facts: Json<StoredFacts>
    rules: Json<StoredRule[]>
    status: ApprovalFacts['status']
    decided_by: number | null
    author: ColumnType<AuditAuthor | null, string | null | undefined, string | null>
    seen: string | null
    reason: string | null
    dispatch_id: string | null
    told_at: Date | null
    mailed_at: Date | null
    tell_tries: Generated<number>
    tell_after: Date | null
    tries: Generated<number>
    worked_at: Date
    created_at: Date
    expires_at: Date
    decided_at: Date | null
  }
}

export type ApprovalRow = Selectable<Tables['approvals']>

export const tablesOf = (queries: CompanyQueries) => queries.$extendTables<Tables>()
