import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import { gt } from 'semver'
import own from './package.json' with { type: 'json' }

/**
 * How the schema of a database compares with that of this release. `run`: the migrations that were run, `pending`: those to run. `unknown`:
 * those that a newer release has run. `newest`: the newest release that has worked on it, and `needs`: the newest migration that a process
 * must know to work on it. What a feature has made that is not here (any more) is not unknown: nothing else uses it.
 */
export type SchemaState = { run: string[], pending: string[], unknown: string[], newest: string, needs: string }

/** Those of features are called `<feature>/…`. */
const isOfFeature = (migration: string): boolean => migration.includes('/')

type Known = { known: readonly string[], needs: string }

/** The version of this release. */
export const release = own.version

/** Throws what cannot be read; an empty database has no migration yet. */
export async function readSchemaState ({ owner }: Pick<Database, 'owner'>, { known, needs }: Known): Promise<SchemaState> {
  const { rows: [made] } = await sql<{ migrations: boolean, releases: boolean }>`
    select to_regclass('kysely_migration') is not null as migrations, to_regclass('releases') is not null as releases`.execute(owner)
  const run = made?.migrations === true
    ? (await sql<{ name: string }>`select name from kysely_migration order by name`.execute(owner)).rows.map(({ name }) => name)
    : []
  const reported = made?.releases === true ? await owner.selectFrom('releases').select(['newest', 'needs']).executeTakeFirst() : undefined
  return {
    run,
    pending: known.filter((name) => !run.includes(name)),
    unknown: run.filter((name) => !known.includes(name) && !isOfFeature(name)),
    newest: reported === undefined || gt(release, reported.newest) ? release : reported.newest,
    needs: reported === undefined || needs > reported.needs ? needs : reported.needs
  }
}

/** Whether this release can work on the schema. */
export function canWorkOn ({ needs, unknown }: SchemaState, { known }: Pick<Known, 'known'>): boolean {
  return unknown.length === 0 || known.includes(needs)
}

/** Notes that this release has worked on the database. */
export async function noteRelease ({ owner }: Pick<Database, 'owner'>, { newest, needs }: SchemaState): Promise<void> {
  await owner.insertInto('releases').values({ newest, needs }).onConflict((conflict) =>
    conflict.column('only_row').doUpdateSet({ newest, needs })
  ).execute()
}

/** Whether a newer release works on the database. */
export async function isSuperseded ({ owner }: Pick<Database, 'owner'>): Promise<boolean> {
  const reported = await owner.selectFrom('releases').select('newest').executeTakeFirst()
  return reported !== undefined && gt(reported.newest, release)
}
