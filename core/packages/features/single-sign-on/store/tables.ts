import type { Envelope } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { ColumnType, Generated } from 'kysely'

/** The tables of single sign-on as the types of queries. The migrations 040 and later of the core have made them. */
export type SingleSignOnTables = {
  single_sign_on: {
    company_id: number
    code: string
    issuer: string
    client_id: string
    client_secret: ColumnType<Envelope, string, string>
    creates_users: boolean
    default_role: 'member' | 'admin'
    default_services: string[]
    links_by_email: boolean
    required: boolean
    way_in: number | null
    shared_until: Generated<Date | null>
    trusts_email: Generated<boolean>
    updated_at: Date
  }
  sign_on_answers: { digest: Buffer, expires_at: Date }
  user_identities: { company_id: number, user_id: number, issuer: string, subject: string, linked_at: Date }
}

/** Queries that know the tables of single sign-on. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<SingleSignOnTables>()
}
