import type { AuditAuthor } from '@dispatch/accounts'
import type { Counts, Keyring } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { ColumnType, Generated, Selectable } from 'kysely'
import type { erasureStatuses, IdentifierName } from '../contract/erasures.ts'

type Sealed = ReturnType<Keyring['seal']>

type Tables = {
  erasures: {
    erasure_id: string
    company_id: number
    user_id: number
    status: typeof erasureStatuses[number]
    subject: ColumnType<Sealed | null, string, null>
    identified_by: IdentifierName[]
    person: string
    author: ColumnType<AuditAuthor | null, string, string | null>
    counts: ColumnType<Counts, string | undefined, string>
    holder: string | null
    place: string | null
    passing: Generated<number>
    passes: Generated<number>
    waiting: Generated<number>
    receipt: string | null
    sha256: string | null
    next_at: Date | null
    claim: string | null
    created_at: Date
    begun_at: Date | null
    finished_at: Date | null
  }
}

export type ErasureRow = Selectable<Tables['erasures']>

export const columns = ['erasure_id', 'company_id', 'user_id', 'status', 'subject', 'identified_by', 'person', 'author', 'counts', 'holder',
  'place', 'passing', 'passes', 'waiting', 'receipt', 'sha256', 'next_at', 'claim', 'created_at', 'begun_at', 'finished_at'] as const

/** Queries that know the table of erasures. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}
