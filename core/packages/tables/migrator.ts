import { type Log, withReports } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type Migration, Migrator } from 'kysely/migration'
import type { SchemaState } from './releases.ts'

/**
 * `before`: a statement that reads whole tables, which may take long. It is run before the transaction of the migration, while everybody
 * works, without limits of time, and once more where that fails. Not so for those that share a transaction on an empty database.
 */
export type SchemaMigration = Migration & { before?: string }

/** Migrations by name, in the order in which they are run. */
export type Migrations = Readonly<Record<string, () => Promise<SchemaMigration>>>

/** `log` hears which migration reads whole tables, and every `reportEvery` milliseconds which one still runs. */
export type Reporting = { log?: Pick<Log, 'info'>, reportEvery?: number }

const silent: Pick<Log, 'info'> = { info: () => undefined }

/**
 * Runs the migrations that are pending. An empty database gets all of the release in one transaction. One that is in use gets each in its
 * own: locks of several on different tables, held together, would deadlock with those who work. Those of features come last, each by
 * itself: their order follows from what features need. A failure is one clear sentence.
 */
export async function migrateToLatest (
  { owner, session }: Pick<Database, 'owner' | 'session'>,
  { run, pending }: SchemaState,
  { own, ofFeatures, log = silent, reportEvery = 30_000 }: { own: Migrations, ofFeatures: Migrations } & Reporting
): Promise<void> {
  const ofRelease = pending.filter((name) => Object.hasOwn(own, name))
  const ofOthers = pending.slice(ofRelease.length)
  const turns = [...run.length === 0 ? [ofRelease] : ofRelease.map((name) => [name]), ...ofOthers.map((name) => [name])]
  // Read before the first transaction, which has a limit of time.
  const toRun = await readMigrations({ ...own, ...ofFeatures }, pending)
  const done = new Map(run.map((name) => [name, wasRun]))
  for (const turn of turns) {
    const ofTurn = toRun.filter(([name]) => turn.includes(name))
    const before = turn.length === 1 ? ofTurn[0]?.[1].before : undefined
    const reported = <T>(work: Promise<T>): Promise<T> =>
      withReports(reportEvery, work, (seconds) => log.info({ migrations: turn, seconds }, 'a migration still runs'))
    if (before !== undefined) {
      // A new database has nothing to read.
      if (run.length > 0) log.info({ migrations: turn }, 'a migration reads whole tables, without a limit of time')
      await reported(session((client) => client.query(before))).catch(fail)
    }
    const provided = Object.fromEntries([...done, ...ofTurn])
    const migrator = new Migrator({
      db: owner,
      allowUnorderedMigrations: true,
      provider: { getMigrations: () => Promise.resolve(provided) }
    })
    const { error } = await reported(migrator.migrateToLatest())
    if (error !== undefined) fail(error)
    for (const name of turn) done.set(name, wasRun)
  }
}

/** The migrator wants to see each one that was run, also those of a feature that is not here any more. */
const wasRun: SchemaMigration = { up: () => Promise.resolve() }

function readMigrations (all: Migrations, names: readonly string[]): Promise<[string, SchemaMigration][]> {
  return Promise.all(names.flatMap((name) => {
    const read = all[name]
    return read === undefined ? [] : [read().then((migration): [string, SchemaMigration] => [name, migration])]
  }))
}

function fail (error: unknown): never {
  throw new Error('The database schema could not be brought up to date: ' +
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
