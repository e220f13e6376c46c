import { type AuditStamp, platform } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Publisher } from '@dispatch/host'
import { changePublisher } from './store/vendor/provider-pins.ts'

/**
 * Gives a provider code to another publisher, with the secrets that companies have stored for it; every process reloads its providers.
 * Throws `not_found` when no provider was ever installed under the code.
 */
export async function acceptPublisher (database: Database, code: string, publisher: Publisher, stamp: AuditStamp): Promise<void> {
  if (await changePublisher(database, { companyId: platform.companyId, code, ...publisher }, stamp)) return
  throw new DispatchError('not_found', `No provider was ever installed under the code "${code}".`)
}
