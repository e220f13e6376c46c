import { sql } from 'kysely'
import { globSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import t from 'tap'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { migrate } from '../../../core/store/migrate.ts'
import { testDatabase } from '../../support/postgres.ts'
import { seededDatabase } from '../../support/service.ts'

const { url } = await testDatabase(t)
const open = (): ReturnType<typeof openDatabase> =>
  openDatabase({ connectionString: url }, { connections: 2, onError: (error) => t.fail(error.message) })

await t.test('processes that start together migrate once, and later ones not again', async (t) => {
  const databases = [open(), open(), open()]
  await Promise.all(databases.map((database) => migrate(database)))
  await migrate(databases[0]!)
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(databases[0]!.owner)
  const files = await readdir(new URL('../../../core/store/migrations', import.meta.url))
  t.strictSame(rows.map(({ name }) => name).sort(), files.map((file) => file.replace(/\.ts$/, '')).sort())
  await Promise.all(databases.map((database) => database.close()))
})

await t.test('the migrator, which asks for all tables with each migration, gets their names and no columns', async (t) => {
  const database = open()
  const tables = await database.owner.introspection.getTables()
  await database.close()
  t.ok(tables.some(({ name }) => name === 'kysely_migration'))
  t.same(tables.filter(({ columns }) => columns.length > 0), [])
})

type Column = { name: string, nullable: boolean }

/** The columns that the types of queries write down, by table: of the core in schema.ts, of a feature in its store. */
async function written (): Promise<Record<string, Column[]>> {
  const core = new URL('../../../core/', import.meta.url)
  const files = ['packages/tables/schema.ts', ...globSync('packages/features/*/store/*.ts', { cwd: core })]
  const sources = await Promise.all(files.map((file) => readFile(new URL(file, core), 'utf8')))
  const tables = sources.map((source) => /^(?:export )?type \w*Tables = \{\n([\s\S]*?)\n\}/m.exec(source)?.[1] ?? '').join('\n')
  return Object.fromEntries([...tables.matchAll(/^ {2}(\w+): \{([^{}]*)\}/gm)].map(([, table = '', columns = '']) => [
    table,
    [...columns.matchAll(/(\w+): ((?:<(?:[^<>]|<[^<>]*>)*>|[^,<\n])+)/g)].map(([, name = '', type = '']) => ({
      name,
      nullable: type.includes('| null')
    })).sort(byName)
  ]))
}

const byName = (a: Column, b: Column): number => a.name < b.name ? -1 : 1

// Statements name no partition, nor what only processes of the release before look at.
await t.test('the tables are as the types of the queries say, column by column', async (t) => {
  // With those of features.
  const database = openDatabase({ connectionString: await seededDatabase(t) }, {
    connections: 2,
    onError: (error) => t.fail(error.message)
  })
  const { rows } = await sql<{ table: string, name: string, nullable: boolean }>`
    select table_name as "table", column_name as name, is_nullable = 'YES' as nullable from information_schema.columns
      join pg_class on relname = table_name and relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    where table_schema = 'public' and table_name not like 'kysely%' and table_name <> 'change_counter'`.execute(database.owner)
  await database.close()
  const found: Record<string, Column[]> = {}
  for (const { table, ...column } of rows) (found[table] ??= []).push(column)
  for (const columns of Object.values(found)) columns.sort(byName)
  t.strictSame(await written(), found)
})

await t.test('every table of companies has row-level security, and a policy', async (t) => {
  const database = open()
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns join pg_class on relname = table_name and relkind in ('r', 'p')
    where table_schema = 'public' and column_name = 'company_id' and table_name <> 'changes'
      and (not relrowsecurity or not exists (select from pg_policy where polrelid = pg_class.oid))`.execute(database.owner)
  await database.close()
  t.strictSame(rows, [])
})
