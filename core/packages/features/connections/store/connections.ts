import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Envelope } from '@dispatch/common'
import type { Connections } from '@dispatch/core'
import { addSeconds, type Database } from '@dispatch/database'
import type { Facts } from '@dispatch/vendor-io'
import { type ColumnType, type Generated, type Selectable, sql, type UpdateObject } from 'kysely'

/** The tokens of a connection. */
export type SealedTokens = { access: Envelope, refresh?: Envelope }

/** What a request for a connection keeps to itself: its PKCE verifier, and once they have come the vendor's code and what it says. */
export type SealedRequest = { verifier: Envelope, code?: Envelope, told?: Envelope }

type Tables = {
  connections: {
    account: string
    company_id: number
    client: string
    tokens: ColumnType<SealedTokens, string, string>
    facts: ColumnType<Facts, string | undefined, string>
    version: Generated<number>
    usable_until: Date
    renewing_until: Date | null
    refusal: string | null
    connected_by: number
    connected_at: Date
  }
  connection_requests: {
    account: string
    company_id: number
    user_id: number
    state: Buffer
    client: string
    sealed: ColumnType<SealedRequest, string, string>
    confirmation: Buffer | null
    taken_until: Date | null
    expires_at: Date
  }
}

/** A connection by the opaque name of its configuration. */
export type ConnectionRef = { companyId: number, account: string }

/** One token of a connection: a newer one has a higher version. */
export type TokenRef = ConnectionRef & { version: number }

/** A connection, by the clock of the database. `usable`: its access token has not expired. `renewing`: a process renews it now. */
export type ConnectionRow = Pick<Selectable<Tables['connections']>, 'client' | 'tokens' | 'facts' | 'version' | 'refusal'> & {
  usable: boolean
  renewing: boolean
}

/** Seconds after which a renewal counts as lost: its process has ended. */
const renewalLasts = 30
/** Seconds in which a person must have come back from the vendor, and have confirmed it. */
export const requestLasts = 600
/** Seconds in which the exchange of a code must have ended before it may be tried again. */
const exchangeLasts = 60

export async function readConnection (database: Database, { companyId, account }: ConnectionRef): Promise<ConnectionRow | undefined> {
  const { now } = database
  return database.company(companyId, (queries) =>
    queries.$extendTables<Tables>().selectFrom('connections').select([
      'client',
      'tokens',
      'facts',
      'version',
      'refusal',
      sql<boolean>`usable_until > ${now}`.as('usable'),
      sql<boolean>`coalesce(renewing_until > ${now}, false)`.as('renewing')
    ]).where('company_id', '=', companyId).where('account', '=', account).executeTakeFirst())
}

/** The connections of a company by the opaque names of their configurations. */
export const listConnections: Connections['list'] = async (queries, companyId) => {
  const rows = await queries.$extendTables<Tables>().selectFrom('connections').select(['account', 'client', 'facts', 'refusal',
    'connected_at'])
    .where('company_id', '=', companyId).execute()
  return new Map(
    rows.map(({ account, client, facts, refusal, connected_at: connectedAt }) => [account, { client, facts, refusal, connectedAt }])
  )
}

/** Whether this process is the one that renews the token. */
export async function claimRenewal (database: Database, token: TokenRef): Promise<boolean> {
  return changeToken(database, token, { renewing_until: addSeconds(database.now, renewalLasts) }, { unclaimed: true })
}

/** Lets others try a renewal that has failed. */
export async function endRenewal (database: Database, token: TokenRef): Promise<void> {
  await changeToken(database, token, { renewing_until: null })
}

/** The token is used no more. */
export async function expireToken (database: Database, token: TokenRef): Promise<void> {
  await changeToken(database, token, { usable_until: database.now })
}

/** The vendor has ended the connection: a person must connect it again. */
export async function refuseConnection (database: Database, token: TokenRef, refusal: string): Promise<void> {
  await changeToken(database, token, { refusal, renewing_until: null })
}

/**
 * Stores what a token was renewed with, and facts that have changed; `usableFor` is in seconds. False where the connection has another
 * token by now.
 */
export async function storeRenewed (
  database: Database,
  token: TokenRef,
  { tokens, usableFor, facts }: { tokens: SealedTokens, usableFor: number, facts?: Facts }
): Promise<boolean> {
  return changeToken(database, token, {
    tokens: JSON.stringify(tokens),
    ...(facts !== undefined && { facts: JSON.stringify(facts) }),
    version: token.version + 1,
    usable_until: addSeconds(database.now, usableFor),
    renewing_until: null
  })
}

async function changeToken (
  database: Database,
  { companyId, account, version }: TokenRef,
  change: UpdateObject<Tables, 'connections'>,
  { unclaimed = false }: { unclaimed?: boolean } = {}
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numUpdatedRows } = await queries.$extendTables<Tables>().updateTable('connections').set(change).where('company_id', '=',
      companyId)
      .where('account', '=', account).where('version', '=', version)
      .$if(unclaimed, (update) => update.where(sql<boolean>`coalesce(renewing_until <= ${database.now}, true)`)).executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  })
}

/** A request for a connection: who began it, by which `state` (a digest) the vendor's answer is known, and its client. */
export type NewRequest = ConnectionRef & { userId: number, state: Buffer, client: string, sealed: SealedRequest }

/** Begins to connect a configuration. An earlier request for it ends. Answers until when it must be confirmed. */
export async function insertRequest (database: Database, { companyId, account, userId, state, client, sealed }: NewRequest): Promise<Date> {
  const request = {
    user_id: userId,
    state,
    client,
    sealed: JSON.stringify(sealed),
    confirmation: null,
    taken_until: null,
    expires_at: addSeconds(database.now, requestLasts)
  }
  const { expires_at: expiresAt } = await database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().insertInto('connection_requests').values({ account, company_id: companyId, ...request })
        .onConflict((conflict) => conflict.column('account').doUpdateSet(request)).returning('expires_at').executeTakeFirstOrThrow())
  return expiresAt
}

/** A request whose person has come back from the vendor. Only who has the `state` knows it, and its company is not known yet. */
export type ReturnedRequest = ConnectionRef & { company: string, providerCode: string, sealed: SealedRequest }

export async function findRequest ({ owner, now }: Database, state: Buffer): Promise<ReturnedRequest | undefined> {
  const row = await owner.$extendTables<Tables>().selectFrom('connection_requests').innerJoin('companies', 'companies.company_id',
    'connection_requests.company_id')
    .innerJoin('configurations', 'configurations.account', 'connection_requests.account')
    .select(['connection_requests.company_id', 'connection_requests.account', 'companies.name', 'configurations.provider_code',
      'connection_requests.sealed'])
    .where('state', '=', state).where('expires_at', '>', now).where('confirmation', 'is', null).executeTakeFirst()
  return row && {
    companyId: row.company_id,
    account: row.account,
    company: row.name,
    providerCode: row.provider_code,
    sealed: row.sealed
  }
}

/** Keeps the vendor's code until its confirmation. False where the request has ended, or has a code already. */
export async function keepCode (
  { owner }: Database,
  state: Buffer,
  { sealed, confirmation }: { sealed: SealedRequest, confirmation: Buffer }
): Promise<boolean> {
  const { numUpdatedRows } = await owner.$extendTables<Tables>().updateTable('connection_requests').set({
    sealed: JSON.stringify(sealed),
    confirmation
  })
    .where('state', '=', state).where('confirmation', 'is', null).executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Ends a request that the vendor, or the person at the vendor, has refused. */
export async function dropRequest ({ owner }: Database, state: Buffer): Promise<void> {
  await owner.$extendTables<Tables>().deleteFrom('connection_requests').where('state', '=', state).execute()
}

/**
 * Takes a request of the user who began it, to exchange its code; nobody else takes it meanwhile. Undefined where there is none with this
 * confirmation.
 */
export async function takeRequest (
  database: Database,
  { companyId, account, userId, confirmation }: ConnectionRef & { userId: number, confirmation: Buffer }
): Promise<{ client: string, sealed: SealedRequest } | undefined> {
  const { now } = database
  return database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().updateTable('connection_requests').set({ taken_until: addSeconds(now, exchangeLasts) }).where(
        'company_id',
        '=',
        companyId
      )
        .where('account', '=', account).where('user_id', '=', userId).where('confirmation', '=', confirmation).where('expires_at', '>', now)
        .where(sql<boolean>`coalesce(taken_until <= ${now}, true)`).returning(['client', 'sealed']).executeTakeFirst())
}

/** Lets a request be confirmed once more: the vendor could not be asked. */
export async function returnRequest (database: Database, { companyId, account }: ConnectionRef, confirmation: Buffer): Promise<void> {
  await database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().updateTable('connection_requests').set({ taken_until: null }).where('company_id', '=', companyId)
        .where('account', '=', account).where('confirmation', '=', confirmation).execute())
}

/** Ends a request whose code the vendor has refused. */
export async function endRequest (database: Database, { companyId, account }: ConnectionRef): Promise<void> {
  await database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().deleteFrom('connection_requests').where('company_id', '=', companyId).where('account', '=', account)
        .execute())
}

/** Connects a configuration, or connects it again; its request ends. `usableFor` is in seconds. */
export async function storeConnection (
  database: Database,
  { companyId, account }: ConnectionRef,
  { client, tokens, facts, usableFor, userId, providerCode }: {
    client: string
    tokens: SealedTokens
    facts: Facts
    usableFor: number
    userId: number
    providerCode: string
  },
  signature: AuditStamp
): Promise<void> {
  const connection = {
    client,
    tokens: JSON.stringify(tokens),
    facts: JSON.stringify(facts),
    usable_until: addSeconds(database.now, usableFor),
    renewing_until: null,
    refusal: null,
    connected_by: userId,
    connected_at: database.now
  }
  await database.company(companyId, async (queries) => {
    await queries.$extendTables<Tables>().insertInto('connections').values({ account, company_id: companyId, ...connection })
      .onConflict((conflict) => conflict.column('account').doUpdateSet({ ...connection, version: sql<number>`connections.version + 1` }))
      .execute()
    await queries.$extendTables<Tables>().deleteFrom('connection_requests').where('company_id', '=', companyId).where('account', '=',
      account).execute()
    await noteAudit(queries, { companyId, action: 'connection.made', object: { kind: 'configuration', id: providerCode }, ...signature })
  })
}

/** Forgets the tokens of a configuration. False where there were none. */
export async function deleteConnection (
  database: Database,
  { companyId, account }: ConnectionRef,
  providerCode: string,
  signature: AuditStamp
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numDeletedRows } = await queries.$extendTables<Tables>().deleteFrom('connections').where('company_id', '=', companyId).where(
      'account',
      '=',
      account
    )
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await noteAudit(queries, { companyId, action: 'connection.removed', object: { kind: 'configuration', id: providerCode }, ...signature })
    return true
  })
}
