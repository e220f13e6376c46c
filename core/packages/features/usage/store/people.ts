import type { Database } from '@dispatch/core'
import { sql } from 'kysely'

/** Who is told of what concerns a company. */
export type Admin = { userId: number, email: string, language: 'en' | 'fr' }

/** The admins of a company who may sign in. */
export async function listAdmins (database: Database, companyId: number): Promise<Admin[]> {
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<Admin>`select user_id as "userId", email, coalesce(language, 'en') as language from users
      where company_id = ${companyId} and role = 'admin' and disabled_at is null order by user_id limit 50`.execute(queries)
    return rows
  })
}

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
