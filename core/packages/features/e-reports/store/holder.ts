import { type Holder, tableHolder } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** A draft that names a person goes. What was sent is a record that the law wants. */
export function draftsHolder (database: Database): Holder {
  return tableHolder(database, {
    kind: 'eReports',
    table: 'e_reports',
    key: sql`report_id`,
    type: 'uuid',
    only: sql<boolean>`asked_at is null`,
    text: sql`jsonb_build_array(row->'report', row->'left_out')::text`
  })
}
