import { type AuditAuthor, noteAudit } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import type { Publisher } from '@dispatch/host'
import { acceptPublisher } from './provider-publishers.ts'
import type { ProcessState, ProviderSync } from './work/provider-sync.ts'

/** What operators do about providers. */
export type ProviderAdministration = {
  processes: () => Promise<ProcessState[]>
  /** Reads the provider directories again in every process, and notes it in the audit log of the author's company. */
  reload: (author: AuditAuthor) => Promise<ProcessState[]>
  /** Gives a code to another publisher, then reloads in every process. Throws `not_found` when the code was never anybody's. */
  accept: (code: string, publisher: Publisher, author: AuditAuthor) => Promise<ProcessState[]>
}

/** What operators do with the providers of all processes. */
export function createProviderAdministration ({ sync, database, now }: {
  sync: Pick<ProviderSync, 'processes' | 'reload'>
  database: Database
  now: () => Date
}): ProviderAdministration {
  return {
    processes: sync.processes,
    async reload (author) {
      const processes = await sync.reload()
      const { companyId } = author
      await database.company(companyId,
        (queries) =>
          noteAudit(queries, { companyId, author, action: 'providers.reloaded', object: { kind: 'providers', id: 'all' }, at: now() }))
      return processes
    },
    async accept (code, publisher, author) {
      await acceptPublisher(database, code, publisher, { author, at: now() })
      return await sync.reload()
    }
  }
}
