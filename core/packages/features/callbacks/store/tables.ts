import type { Envelope } from '@dispatch/common'
import type { AttemptOutcome, CallbackState, CallbackType } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type ColumnType, type Generated, sql } from 'kysely'

/** A secret of a company or of an endpoint. Times are ISO 8601; `expiresAt` null: the current one. */
export type SigningSecret = { id: string, sealed: Envelope, createdAt: string, expiresAt: string | null }

declare module '@dispatch/database/tables' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- it adds the tables to the interface
  interface StoredTables extends Tables {}
}

export type Tables = {
  outbox: {
    callback_id: string
    company_id: number
    endpoint_id: string | null
    dispatch_id: string | null
    type: CallbackType
    sequence: number
    /** A callback without one goes to where its endpoint is. */
    url: string | null
    receiver: string
    body: string | null
    state: CallbackState
    attempts: Generated<number>
    tries: Generated<number>
    next_at: Date | null
    created_at: Date
  }
  outbox_attempts: {
    callback_id: string
    number: number
    company_id: number
    to_endpoint: boolean
    at: Date
    outcome: AttemptOutcome | null
    status: number | null
    milliseconds: number | null
    reason: string | null
  }
  callback_endpoints: {
    endpoint_id: string
    company_id: number
    name: string
    url: string
    types: CallbackType[] | null
    enabled: boolean
    secrets: ColumnType<readonly SigningSecret[], string, string>
    failing_since: Date | null
    /** When its company was told that it fails, and when it was disabled for that. */
    warned_at: Date | null
    disabled_at: Date | null
    paused_until: Date | null
    created_at: Date
    removed_at: Date | null
  }
  callback_secrets: {
    secret_id: string
    company_id: number
    user_id: number | null
    impersonator_id: number | null
    sealed: ColumnType<Envelope, string, string>
    created_at: ColumnType<Date, Date | string>
    expires_at: ColumnType<Date | null, Date | string | null>
  }
  event_feeds: {
    company_id: number
    since: Date
    last: Generated<string>
  }
  feed_events: {
    entry: Generated<string>
    company_id: number
    position: string | null
    body: string
    created_at: Date
  }
}

/** The columns of tables whose rows are read whole, by name: a newer process may have added others. */
export const columns = {
  outbox: [
    'callback_id',
    'company_id',
    'endpoint_id',
    'dispatch_id',
    'type',
    'sequence',
    'url',
    'receiver',
    'body',
    'state',
    'attempts',
    'tries',
    'next_at',
    'created_at'
  ],
  outbox_attempts: ['callback_id', 'number', 'company_id', 'to_endpoint', 'at', 'outcome', 'status', 'milliseconds', 'reason'],
  callback_endpoints: [
    'endpoint_id',
    'company_id',
    'name',
    'url',
    'types',
    'enabled',
    'secrets',
    'failing_since',
    'warned_at',
    'disabled_at',
    'paused_until',
    'created_at',
    'removed_at'
  ]
} as const satisfies { readonly [Table in keyof Tables]?: readonly (keyof Tables[Table])[] }

/** Rows of a company in each of its tables, for the tests of the walls between companies. */
export async function fillCallbacks (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`
    with sent as (
      insert into outbox (callback_id, company_id, type, sequence, url, receiver, state, created_at)
      values (gen_random_uuid(), ${companyId}, 'company.credits_low', 1, '', '', 'failed', now()) returning callback_id
    ), endpoint as (
      insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
      values (gen_random_uuid(), ${companyId}, '', '', false, '[]', now()) returning endpoint_id
    ), told as (
      insert into outbox (callback_id, company_id, endpoint_id, type, sequence, receiver, state, created_at)
      select gen_random_uuid(), ${companyId}, endpoint_id, 'company.credits_low', 1, '', 'failed', now() from endpoint returning callback_id
    ), attempt as (
      insert into outbox_attempts (callback_id, number, company_id, to_endpoint, at)
      select callback_id, 1, ${companyId}, to_endpoint, now()
      from (select callback_id, false as to_endpoint from sent union all select callback_id, true from told) as noted
    ), secret as (
      insert into callback_secrets (secret_id, company_id, sealed, created_at) values (gen_random_uuid(), ${companyId}, '{}', now())
    ), feed as (
      insert into event_feeds (company_id, since) values (${companyId}, now())
    )
    insert into feed_events (company_id, body, created_at) values (${companyId}, '{}', now())`.execute(queries)
}
