import type { Host } from '../host/host.ts'
import type { ProviderEntry } from '../host/load/discover.ts'
import type { Database } from '../store/db/database.ts'
import { type AuditAuthor, noteAudit } from '../store/tenants/audit.ts'

/** Reads the provider directories again and notes it in the audit log of the author's company. */
export type ReloadProviders = (author: AuditAuthor) => Promise<readonly ProviderEntry[]>

type Options = { host: Pick<Host, 'reload'>, database: Database, now: () => Date }

export function createReloadProviders ({ host, database, now }: Options): ReloadProviders {
  return async (author) => {
    const entries = await host.reload()
    const { companyId } = author
    await database.company(companyId,
      (queries) =>
        noteAudit(queries, { companyId, author, action: 'providers.reloaded', object: { kind: 'providers', id: 'all' }, at: now() }))
    return entries
  }
}
