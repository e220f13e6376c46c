import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t, { type Test } from 'tap'
import { testDatabase } from '../../../../../test/support/postgres.ts'
import { migrate } from '../../../../store/migrate.ts'
import { type Database, openDatabase } from '../../../database/database.ts'
import { migrations } from '../migrations/outbox.ts'
import { claimCallback, findDueCallbacks, listCompaniesDue, settleCallback } from '../store/attempts.ts'
import { listCallbacks, listEndpointCallbacks } from '../store/callbacks.ts'
import { insertCallback, noteCompanyEvent } from '../store/outbox.ts'
import * as old from './fixtures/release-1-1.ts'

const kinds = ['address', 'endpoint'] as const
const [companyId, otherId] = [1, 2]
const endpointId = randomUUIDv7()

/** A database of release 1.1 with two companies and an endpoint. */
async function begin (t: Test): Promise<Database> {
  const { url } = await testDatabase(t)
  const database = openDatabase({ connectionString: url }, { connections: 6, onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  await migrate(database)
  await sql`insert into companies (company_id, name, created_at) overriding system value
    values (${companyId}, 'Acme', now()), (${otherId}, 'Other', now())`.execute(database.owner)
  await sql`insert into credits (company_id, balance, held) values (${companyId}, 0, 0), (${otherId}, 0, 0) on conflict do nothing`.execute(
    database.owner
  )
  await sql`insert into callback_endpoints (endpoint_id, company_id, name, url, enabled, secrets, created_at)
    values (${endpointId}, ${companyId}, 'here', 'https://hooks.acme.test/', true, '[]', now())`.execute(database.owner)
  return database
}

const upgrade = (database: Database) => migrate(database, { ofFeatures: migrations })

const recordOld = (database: Database, kind: old.Kind) => database.company(companyId, (queries) => old.record(queries, kind, companyId))

const limits = { seconds: 15, perCompany: 1_000, perReceiver: 1_000 }
const claim = async (database: Database) => {
  const claimed = await claimCallback(database, companyId, limits)
  return claimed && { id: claimed.callbackId, kind: claimed.endpointId === null ? 'address' : 'endpoint', url: claimed.url }
}

/** Records an event about the company, as this release does: to an address and to the endpoint. Answers the ids. */
function recordNew (database: Database): Promise<{ address: string, endpoint: string }> {
  return database.company(companyId, async (queries) => {
    const now = new Date()
    const event = { companyId, type: 'company.credits_low', data: {}, now, due: database.now, newId: () => randomUUIDv7() } as const
    const { sequence, callbackIds: [endpoint = ''] } = await noteCompanyEvent(queries, event)
    const url = 'https://hooks.acme.test/'
    return { address: await insertCallback(queries, { ...event, dispatchId: null, sequence, url }), endpoint }
  })
}

await t.test('what waited before the upgrade is sent by this release, or after the way back by the release before', async (t) => {
  const database = await begin(t)
  const waiting = { address: await recordOld(database, 'address'), endpoint: await recordOld(database, 'endpoint') }
  const sent = await old.claim(database, 'address', companyId)
  t.equal(sent, waiting.address)
  await upgrade(database)
  await old.settle(database, 'address', companyId, waiting.address)
  t.same((await listCompaniesDue(database, 0)).map(({ toEndpoint }) => toEndpoint), [true])
  t.same(await claim(database), { id: waiting.endpoint, kind: 'endpoint', url: 'https://hooks.acme.test/' })
  t.equal(await old.claim(database, 'endpoint', companyId), undefined, 'nobody else sends it meanwhile')
  await settleCallback(database, { companyId, callbackId: waiting.endpoint, endpointId, number: 1 }, {
    outcome: 'delivered',
    milliseconds: 1,
    state: 'delivered'
  }, () => Promise.resolve())

  const later = await recordNew(database)
  for (const kind of kinds) {
    t.same(await old.list(database, kind, companyId), [
      { id: waiting[kind], state: 'delivered', attempts: 1 },
      { id: later[kind], state: 'pending', attempts: 0 }
    ], `the release before lists them: ${kind}`)
    t.equal(await old.claim(database, kind, companyId), later[kind], 'it sends what this one has recorded')
    await old.settle(database, kind, companyId, later[kind])
  }
  t.equal(await findDueCallbacks(database, companyId, 60), undefined)
  for (const found of [await listCallbacks(database, companyId, null, { limit: 9 }),
    await listEndpointCallbacks(database, { companyId, endpointId }, {}, { limit: 9 })])
  {
    t.same(found.map(({ state, attempts, attemptRows }) => [state, attempts, attemptRows.length, attemptRows[0]?.outcome]), [['delivered',
      1, 1, 'delivered'], ['delivered', 1, 1, 'delivered']], 'as does this release')
  }
})

await t.test('two releases side by side send each callback once, whoever has recorded it', async (t) => {
  const database = await begin(t)
  const recorded: string[] = []
  for (const kind of kinds) for (let one = 0; one < 6; one++) recorded.push(await recordOld(database, kind))
  await upgrade(database)
  // Each release goes on recording.
  for (const kind of kinds) for (let one = 0; one < 6; one++) recorded.push(await recordOld(database, kind))
  for (let one = 0; one < 6; one++) recorded.push(...Object.values(await recordNew(database)))
  const claimed: string[] = []
  async function work (next: () => Promise<string | undefined>): Promise<void> {
    for (let id = await next(); id !== undefined; id = await next()) claimed.push(id)
  }
  await Promise.all([
    work(() => old.claim(database, 'address', companyId)),
    work(() => old.claim(database, 'endpoint', companyId)),
    work(async () => (await claim(database))?.id),
    work(async () => (await claim(database))?.id)
  ])
  t.same(claimed.toSorted(), recorded.toSorted())
})

await t.test('no release shows or gives a company the callbacks of another', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  for (const kind of kinds) await recordOld(database, kind)
  for (const kind of kinds) {
    t.equal((await old.list(database, kind, companyId)).length, 1)
    t.same(await old.list(database, kind, otherId), [])
    await t.rejects(database.company(otherId, (queries) => old.record(queries, 'address', companyId)), /row-level security/)
  }
  t.equal(await claimCallback(database, otherId, limits), undefined)
  const there = (table: string) =>
    database.company(otherId, async (queries) => (await sql`select from ${sql.table(table)}`.execute(queries)).rows.length)
  for (const table of ['outbox', 'callbacks', 'callbacks_to_endpoints', 'endpoint_callbacks']) t.equal(await there(table), 0, table)
})
