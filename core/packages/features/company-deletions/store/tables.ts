import type { AuditAuthor } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import type { ColumnType, Selectable } from 'kysely'

export type Stage = 'keys' | 'files' | 'rows' | 'last' | 'finished'
export type Counts = Readonly<Record<string, number>>

type Tables = {
  company_deletions: {
    former_company: number
    name: string
    asked_by: number
    author: ColumnType<AuditAuthor | null, string, null>
    stage: Stage
    counts: ColumnType<Counts, string | undefined, string>
    receipt: string | null
    sha256: string | null
    next_at: Date | null
    claim: string | null
    created_at: Date
    finished_at: Date | null
  }
}

export type DeletionRow = Selectable<Tables['company_deletions']>

export const columns = ['former_company', 'name', 'asked_by', 'author', 'stage', 'counts', 'receipt', 'sha256', 'next_at', 'claim',
  'created_at', 'finished_at'] as const

/** Queries that know the table of deletions. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}
