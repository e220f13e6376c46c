import type { Database } from '@dispatch/database'
import type { ColumnType } from 'kysely'
import type { Price } from '../contract/prices.ts'

/** A number of 64 bits: read as text, written as either. */
type Bigint = ColumnType<string, string | number>

type Tables = {
  usage_hours: {
    company_id: number
    hour: Date
    service: string
    provider: string
    user_id: number
    key: string
    test: boolean
    measure: string
    name: string
    count: Bigint
  }
  usage_prices: { company_id: number, currency: string, prices: ColumnType<Price[], string, string> }
  usage_marks: { only_row: boolean, settled: Bigint, newest: Bigint, marked_at: Date, counted_at: Date | null }
}

/** Queries that know the tables of usage. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}
