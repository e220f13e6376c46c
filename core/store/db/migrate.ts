import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import * as foundation from '../migrations/001-foundation.ts'
import * as webhooks from '../migrations/002-webhooks.ts'
import * as services from '../migrations/003-services.ts'
import * as durability from '../migrations/004-durability.ts'
import * as callbacks from '../migrations/005-callbacks.ts'
import * as accounts from '../migrations/006-accounts.ts'
import * as access from '../migrations/007-access.ts'
import * as templates from '../migrations/008-templates.ts'
import * as reports from '../migrations/009-reports.ts'
import * as credits from '../migrations/010-credits.ts'
import * as deliveries from '../migrations/012-deliveries.ts'
import * as rests from '../migrations/013-rests.ts'
import * as emails from '../migrations/014-emails.ts'
import * as environments from '../migrations/019-environments.ts'
import * as creditsLast from '../migrations/020-credits-last.ts'
import * as cancellations from '../migrations/021-cancellations.ts'
import * as providers from '../migrations/022-providers.ts'
import * as marketplace from '../migrations/023-marketplace.ts'
import * as catalogs from '../migrations/024-catalogs.ts'
import * as adapterSettings from '../migrations/025-adapter-settings.ts'
import * as providerLists from '../migrations/026-provider-lists.ts'
import * as sessions from '../migrations/029-sessions.ts'
import * as connections from '../migrations/031-connections.ts'
import * as search from '../migrations/034-search.ts'
import * as versions from '../migrations/035-versions.ts'
import * as releases from '../migrations/036-releases.ts'
import * as secondFactors from '../migrations/037-second-factors.ts'
import * as passkeys from '../migrations/038-passkeys.ts'
import * as people from '../migrations/039-people.ts'
import * as singleSignOn from '../migrations/040-single-sign-on.ts'
import * as endpoints from '../migrations/042-endpoints.ts'
import * as requests from '../migrations/043-requests.ts'
import * as traces from '../migrations/044-traces.ts'
import * as forgetting from '../migrations/046-forgetting.ts'
import * as linkMail from '../migrations/047-link-mail.ts'
import * as domains from '../migrations/050-domains.ts'
import * as leanWrites from '../migrations/051-lean-writes.ts'
import * as exchanges from '../migrations/052-exchanges.ts'
import { createDatabaseFunctions } from './database-functions.ts'
import type { Database } from './database.ts'
import { canWorkOn, noteRelease, readSchemaState, release, type SchemaState } from './releases.ts'

/**
 * Every migration in order. A released one is never changed. Processes of the release before work beside one that has run a new migration:
 * it adds what they need not know. What takes something away comes a release after the code that used it, and raises `needs`.
 */
const migrations = {
  '001-foundation': foundation,
  '002-webhooks': webhooks,
  '003-services': services,
  '004-durability': durability,
  '005-callbacks': callbacks,
  '006-accounts': accounts,
  '007-access': access,
  '008-templates': templates,
  '009-reports': reports,
  '010-credits': credits,
  '012-deliveries': deliveries,
  '013-rests': rests,
  '014-emails': emails,
  '019-environments': environments,
  '020-credits-last': creditsLast,
  '021-cancellations': cancellations,
  '022-providers': providers,
  '023-marketplace': marketplace,
  '024-catalogs': catalogs,
  '025-adapter-settings': adapterSettings,
  '026-provider-lists': providerLists,
  '029-sessions': sessions,
  '031-connections': connections,
  '034-search': search,
  '035-versions': versions,
  '036-releases': releases,
  '037-second-factors': secondFactors,
  '038-passkeys': passkeys,
  '039-people': people,
  '040-single-sign-on': singleSignOn,
  '042-endpoints': endpoints,
  '043-requests': requests,
  '044-traces': traces,
  '046-forgetting': forgetting,
  '047-link-mail': linkMail,
  '050-domains': domains,
  '051-lean-writes': leanWrites,
  '052-exchanges': exchanges
}

/** PostgreSQL 15, the oldest version with `nulls not distinct`, which the schema uses. */
const oldestServer = 150_000

/** The newest migration that a process must know to work on this schema. */
const needs = '036-releases'

const known = { known: Object.keys(migrations), needs }

/** How the schema of a database compares with that of this release. Nothing is changed. */
export function schemaState (database: Pick<Database, 'owner'>): Promise<SchemaState> {
  return readSchemaState(database, known)
}

/** Throws one clear sentence where this release is too old for the schema. */
export function mustKnow (state: SchemaState): void {
  if (canWorkOn(state, known)) return
  throw new Error(`This is version ${release}, which is too old for the database: version ${state.newest} has changed it ` +
    `(${state.unknown.join(', ')}). Start that version, or restore a backup from before.`)
}

/**
 * Brings the schema up to date, after `prove` has found nothing against it. Several processes may run it at once. A process of an older
 * release leaves the schema as a newer one has made it, where it can work on it. A failure is one clear sentence.
 */
export async function migrate (database: Database, prove: () => Promise<void> = () => Promise.resolve()): Promise<SchemaState> {
  const { owner, onServer, withAdvisoryLock: alone } = database
  const { rows: [server] } = await sql<{ server_version_num: string, server_version: string }>`
    select current_setting('server_version_num') as server_version_num, current_setting('server_version') as server_version`.execute(owner)
  if (Number(server?.server_version_num) < oldestServer) {
    throw new Error(`PostgreSQL 15 or newer is needed; this server is ${server?.server_version ?? 'unknown'}.`)
  }
  return alone(async () => {
    const state = await schemaState(database)
    mustKnow(state)
    await prove()
    await onServer(async (queries) => {
      if (state.unknown.length === 0) await migrateToLatest(queries, state.pending)
      await noteRelease({ owner: queries }, state)
      await createDatabaseFunctions({ owner: queries })
    })
    return state
  })
}

/**
 * An empty database gets all in one transaction. One that is in use gets each migration in its own: locks of several on different tables,
 * held together, would deadlock with those who work.
 */
async function migrateToLatest (owner: Database['owner'], pending: readonly string[]): Promise<void> {
  const migrator = new Migrator({ db: owner, provider: { getMigrations: () => Promise.resolve(migrations) } })
  const isEmpty = pending.length === known.known.length
  for (const name of isEmpty ? pending.slice(-1) : pending) {
    const { error } = await migrator.migrateTo(name)
    if (error !== undefined) throw failed(error)
  }
}

function failed (error: unknown): Error {
  return new Error('The database schema could not be brought up to date: ' +
    `${error instanceof Error ? error.message.replace(/\.$/, '') : 'for no known reason'}${isMissingRight(error) ? rightsNeeded : '.'}`, {
    cause: error
  })
}

const rightsNeeded =
  '; the user of DATABASE_URL must own its database, and either create roles (ALTER ROLE … CREATEROLE) or be given the ' +
  'role by an administrator: CREATE ROLE dispatch_company NOLOGIN; GRANT dispatch_company TO that user.'

/** PostgreSQL's `insufficient_privilege`. */
function isMissingRight (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}
