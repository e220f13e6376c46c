import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** Whether a company has a user of this number, or a key of this id. */
export async function isKnown (
  database: Database,
  companyId: number,
  { scope, subject }: { scope: string, subject: string }
): Promise<boolean> {
  const table = scope === 'user' ? sql`users where user_id::text` : sql`api_keys where key_id::text`
  return database.company(companyId, async (queries) => {
    const { rows } = await sql`select from ${table} = ${subject} and company_id = ${companyId}`.execute(queries)
    return rows.length > 0
  })
}
