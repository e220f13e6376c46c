import { sql } from 'kysely'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { onObservation } from '../../common/observations.ts'
import { openConnections, requestLimits } from '../connections.ts'
import { type Database, openDatabase } from '../database.ts'

const url = await seededDatabase(t)
const database = openDatabase({ connectionString: url }, { connections: 2, onError: (error) => t.fail(error.message) })
t.teardown(() => database.close())

const whoIs = (n: number) =>
  sql<{ role: string, company: string, moment: string, n: number }>`select current_user as role, current_setting('app.company') as company,
    current_setting('app.moment') as moment, ${n}::integer as n`
const found = (company: string, n: number, moment = 'now') => ({ role: 'dispatch_company', company, moment, n })

/** The messages that some work sends, by what they begin with. */
async function messagesOf (work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  const stop = onObservation('databaseRequest', ({ operation }) => sent.push(operation))
  await work()
  stop()
  return sent
}

const read = (of: Database, companyId: number, n: number): Promise<unknown> =>
  of.snapshot(companyId, async (queries) => (await whoIs(n).execute(queries)).rows)

await t.test('what a transaction begins with goes along with its first statement, once the connection has prepared it', async (t) => {
  for (const n of [1, 2, 3]) t.same(await read(database, n % 2 + 1, n), [found(String(n % 2 + 1), n)])
  const [companies, snapshots] = [
    await messagesOf(() => database.company(1, async (queries) => [await whoIs(1).execute(queries), await whoIs(2).execute(queries)])),
    await messagesOf(() => read(database, 2, 4))
  ]
  t.same(companies.slice(-3), ['select', 'select', 'commit'])
  t.same(snapshots, ['select', 'commit'])
  const costs = await database.snapshot(1, (queries) =>
    sql<
      { cost: string, writes: string }
    >`select current_setting('random_page_cost') as cost, current_setting('transaction_read_only') as writes,
      ${1}::integer`.execute(queries))
  has(t, costs.rows, [{ cost: '0.1', writes: 'on' }])
})

await t.test('what is asked for at once, or without parameters, is bounded as well; nothing is left behind', async (t) => {
  const both = await database.company(2, async (queries) => Promise.all([whoIs(1).execute(queries), whoIs(2).execute(queries)]))
  t.same(both.map(({ rows }) => rows), [[found('2', 1)], [found('2', 2)]])
  const plain = await database.company(2, async (queries) => (await sql`select current_user as role`.execute(queries)).rows)
  t.same(plain, [{ role: 'dispatch_company' }])
  const owner = await database.company(1, () => Promise.resolve('nothing was asked for'))
  t.equal(owner, 'nothing was asked for')
  t.not((await sql<{ role: string }>`select current_user as role`.execute(database.owner)).rows[0]?.role, 'dispatch_company')
})

await t.test('after a first statement that fails nothing else of the transaction runs, and it does not commit', async (t) => {
  const fails = sql`select 1 / ${0}::integer`
  for (const time of [1, 2]) {
    await t.rejects(database.company(1, (queries) => fails.execute(queries)), /division by zero/, String(time))
    await t.rejects(database.company(1, async (queries) => {
      await fails.execute(queries).catch(() => undefined)
      await whoIs(1).execute(queries)
    }), /division by zero/)
    await t.rejects(database.company(1, async (queries) => {
      await fails.execute(queries).catch(() => undefined)
    }), /division by zero/)
    t.same(await read(database, 1, time), [found('1', time)], 'the connection serves on')
  }
})

await t.test('where the settings fail nothing runs, whether they go along with the statement or before it', async (t) => {
  const connections = openConnections({ setting: 'DATABASE_URL', config: { connectionString: url } }, {
    name: 'test',
    max: 1,
    limits: requestLimits,
    onError: (error) => t.fail(error.message)
  })
  const client = await connections.healthy.connect()
  await client.query('create temporary table noted (n integer)')
  const note = async (n: number, divisor: number): Promise<void> => {
    const joined = {
      name: 'note',
      text: 'insert into noted values ($1::integer)',
      values: [n],
      before: [{ name: 'begin', text: 'begin', values: [] }, {
        name: 'settings',
        text: 'select 1 / $1::integer',
        values: [String(divisor)]
      }]
    }
    await client.query<object>(joined)
  }
  const ended = async (end: string): Promise<unknown> => {
    await client.query(end)
    return (await client.query('select n from noted order by n')).rows
  }
  await t.rejects(note(1, 0), /division by zero/)
  t.same(await ended('rollback'), [], 'one after the other')
  await note(2, 1)
  t.same(await ended('commit'), [{ n: 2 }])
  await t.rejects(note(3, 0), /division by zero/)
  t.same(await ended('rollback'), [{ n: 2 }], 'in one message')
  await note(4, 1)
  t.same(await ended('rollback'), [{ n: 2 }], 'it is one transaction')
  await note(5, 1)
  t.same(await ended('commit'), [{ n: 2 }, { n: 5 }])
  client.release()
  await connections.healthy.end()
})
