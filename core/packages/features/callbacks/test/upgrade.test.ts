import { type RawBuilder, sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t, { type Test } from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { testDatabase } from '../../../../../test/support/postgres.ts'
import { migrate } from '../../../../store/migrate.ts'
import { type Database, type DatabaseOptions, openDatabase } from '../../../database/database.ts'
import { migrations } from '../migrations/outbox.ts'
import { claimCallback, findDueCallbacks, listCompaniesDue, settleCallback } from '../store/attempts.ts'
import { listCallbacks, listEndpointCallbacks } from '../store/callbacks.ts'
import { insertCallback, noteCompanyEvent } from '../store/outbox.ts'
import * as old from './fixtures/release-1-1.ts'

const kinds = ['address', 'endpoint'] as const
const [companyId, otherId] = [1, 2]
const endpointId = randomUUIDv7()

/** A database of release 1.1 with two companies and an endpoint. */
async function begin (t: Test, options: Pick<DatabaseOptions, 'limits'> = {}): Promise<Database> {
  const { url } = await testDatabase(t)
  const database = openDatabase({ connectionString: url }, { connections: 6, onError: (error) => t.fail(error.message), ...options })
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
  t.same(await findDueCallbacks(database, companyId, 60), [])
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

await t.test('the release before makes callbacks due again, stops and empties them', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  const ids = await recordNew(database)
  for (const kind of kinds) {
    const id = ids[kind]
    t.equal(await old.claim(database, kind, companyId), id)
    t.equal(await old.replay(database, kind, companyId, id), false, 'it is under way')
    await old.settle(database, kind, companyId, id)
    t.equal(await old.replay(database, kind, companyId, id), true, kind)
  }
  const states = async () => (await Promise.all(kinds.map((kind) => old.list(database, kind, companyId)))).flat().map(({ state }) => state)
  t.same(await states(), ['pending', 'pending'])
  t.equal(await old.stopWaiting(database, companyId, endpointId), 1)
  t.same(await states(), ['pending', 'stopped'])
  t.equal(await old.resendFailed(database, companyId, endpointId), 1)
  t.same(await states(), ['pending', 'pending'])
  for (const kind of kinds) t.equal(await old.forgetBodies(database, kind), 0, 'what waits keeps its body')
  for (const kind of kinds) await old.settle(database, kind, companyId, ids[kind])
  for (const kind of kinds) t.equal(await old.forgetBodies(database, kind), 1, kind)
  t.same((await listCallbacks(database, companyId, null, { limit: 9 })).map(({ body }) => body), [null])
})

await t.test('each release counts the requests that the other has under way, also while it begins one', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  for (const kind of kinds) {
    for (const one of [1, 2]) t.ok(await recordOld(database, kind), String(one))
    const begun = Promise.withResolvers<undefined>()
    const goesOn = Promise.withResolvers<undefined>()
    const first = database.company(companyId, async (queries) => {
      t.ok(await old.claimIn(queries, kind, companyId))
      begun.resolve(undefined)
      await goesOn.promise
    })
    await begun.promise
    const second = claimCallback(database, companyId, { ...limits, perReceiver: 1 })
    const waits = async () =>
      (await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(database.owner)).rows.length > 0
    await Promise.race([second, until('it waits for the other', waits)])
    goesOn.resolve(undefined)
    await first
    t.equal(await second, undefined, kind)
    await sql`delete from outbox_attempts`.execute(database.owner)
    await sql`delete from outbox`.execute(database.owner)
  }
})

await t.test('each kind that is due is found, whichever has waited for longer', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  const due = async () => (await findDueCallbacks(database, companyId, 0)).map(({ toEndpoint }) => toEndpoint)
  t.same(await due(), [])
  await recordOld(database, 'endpoint')
  t.same(await due(), [true])
  await recordOld(database, 'address')
  t.same(await due(), [false, true])
  t.same(await findDueCallbacks(database, otherId, 0), [])
})

/** Milliseconds. The server ends a statement of the owner after three times `statement`. */
const shortLimits = { connect: 5_000, lock: 60_000, statement: 1_000, idle: 60_000, answer: 1_200 }

await t.test('what a migration reads whole may take longer than any statement', async (t) => {
  const database = await begin(t, { limits: shortLimits })
  await migrate(database, { ofFeatures: Object.fromEntries(Object.entries(migrations).slice(0, 2)) })
  await database.session(async (client) => {
    // It lets others write, and reading does not begin.
    await client.query('begin; lock table callbacks in share update exclusive mode')
    const upgraded = upgrade(database)
    const isLong = async () =>
      (await sql`select from pg_stat_activity where datname = current_database() and query like '%validate constraint%'
        and wait_event_type = 'Lock' and query_start < clock_timestamp() - interval '4 seconds'`.execute(database.owner)).rows.length > 0
    await Promise.race([upgraded, until('it takes longer than a statement may', isLong)])
    await client.query('commit')
    await upgraded
  })
  t.ok((await recordNew(database)).endpoint)
})

await t.test('no release shows or gives a company the callbacks of another', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  const ids = await recordNew(database)
  const asOther = (statement: RawBuilder<unknown>) =>
    database.company(otherId, async (queries) => {
      const { rows, numAffectedRows } = await statement.execute(queries)
      return Number(numAffectedRows ?? rows.length)
    })
  for (const kind of kinds) {
    t.equal((await old.list(database, kind, companyId)).length, 1)
    t.same(await old.list(database, kind, otherId), [])
  }
  await t.rejects(database.company(otherId, (queries) => old.record(queries, 'address', companyId)), /row-level security/)
  await t.rejects(
    asOther(sql`
    insert into endpoint_callbacks (callback_id, company_id, endpoint_id, type, sequence, receiver, state, created_at)
    values (${randomUUIDv7()}, ${companyId}, ${endpointId}, 'company.credits_low', 1, '', 'pending', now())`),
    /row-level security/
  )
  t.equal(await claimCallback(database, otherId, limits), undefined)
  for (const name of ['outbox', 'callbacks', 'callbacks_to_endpoints', 'endpoint_callbacks']) {
    const table = sql.table(name)
    t.equal(await asOther(sql`select from ${table}`), 0, name)
    t.equal(await asOther(sql`update ${table} set state = 'stopped'`), 0, name)
  }
  for (const kind of kinds) t.same(await old.list(database, kind, companyId), [{ id: ids[kind], state: 'pending', attempts: 0 }])
})

await t.test('no company deletes callbacks, its own neither', async (t) => {
  const database = await begin(t)
  await upgrade(database)
  for (const name of ['outbox', 'outbox_attempts', 'callbacks', 'callback_attempts', 'callbacks_to_endpoints', 'endpoint_attempts',
    'endpoint_callbacks'])
  {
    await t.rejects(database.company(companyId, (queries) => sql`delete from ${sql.table(name)}`.execute(queries)), /permission denied/,
      name)
  }
})
