import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { OwnerQueries } from '@dispatch/database'
import type { StoredSettings } from '@dispatch/host'
import { changedSettings } from './configurations.ts'
import { formColumns, type StoredForm } from './forms.ts'

/**
 * Settings that a newer version has made of those of an owner, as they were `seen` to be changed last. `forms`: those that it made them of,
 * and then the others that are kept.
 */
export type MigratedSettings = {
  companyId: number
  userId: number | null
  seen: Date
  version: string
  settings: StoredSettings
  forms: readonly StoredForm[]
}

/** Settings that their owner has changed meanwhile stay as they are. */
export async function replaceSettings (
  queries: OwnerQueries,
  code: string,
  { companyId, userId, seen, version, settings, forms }: MigratedSettings,
  stamp: AuditStamp
): Promise<void> {
  const written = await queries.updateTable('configurations').set({
    settings: JSON.stringify(settings.plain),
    secrets: JSON.stringify(settings.secrets),
    version,
    ...formColumns(forms),
    checked: null
  }).where('provider_code', '=', code).where('company_id', '=', companyId).where('user_id', 'is not distinct from', userId)
    .where('updated_at', '=', seen).returning('account').executeTakeFirst()
  if (written === undefined) return
  const facts = { fields: changedSettings(forms[0] ?? settings, settings), ...(userId !== null && { ofUser: userId }) }
  await noteAudit(queries, { companyId, action: 'configuration.migrated', object: { kind: 'configuration', id: code }, facts, ...stamp })
}
