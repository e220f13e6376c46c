import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/** A batch of a company with a row, for the tests of the walls between companies. */
export async function fillBatches (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`with made as (
      insert into batches (batch_id, company_id, user_id, services, permitted, test, mode, sandbox, strict, api_version, request_id, status,
        worked_at, created_at)
      select gen_random_uuid(), ${companyId}, min(user_id), '{sms}', '{*}', false, 'all', false, false, '1.1.0', '', 'paused', now(), now()
      from users where company_id = ${companyId} returning batch_id
    ), files as (
      insert into batch_files (company_id, batch_id, file_id) select ${companyId}, batch_id, gen_random_uuid() from made
    ) insert into batch_rows (batch_id, number, company_id, state) select batch_id, 1, ${companyId}, 'waiting' from made`.execute(queries)
}
