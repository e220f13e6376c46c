import type { Database } from '@dispatch/database'
import { tablesIn } from './tables.ts'

/** Makes the single sign-on of a company, and links a user, for tests of the walls between companies. */
export async function fillSingleSignOn (queries: Database['owner'], companyId: number): Promise<void> {
  const at = new Date(0)
  await tablesIn(queries).insertInto('single_sign_on').values({
    company_id: companyId,
    code: String(companyId),
    issuer: '',
    client_id: '',
    client_secret: '{}',
    creates_users: false,
    default_role: 'member',
    default_services: [],
    links_by_email: false,
    required: false,
    updated_at: at
  }).execute()
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  await tablesIn(queries).insertInto('user_identities').values({
    company_id: companyId,
    user_id: userId,
    issuer: '',
    subject: '',
    linked_at: at
  }).execute()
}
