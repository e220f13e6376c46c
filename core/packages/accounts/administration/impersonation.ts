import type { Database } from '@dispatch/database'
import type { Authentication, Session } from '../access/authentication.ts'
import { noteAudit } from '../audit/audit.ts'
import type { Requester } from './users.ts'

/**
 * Acting as another user. It resolves only after the audit log of that user's company has an entry. Throws as
 * {@link Authentication.impersonate}.
 */
export type Impersonation = (by: Requester, userId: number) => Promise<Session>

type Options = { authentication: Pick<Authentication, 'impersonate'>, database: Database, now: () => Date }

/** Creates the way to act as another user. What it throws is said at {@link Impersonation}. */
export function createImpersonation ({ authentication, database, now }: Options): Impersonation {
  return async ({ actor, author }, userId) => {
    const session = await authentication.impersonate(actor, userId)
    const { companyId } = session
    await database.company(companyId, (queries) =>
      noteAudit(queries, {
        companyId,
        author,
        action: 'user.impersonated',
        object: { kind: 'user', id: String(session.userId) },
        at: now()
      }))
    return session
  }
}
