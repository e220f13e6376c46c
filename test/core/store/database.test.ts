import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../../core/store/database.ts'
import { outageOf } from '../../plugins/support/outage.ts'
import { seededDatabase } from '../../support/service.ts'

await t.test('a connection that is lost fails the work on it, is told of once, and is replaced', async (t) => {
  const url = await seededDatabase(t)
  const outage = outageOf(url)
  const lost: Error[] = []
  const database = openDatabase({ connectionString: url }, { connections: 3, onError: (error) => lost.push(error) })
  const name = (companyId: number): Promise<unknown> => database.company(companyId, (queries) => queries.selectFrom('companies').select('name').execute())

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
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { connections: 1, onError: (error) => t.fail(error.message) })
  const whoami = sql<{ role: string, company: string | null }>`select current_user as role, nullif(current_setting('app.company', true), '') as company`
  t.strictSame(await database.company(2, async (queries) => (await whoami.execute(queries)).rows), [{ role: 'dispatch_company', company: '2' }])
  t.match((await whoami.execute(database.owner)).rows, [{ role: /^(?!dispatch_company)/, company: null }])
  await t.rejects(database.company(2, () => Promise.reject(new Error('undone'))), { message: 'undone' })
  t.match((await whoami.execute(database.owner)).rows, [{ role: /^(?!dispatch_company)/, company: null }])
  await database.close()
})

await t.test('work that fails leaves nothing of its transaction', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { connections: 1, onError: (error) => t.fail(error.message) })
  await t.rejects(database.company(2, async (queries) => {
    await queries.insertInto('choices').values({ company_id: 2, user_id: 2, service: 'invoicing', provider_code: 'other', updated_at: new Date() }).execute()
    throw new Error('undone')
  }))
  t.strictSame(await database.owner.selectFrom('choices').select('provider_code').where('user_id', 'is not', null).execute(), [])
  await database.close()
})

await t.test('a snapshot sees one moment of its company, and writes nothing', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { connections: 2, onError: () => undefined })
  await database.snapshot(2, async (queries) => {
    const held = async (): Promise<unknown> => (await queries.selectFrom('credits').select('held').execute()).map((row) => Number(row.held))
    t.strictSame(await held(), [0])
    await database.company(2, (others) => others.updateTable('credits').set({ held: '7' }).where('company_id', '=', 2).execute())
    t.strictSame(await held(), [0])
  })
  await t.rejects(database.snapshot(2, (queries) => queries.updateTable('credits').set({ held: '8' }).where('company_id', '=', 2).execute()), { code: '25006' })
  t.strictSame(await database.snapshot(2, (queries) => queries.selectFrom('credits').select('held').execute()), [{ held: '7' }])
  await database.close()
})
