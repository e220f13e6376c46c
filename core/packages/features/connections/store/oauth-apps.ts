import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Envelope } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type ColumnType, type Generated, sql } from 'kysely'

type Tables = {
  oauth_apps: {
    app_id: Generated<string>
    provider_code: string
    sandbox: boolean
    client_id: string
    client_secret: ColumnType<Envelope | null, string | null, string | null>
    hosts: string[]
    changed_at: Date
  }
}

/** A client of the operator's at a vendor. `hosts`: those to which its secret may be sent. */
export type OAuthApp = {
  code: string
  sandbox: boolean
  clientId: string
  clientSecret: Envelope | null
  hosts: readonly string[]
  changedAt: Date
}

type Which = Pick<OAuthApp, 'code' | 'sandbox'>

export async function listOAuthApps ({ owner }: Database): Promise<OAuthApp[]> {
  const rows = await owner.$extendTables<Tables>().selectFrom('oauth_apps')
    .select(['provider_code', 'sandbox', 'client_id', 'client_secret', 'hosts', 'changed_at']).execute()
  return rows.map((row) => ({
    code: row.provider_code,
    sandbox: row.sandbox,
    clientId: row.client_id,
    clientSecret: row.client_secret,
    hosts: row.hosts,
    changedAt: row.changed_at
  }))
}

export type Connected = readonly { code: string, sandbox: boolean, count: number }[]

/** How many accounts of all companies are connected with each provider, and with its environment for tests. */
export async function countConnections ({ owner }: Database): Promise<Connected> {
  const { rows } = await sql<Connected[number]>`select provider_code as code, sandbox, count(*)::integer from connections
    join configurations using (company_id, account) group by provider_code, sandbox`.execute(owner)
  return rows
}

/** Stores a client; the audit log of the company of who does it notes that. */
export async function storeOAuthApp (
  { owner }: Database,
  { code, sandbox, clientId, clientSecret, hosts, changedAt }: OAuthApp,
  companyId: number,
  stamp: AuditStamp
): Promise<void> {
  const secret = clientSecret === null ? null : JSON.stringify(clientSecret)
  const app = { client_id: clientId, client_secret: secret, hosts: [...hosts], changed_at: changedAt }
  await owner.transaction().execute(async (queries) => {
    await queries.$extendTables<Tables>().insertInto('oauth_apps').values({ provider_code: code, sandbox, ...app })
      .onConflict((conflict) => conflict.columns(['provider_code', 'sandbox']).doUpdateSet(app)).execute()
    await noteAudit(queries, {
      companyId,
      action: 'oauth-app.changed',
      object: { kind: 'provider', id: code },
      facts: { sandbox },
      ...stamp
    })
  })
}

/** Removes a client. False where there was none. */
export async function deleteOAuthApp (
  { owner }: Database,
  { code, sandbox }: Which,
  companyId: number,
  stamp: AuditStamp
): Promise<boolean> {
  return await owner.transaction().execute(async (queries) => {
    const { numDeletedRows } = await queries.$extendTables<Tables>().deleteFrom('oauth_apps').where('provider_code', '=', code)
      .where('sandbox', '=', sandbox).executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await noteAudit(queries, {
      companyId,
      action: 'oauth-app.removed',
      object: { kind: 'provider', id: code },
      facts: { sandbox },
      ...stamp
    })
    return true
  })
}
