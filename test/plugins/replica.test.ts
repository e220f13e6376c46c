import { openDatabase, type ReplicaChange } from '@dispatch/database'
import { sql } from 'kysely'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { prepareDatabase } from '../../plugins/config/prepare-database.ts'
import { createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { until } from '../core/work/support.ts'
import { withClient } from '../support/postgres-server.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startReplicated } from '../support/replica.ts'
import { operator, startService, testConfig } from '../support/service.ts'

const { primary, replica } = await startReplicated(t, async (databaseUrl) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-prepared-'))
  const app = await createApp(testConfig(folder), { databaseUrl, log: createLogger('silent'), renderer: quickRenderer })
  await prepareDatabase(app)
  await app.close()
  rmSync(folder, { recursive: true })
})
const lag = 2
const { send, app, log } = await startService(t, {
  databaseUrl: primary.url,
  config: { databaseReplica: { url: replica.url, lag } },
  replacements: { renderer: quickRenderer }
})
const database = app.get('database')
const reported = (sentence: string): number => log.filter((line) => line.includes(`"${sentence}`)).length
const used = 'lists are read from the replica'
const left = 'lists are read from the primary: the replica cannot be used'
const onReplica = (statement: string): Promise<void> =>
  withClient(replica.url, async (client) => {
    await client.query(statement)
  })
const sms = async (): Promise<string> =>
  (await send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: 'Hello.' } } })).body.dispatchId
const listed = async (): Promise<string[]> =>
  (await send('GET', '/api/v1/dispatches')).body.data.map(({ dispatchId: id }: { dispatchId: string }) => id)
const counted = async (): Promise<number> =>
  (await send('GET', '/api/v1/dispatches/statistics')).body.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)
const audited = async (): Promise<number> => (await send('GET', '/api/v1/audit')).body.data.length

await until('the replica is used', () => database.readsReplica?.() === true)

await t.test('lists, counts and the audit log are read from the replica; what became of one dispatch is not', async (t) => {
  const first = await sms()
  await until('the replica has it', async () => (await listed()).includes(first))
  const [count, entries] = [await counted(), await audited()]
  await onReplica('select pg_wal_replay_pause()')
  const second = await sms()
  await send('POST', '/api/v1/keys', { body: { name: 'key', mode: 'test' } })
  t.same(await listed(), [first], 'as the replica has it')
  t.same([await counted(), await audited()], [count, entries])
  t.equal((await send('GET', `/api/v1/dispatches/${second}`)).body.status, 'succeeded')

  await until('it is too far behind', () => database.readsReplica?.() === false)
  t.same(await listed(), [second, first])
  t.equal(await counted(), count + 1)
  t.ok(await audited() > entries)
  t.equal(reported(left), 1, 'with one warning')
  t.ok(log.some((line) => line.includes(`"it is more than ${lag} seconds behind"`)))
  await onReplica('select pg_wal_replay_resume()')
  await until('it is used again', () => database.readsReplica?.() === true)
  t.equal(reported(used), 2)
})

await t.test('a replica of an idle primary is not behind', async (t) => {
  await pause((lag + 1) * 1000)
  t.equal(database.readsReplica?.(), true)
})

await t.test('a company sees its own rows there and changes none', async (t) => {
  const companies = (await send('GET', '/api/v1/companies', {}, operator)).body.data.map(({ id }: { id: number }) => id) as number[]
  const [own = 0, other = 0] = companies
  const count = async (reader: number): Promise<number[]> =>
    await database.reading(reader, async (queries) => {
      const { rows } = await sql<{ company_id: number }>`select distinct company_id from users`.execute(queries)
      return rows.map((row) => row.company_id)
    })
  t.same([await count(own), await count(other)], [[own], [other]])
  const change = database.reading(own, (queries) => sql`delete from users`.execute(queries))
  await t.rejects(change, 'it is read-only, also where the primary is read in its place')
})

await t.test('a read that the replica cannot answer is answered by the primary', async (t) => {
  const before = reported(left)
  await replica.stop()
  t.equal((await send('GET', '/api/v1/dispatches')).status, 200)
  await until('it is given up', () => database.readsReplica?.() === false)
  t.same([(await listed()).length, reported(left)], [2, before + 1])
})

await t.test('a server that is no replica of this one is not read', async (t) => {
  const changes: ReplicaChange[] = []
  const wrong = openDatabase({ connectionString: primary.url }, {
    replica: { url: primary.url, lag, onChange: (change) => changes.push(change) },
    onError: (error) => t.fail(error.message)
  })
  await until('it is looked at', () => changes.length > 0)
  t.same(changes, [{ used: false, why: 'it is no replica of this primary' }])
  await wrong.close()
})
