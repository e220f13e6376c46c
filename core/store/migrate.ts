import type { Database } from '@dispatch/database'
import { canWorkOn, migrateToLatest, type Migrations, noteRelease, readSchemaState, release, type Reporting,
  type SchemaState } from '@dispatch/tables'
import { sql } from 'kysely'
import { createDatabaseFunctions } from './calls/database-functions.ts'

/**
 * Every migration in order. A released one is never changed. Processes of the release before work beside one that has run a new migration:
 * it adds what they need not know. What takes something away comes a release after the code that used it, and raises `needs`. They are read
 * only where one of them is pending.
 */
const migrations: Migrations = {
  '001-foundation': () => import('./migrations/001-foundation.ts'),
  '002-webhooks': () => import('./migrations/002-webhooks.ts'),
  '003-services': () => import('./migrations/003-services.ts'),
  '004-durability': () => import('./migrations/004-durability.ts'),
  '005-callbacks': () => import('./migrations/005-callbacks.ts'),
  '006-accounts': () => import('./migrations/006-accounts.ts'),
  '007-access': () => import('./migrations/007-access.ts'),
  '008-templates': () => import('./migrations/008-templates.ts'),
  '009-reports': () => import('./migrations/009-reports.ts'),
  '010-credits': () => import('./migrations/010-credits.ts'),
  '012-deliveries': () => import('./migrations/012-deliveries.ts'),
  '013-rests': () => import('./migrations/013-rests.ts'),
  '014-emails': () => import('./migrations/014-emails.ts'),
  '019-environments': () => import('./migrations/019-environments.ts'),
  '020-credits-last': () => import('./migrations/020-credits-last.ts'),
  '021-cancellations': () => import('./migrations/021-cancellations.ts'),
  '022-providers': () => import('./migrations/022-providers.ts'),
  '023-marketplace': () => import('./migrations/023-marketplace.ts'),
  '024-catalogs': () => import('./migrations/024-catalogs.ts'),
  '025-adapter-settings': () => import('./migrations/025-adapter-settings.ts'),
  '026-provider-lists': () => import('./migrations/026-provider-lists.ts'),
  '029-sessions': () => import('./migrations/029-sessions.ts'),
  '031-connections': () => import('./migrations/031-connections.ts'),
  '034-search': () => import('./migrations/034-search.ts'),
  '035-versions': () => import('./migrations/035-versions.ts'),
  '036-releases': () => import('./migrations/036-releases.ts'),
  '037-second-factors': () => import('./migrations/037-second-factors.ts'),
  '038-passkeys': () => import('./migrations/038-passkeys.ts'),
  '039-people': () => import('./migrations/039-people.ts'),
  '040-single-sign-on': () => import('./migrations/040-single-sign-on.ts'),
  '042-endpoints': () => import('./migrations/042-endpoints.ts'),
  '043-requests': () => import('./migrations/043-requests.ts'),
  '044-traces': () => import('./migrations/044-traces.ts'),
  '046-forgetting': () => import('./migrations/046-forgetting.ts'),
  '047-link-mail': () => import('./migrations/047-link-mail.ts'),
  '050-domains': () => import('./migrations/050-domains.ts'),
  '051-lean-writes': () => import('./migrations/051-lean-writes.ts'),
  '052-exchanges': () => import('./migrations/052-exchanges.ts'),
  '053-lean-credits': () => import('./migrations/053-lean-credits.ts'),
  '054-sign-on-addresses': () => import('./migrations/054-sign-on-addresses.ts'),
  '056-proof': () => import('./migrations/056-proof.ts'),
  '057-notices': () => import('./migrations/057-notices.ts'),
  '058-key-scopes': () => import('./migrations/058-key-scopes.ts'),
  '059-log-counts': () => import('./migrations/059-log-counts.ts'),
  '062-replayed-fixtures': () => import('./migrations/062-replayed-fixtures.ts'),
  '064-package-sources': () => import('./migrations/064-package-sources.ts'),
  '068-restores': () => import('./migrations/068-restores.ts'),
  '069-marking': () => import('./migrations/069-marking.ts'),
  '071-notice-mails': () => import('./migrations/071-notice-mails.ts'),
  '077-delivery-reasons': () => import('./migrations/077-delivery-reasons.ts'),
  '078-state-sizes': () => import('./migrations/078-state-sizes.ts'),
  '080-many-events': () => import('./migrations/080-many-events.ts'),
  '081-subscriptions': () => import('./migrations/081-subscriptions.ts'),
  '089-checks': () => import('./migrations/089-checks.ts'),
  '090-state-expiry': () => import('./migrations/090-state-expiry.ts'),
  '091-schedules': () => import('./migrations/091-schedules.ts'),
  '092-endpoint-pauses': () => import('./migrations/092-endpoint-pauses.ts'),
  '095-budgets': () => import('./migrations/095-budgets.ts'),
  '100-settings-forms': () => import('./migrations/100-settings-forms.ts'),
  '101-event-feeds': () => import('./migrations/101-event-feeds.ts'),
  '103-budget-mails': () => import('./migrations/103-budget-mails.ts'),
  '110-erasures': () => import('./migrations/110-erasures.ts'),
  '115-due-times': () => import('./migrations/115-due-times.ts'),
  '116-paused-batches': () => import('./migrations/116-paused-batches.ts'),
  '117-failing-endpoints': () => import('./migrations/117-failing-endpoints.ts'),
  '122-partial-search': () => import('./migrations/122-partial-search.ts'),
  '140-retentions': () => import('./migrations/140-retentions.ts'),
  '150-data-keys': () => import('./migrations/150-data-keys.ts'),
  '151-leaving-companies': () => import('./migrations/151-leaving-companies.ts'),
  '154-retention-changes': () => import('./migrations/154-retention-changes.ts'),
  '156-request-modes': () => import('./migrations/156-request-modes.ts'),
  '158-brand-versions': () => import('./migrations/158-brand-versions.ts'),
  '170-templates-in-use': () => import('./migrations/170-templates-in-use.ts'),
  '174-companies-that-leave': () => import('./migrations/174-companies-that-leave.ts'),
  '178-step-marks': () => import('./migrations/178-step-marks.ts'),
  '180-cancelled-dispatches': () => import('./migrations/180-cancelled-dispatches.ts'),
  '184-template-languages': () => import('./migrations/184-template-languages.ts'),
  '186-step-errors': () => import('./migrations/186-step-errors.ts'),
  '188-budgets-in-use': () => import('./migrations/188-budgets-in-use.ts')
}

/** PostgreSQL 15, the oldest version with `nulls not distinct`, which the schema uses. */
const oldestServer = 150_000

/** The newest migration that a process must know to work on this schema. */
const needs = '036-releases'

/** The migrations of this release: its own, then those of features, which may build on them. */
const knownWith = (ofFeatures: Migrations) => ({ known: [...Object.keys(migrations), ...Object.keys(ofFeatures)], needs })

/** How the schema of a database compares with that of this release and its features. Nothing is changed. */
export function schemaState (database: Pick<Database, 'owner'>, ofFeatures: Migrations = {}): Promise<SchemaState> {
  return readSchemaState(database, knownWith(ofFeatures))
}

/** Throws one clear sentence where this release is too old for the schema. */
export function mustKnow (state: SchemaState): void {
  if (canWorkOn(state, knownWith({}))) return
  throw new Error(`This is version ${release}, which is too old for the database: version ${state.newest} has changed it ` +
    `(${state.unknown.join(', ')}). Start that version, or restore a backup from before.`)
}

type Migrating = { prove?: () => Promise<void>, ofFeatures?: Migrations } & Reporting

/**
 * Brings the schema up to date, after `prove` has found nothing against it. Several processes may run it at once. A process of an older
 * release leaves the schema as a newer one has made it, where it can work on it. A failure is one clear sentence.
 */
export async function migrate (
  database: Database,
  { prove = () => Promise.resolve(), ofFeatures = {}, ...reporting }: Migrating = {}
): Promise<SchemaState> {
  const { owner, onServer, withAdvisoryLock: alone } = database
  const { rows: [server] } = await sql<{ server_version_num: string, server_version: string }>`
    select current_setting('server_version_num') as server_version_num, current_setting('server_version') as server_version`.execute(owner)
  if (Number(server?.server_version_num) < oldestServer) {
    throw new Error(`PostgreSQL 15 or newer is needed; this server is ${server?.server_version ?? 'unknown'}.`)
  }
  return alone(async () => {
    const state = await schemaState(database, ofFeatures)
    mustKnow(state)
    await prove()
    await onServer(async (queries) => {
      if (state.unknown.length === 0) {
        await migrateToLatest({ owner: queries, session: database.session }, state, { own: migrations, ofFeatures, ...reporting })
      }
      await noteRelease({ owner: queries }, state)
      await createDatabaseFunctions({ owner: queries })
    })
    return state
  })
}
