import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { openDatabase } from '../../../core/store/db/database.ts'
import { up } from '../../../core/store/migrations/045-implied-keys.ts'
import { seededDatabase } from '../../support/service.ts'

const keys = ['attempts_company_id_fkey', 'events_company_id_fkey', 'events_step_id_fkey', 'idempotency_keys_company_id_fkey',
  'steps_company_id_fkey']

await t.test('keys that others imply go while dispatches lock the same tables in another order', async (t) => {
  const connectionString = await seededDatabase(t)
  const database = openDatabase({ connectionString }, { onError: (error) => t.fail(error.message) })
  const dispatch = new pg.Client({ connectionString })
  await dispatch.connect()
  t.teardown(() => Promise.all([dispatch.end(), database.close()]))
  const left = async (): Promise<string[]> =>
    (await sql<{ name: string }>`select conname::text as name from pg_constraint where conname in (${sql.join(keys)}) order by 1`
      .execute(database.owner)).rows.map(({ name }) => name)
  const isAwaited = async (table: string): Promise<boolean> =>
    (await sql`select from pg_locks where relation = ${table}::regclass and not granted`.execute(database.vital)).rows.length > 0
  for (const key of keys) {
    const [, table = '', column = ''] = /^(.+)_((?:company|step)_id)_fkey$/.exec(key) ?? []
    const referred = column === 'step_id' ? 'steps' : 'companies'
    await sql`alter table ${sql.table(table)} add constraint ${sql.id(key)} foreign key (${sql.id(column)}) references
      ${sql.table(referred)} (${sql.id(column)})`.execute(database.owner)
  }
  t.same(await left(), keys)

  await dispatch.query('begin; lock table companies in row share mode')
  const done = database.owner.transaction().execute((queries) => up(queries as unknown as Kysely<unknown>))
  while (!await isAwaited('companies')) await sql`select pg_sleep(0.01)`.execute(database.vital)
  await dispatch.query('lock table steps in row exclusive mode; commit')
  await done
  t.same(await left(), [])
})
