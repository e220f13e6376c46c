import type { AuditAuthor } from '@dispatch/accounts'
import type { ServicePath, Version } from '@dispatch/contract'
import type { ApprovalSubject } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { ColumnType, Generated, Selectable } from 'kysely'
import type { rowStates } from '../contract/batches.ts'

/** `handing`: a process hands it to the queue at this moment. `cancelled`: its dispatch was. */
export type RowState = typeof rowStates[number] | 'handing'

/** `receiving`: its rows still come in, and nobody sees it. */
export type StoredStatus = 'receiving' | 'checking' | 'queued' | 'running' | 'paused' | 'finished' | 'cancelled' | 'refused'

/** The facts of a row by which rules of approval decide, its recipient, and its price by service. `unknown`: a document says no amount. */
export type RowFacts = Pick<ApprovalSubject, 'services' | 'recipients' | 'recipient'> & {
  amount?: number
  currency?: string
  unknown?: true
  prices: Readonly<Record<string, number>>
}

/** The API key with which a batch came. */
export type BatchKey = { id: string, mode: 'live' | 'test', scopes: readonly string[] }

type Tables = {
  batches: {
    batch_id: string
    company_id: number
    user_id: number
    impersonator_id: number | null
    key: ColumnType<BatchKey | null, string | null, never>
    services: ColumnType<ServicePath, string[], never>
    permitted: string[]
    test: boolean
    mode: 'all' | 'valid'
    sandbox: boolean
    strict: boolean
    held: Generated<boolean>
    api_version: Version
    request_id: string
    callback_url: string | null
    common: string | null
    idempotency_key: string | null
    fingerprint: string | null
    status: StoredStatus
    problem: string | null
    is_open: Generated<boolean>
    total: Generated<number>
    unchecked: Generated<number>
    waiting: Generated<number>
    handing: Generated<number>
    running: Generated<number>
    succeeded: Generated<number>
    failed: Generated<number>
    partial: Generated<number>
    uncertain: Generated<number>
    cancelled: Generated<number>
    refused: Generated<number>
    credits: ColumnType<string, number | undefined, number | string>
    told: Generated<number>
    retried_by: ColumnType<AuditAuthor | null, string | undefined, string | null>
    claim: string | null
    claimed_until: Date | null
    worked_at: Date
    created_at: Date
    checked_at: Date | null
    ended_at: Date | null
  }
  batch_rows: {
    batch_id: string
    number: number
    company_id: number
    row_id: string | null
    body: string | null
    state: RowState
    problem: string | null
    dispatch_id: string | null
    facts: ColumnType<RowFacts | null, string | undefined, string | null>
    tries: Generated<number>
    fed_at: Date | null
  }
  batch_files: {
    company_id: number
    batch_id: string
    file_id: string
  }
}

/** Without its common body: where that cannot be opened, the batch can still be worked on, seen and cancelled. */
export type BatchRow = Omit<Selectable<Tables['batches']>, 'common'>

/** Queries that know the tables of batches. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}
