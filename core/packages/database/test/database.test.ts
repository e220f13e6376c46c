import { type RawBuilder, sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { outageOf } from '../../../../test/plugins/support/outage.ts'
import { has } from '../../../../test/support/matching.ts'
import { withClient } from '../../../../test/support/postgres-server.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { silentProxy } from '../../../../test/support/silent-proxy.ts'
import type { TimeLimits } from '../connections.ts'
import { openDatabase } from '../database.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

await t.test('a connection that is lost fails the work on it, is told of once, and is replaced', async (t) => {
  const url = await seededDatabase(t)
  const outage = outageOf(url)
  const lost: Error[] = []
  const database = openDatabase({ connectionString: url }, { connections: 4, onError: (error) => lost.push(error) })
  const name = (companyId: number): Promise<unknown> =>
    database.company(companyId, (queries) => queries.selectFrom('companies').select('name').execute())

  await Promise.all([name(1), name(2), name(2)])
  // One connection is in use and waits for its next statement, the others are idle.
  await t.rejects(database.company(2, async (queries) => {
    await outage.begin()
    await queries.selectFrom('companies').select('name').execute()
  }))
  await t.rejects(database.ping())
  await outage.end()
  t.strictSame(await name(2), [{ name: 'Demo' }])
  t.equal(lost.length, 3)
  await database.close()
})

await t.test('a transaction of a company works under the role of companies, and leaves nothing of it behind', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, {
    connections: 1,
    onError: (error) => t.fail(error.message)
  })
  const whoami = sql<
    { role: string, company: string | null }
  >`select current_user as role, nullif(current_setting('app.company', true), '') as company`
  t.strictSame(await database.company(2, async (queries) => (await whoami.execute(queries)).rows), [{
    role: 'dispatch_company',
    company: '2'
  }])
  has(t, (await whoami.execute(database.owner)).rows, [{ role: /^(?!dispatch_company)/, company: null }])
  await t.rejects(database.company(2, () => Promise.reject(new Error('undone'))), { message: 'undone' })
  has(t, (await whoami.execute(database.owner)).rows, [{ role: /^(?!dispatch_company)/, company: null }])
  await database.close()
})

await t.test('work that fails leaves nothing of its transaction', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, {
    connections: 1,
    onError: (error) => t.fail(error.message)
  })
  await t.rejects(database.company(2, async (queries) => {
    await queries.insertInto('choices').values({
      company_id: 2,
      user_id: 2,
      service: 'invoicing',
      provider_code: 'other',
      updated_at: new Date()
    }).execute()
    throw new Error('undone')
  }))
  t.strictSame(await database.owner.selectFrom('choices').select('provider_code').where('user_id', 'is not', null).execute(), [])
  await database.close()
})

await t.test('a snapshot sees one moment of its company, and writes nothing', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { connections: 4, onError: () => undefined })
  await database.snapshot(2, async (queries) => {
    const held = async (): Promise<unknown> => (await queries.selectFrom('credits').select('held').execute()).map((row) => Number(row.held))
    t.strictSame(await held(), [0])
    await database.company(2, (others) => others.updateTable('credits').set({ held: '7' }).where('company_id', '=', 2).execute())
    t.strictSame(await held(), [0])
  })
  await t.rejects(
    database.snapshot(2, (queries) => queries.updateTable('credits').set({ held: '8' }).where('company_id', '=', 2).execute()),
    { code: '25006' }
  )
  t.strictSame(await database.snapshot(2, (queries) => queries.selectFrom('credits').select('held').execute()), [{ held: '7' }])
  await database.close()
})

const quick: TimeLimits = { connect: 2_000, lock: 1_000, statement: 2_500, idle: 500, answer: 3_000 }

/** A connection of somebody else, who holds a lock on a company's credits while `work` is done. */
async function holding (url: string, companyId: number, work: () => Promise<void>): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('begin')
    await client.query('select from credits where company_id = $1 for update', [companyId])
    await work()
    await client.query('rollback')
  })
}

await t.test('a company has half of the connections at most: the others work on while all of its own wait', async (t) => {
  const url = await seededDatabase(t)
  // Nobody gives up the lock before it is free, and nobody waits for ever for a connection.
  const limits = { ...quick, connect: 30_000, lock: 600_000, statement: 600_000, answer: 600_000 }
  const database = openDatabase({ connectionString: url }, { connections: 4, limits, onError: (error) => t.fail(error.message) })
  let ended = 0
  const locked = (companyId: number): Promise<unknown> =>
    database.company(companyId, (queries) =>
      queries.updateTable('credits').set({ held: '0' }).where('company_id', '=', companyId).execute())
  const waiting: Promise<unknown>[] = []
  await holding(url, 2, async () => {
    for (let caller = 0; caller < 12; caller++) waiting.push(locked(2).finally(() => ended++))
    for (let turn = 0; turn < 10; turn++) await locked(1)
    await database.ping()
    t.equal(ended, 0, 'nobody else has waited for them')
  })
  t.equal((await Promise.all(waiting)).length, 12, 'and the company goes on once the lock is gone')
  await database.close()
})

await t.test('no limit of time is without an end: a lock, a statement, a transaction that says nothing, a ' +
  'server that does not answer', async (t) => {
  const url = await seededDatabase(t)
  const lost: Error[] = []
  const proxy = await silentProxy(t, url)
  const database = openDatabase({ connectionString: proxy.url }, { connections: 2, limits: quick, onError: (error) => lost.push(error) })
  const requested = async (work: () => Promise<unknown>): Promise<object> => {
    const { reason, uncertain } = await work().then(() => ({ reason: 'done', uncertain: false }),
      (error: unknown) => error as DatabaseUnavailable)
    return { reason, uncertain }
  }
  const company = (statement: RawBuilder<unknown>) => () => database.company(2, (queries) => statement.execute(queries))
  await holding(url, 2, async () => {
    t.strictSame(await requested(company(sql`update credits set held = 0`)), { reason: 'busy', uncertain: false }, 'a lock')
  })
  t.strictSame(await requested(company(sql`select pg_sleep(3600)`)), { reason: 'busy', uncertain: false }, 'a statement')
  t.strictSame(await requested(() =>
    database.company(2, async (queries) => {
      await sql`select from credits for update`.execute(queries)
      await pause(3 * quick.idle)
      await sql`select 1`.execute(queries)
    })
  ), { reason: 'away', uncertain: true }, 'a transaction')
  t.strictSame(await requested(company(sql`update credits set held = 0`)), { reason: 'done', uncertain: false }, 'has left its lock')
  proxy.silence()
  t.strictSame(await requested(company(sql`update credits set held = 0`)), { reason: 'away', uncertain: true }, 'an open connection')
  has(t, await requested(() => database.ping()), { reason: 'away' }, 'and a new one')
  proxy.speak()
  t.strictSame(await requested(company(sql`update credits set held = 0`)), { reason: 'done', uncertain: false }, 'and works again')
  await database.close()
})

await t.test('every connection is asked after when it is silent, by both sides', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  const settings = sql<
    { statement: string, lock: string, idle: string }
  >`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle`
  t.strictSame(await database.company(2, async (queries) => (await settings.execute(queries)).rows), [{
    statement: '10s',
    lock: '3s',
    idle: '5s'
  }])
  t.strictSame((await settings.execute(database.owner)).rows, [{ statement: '30s', lock: '3s', idle: '5s' }])
  t.strictSame((await settings.execute(database.vital)).rows, [{ statement: '1500ms', lock: '500ms', idle: '1500ms' }])
  await database.close()
})

await t.test('a statement with parameters is prepared once for each connection', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, {
    connections: 1,
    onError: (error) => t.fail(error.message)
  })
  const prepared = await database.company(2, async (queries) => {
    for (const id of [1, 2]) await queries.selectFrom('companies').select('name').where('company_id', '=', id).execute()
    return sql<{ calls: string }>`select generic_plans + custom_plans as calls from pg_prepared_statements
      where statement like 'select "name" from "companies"%'`.execute(queries)
  })
  t.strictSame(prepared.rows, [{ calls: '2' }])
  await database.close()
})
