import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** Who is told of what concerns a company. */
export type NotifiedPerson = { userId: number, email: string, language: 'en' | 'fr' }

/** The admins of a company who may sign in, or these of its users who may; 50 at most. */
export async function listNotifiedPeople (
  database: Database,
  companyId: number,
  who: 'admins' | readonly number[]
): Promise<NotifiedPerson[]> {
  const desired = who === 'admins' ? sql`role = 'admin'` : sql`user_id = any (${who}::integer[])`
  return database.company(companyId, async (queries) => {
    const { rows } = await sql<NotifiedPerson>`select user_id as "userId", email, coalesce(language, 'en') as language from users
      where company_id = ${companyId} and ${desired} and disabled_at is null order by user_id limit 50`.execute(queries)
    return rows
  })
}
