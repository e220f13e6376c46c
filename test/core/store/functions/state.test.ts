import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Json } from '../../../../core/packages/common/json.ts'
import { StateFull } from '../../../../core/packages/host/call/state.ts'
import type { State } from '../../../../core/packages/host/manifest/context.ts'
import { callFunctionWithin } from '../../../../core/store/calls/database-functions.ts'
import { forgetState } from '../../../../core/store/dispatch/retention.ts'
import { adapterState, createProviderState, keepForRun } from '../../../../core/store/vendor/provider-state.ts'
import { later, moment, openFunctions } from './support.ts'

const { database, call, stranger, opened } = await openFunctions(t)

type Terms = { only_first?: boolean, dispatch_id?: string, run_id?: string }

const keep = (companyId: number, key: string, value: Json, terms: Terms = {}): Promise<Json> =>
  call('keep_state', { company_id: companyId, provider_code: 'simulator', key, value, only_first: false, ...terms })
const kept = async (companyId: number): Promise<[key: string, value: Json, at: Date][]> => {
  const rows = await database.owner.selectFrom('provider_state').selectAll().where('company_id', '=', companyId).orderBy('key').execute()
  return rows.map(({ key, value, updated_at: at }) => [key, value, at])
}

await t.test('a value takes the place of the one before, unless only the first counts, with the time of the database', async (t) => {
  const { company_id: companyId } = await opened()
  t.same(await keep(companyId, 'a', { number: 1 }), { number: 1 })
  t.equal(await keep(companyId, 'a', 2), 2)
  t.equal(await keep(companyId, 'a', 3, { only_first: true }), 2)
  t.same(await keep(companyId, 'b', [4], { only_first: true }), [4])
  t.equal(await keep(companyId, 'c', null), null)
  t.same(await kept(companyId), [['a', 2, moment], ['b', [4], moment], ['c', null, moment]])
  t.same(await kept(stranger), [])
})

await t.test('of several first values one stands, and all are told which', async (t) => {
  const { company_id: companyId } = await opened()
  const reported = await Promise.all([1, 2, 3].map((value) => keep(companyId, 'raced', value, { only_first: true })))
  t.equal(new Set(reported).size, 1)
})

await t.test('a run keeps a value as long as it has its dispatch', async (t) => {
  const key = await opened()
  const { company_id: companyId, dispatch_id, run_id } = key
  t.equal(await keep(companyId, 'k', 'draft', { dispatch_id, run_id }), 'draft')
  t.equal(await keep(companyId, 'k', 'late', { dispatch_id, run_id: randomUUIDv7() }), null)
  t.equal(await keep(stranger, 'k', 'strange', { dispatch_id, run_id }), null)
  t.same([await kept(companyId), await kept(stranger)], [[['k', 'draft', moment]], []])
  const checkpoint = { companyId, dispatchId: dispatch_id, providerCode: 'simulator', key: 'k', value: 'next' }
  await keepForRun(database, { ...checkpoint, runId: run_id })
  await t.rejects(keepForRun(database, { ...checkpoint, runId: randomUUIDv7() }), { message: 'Another run has the dispatch.' })
  t.same(await kept(companyId), [['k', 'next', moment]])
})

await t.test('what a provider remembers is kept in one message, and read by its company alone', async (t) => {
  const { company_id: companyId } = await opened()
  let transactions = 0
  const counted: typeof database.company = (id, work) => {
    transactions++
    return database.company(id, work)
  }
  const counting = { ...database, company: counted }
  const [state, strangers] = [companyId, stranger].map((id) => createProviderState(counting, { companyId: id, providerCode: 'simulator' }))
  await state?.put('a', 1)
  t.equal(await state?.putIfAbsent('a', 2), 1)
  t.equal(await state?.putIfAbsent('b', null), null)
  t.equal(transactions, 0)
  t.same([await state?.get('a'), await state?.get('b'), await state?.get('c'), await strangers?.get('a')], [1, null, undefined, undefined])
})

type Quota = { keys?: number, bytes?: number, days?: number }
const quotaOf = ({ keys = 1_000, bytes = 1_000_000, days = 400 }: Quota = {}) => ({ keys, bytes, days })
const stateOf = (companyId: number, quota: Quota = {}, userId: number | null = null): State =>
  createProviderState(database, { companyId, providerCode: 'simulator', userId }, quotaOf(quota))

await t.test('a configuration keeps so many keys, and what is written over needs no more', async (t) => {
  const { company_id: companyId } = await opened()
  const state = stateOf(companyId, { keys: 2 })
  for (const value of [1, 2, 3]) await state.put('a', value)
  t.equal(await state.putIfAbsent('b', 1), 1)
  await t.rejects(state.put('c', 1), StateFull)
  await t.rejects(state.putIfAbsent('c', 1), /at most 2 keys and 1000000 bytes for each configuration/)
  t.equal(await state.putIfAbsent('a', 9), 3, 'what stands there is told all the same')
  t.equal(await state.get('c'), undefined)
  await state.delete('a')
  await state.put('c', 1)
  t.same((await kept(companyId)).map(([key]) => key), ['b', 'c'])
})

await t.test('a configuration keeps so many bytes of keys and values', async (t) => {
  const { company_id: companyId } = await opened()
  const state = stateOf(companyId, { bytes: 100 })
  // A key of one byte, and a text in quotes of as many bytes as are asked for.
  const text = (bytes: number): string => 'é'.repeat((bytes - 3) / 2)
  await state.put('a', text(51))
  await state.put('b', text(49))
  await t.rejects(state.put('c', 1), StateFull)
  await t.rejects(state.put('a', text(53)), StateFull)
  await state.put('a', text(51))
  await state.put('a', text(49))
  await state.put('c', 1)
  t.same(await kept(companyId), [['a', text(49), moment], ['b', text(49), moment], ['c', 1, moment]])
  t.same(await database.owner.selectFrom('provider_state').select(['key', 'bytes']).where('company_id', '=', companyId).orderBy('key')
    .execute(), [{ key: 'a', bytes: 49 }, { key: 'b', bytes: 49 }, { key: 'c', bytes: 2 }])
})

await t.test('a write waits for another one of its company, whose room it would take', async (t) => {
  const { company_id: companyId } = await opened()
  const [written, end] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const first = database.company(companyId, async (queries) => {
    const given = { company_id: companyId, provider_code: 'simulator', key: 'a', value: 1, only_first: false }
    await callFunctionWithin(queries, 'keep_state', { ...given, most_keys: 1, most_bytes: 100, stale: '1 day' }, database.now)
    written.resolve(undefined)
    await end.promise
  })
  await written.promise
  let settled = false
  const second = stateOf(companyId, { keys: 1 }).put('b', 1).finally(() => {
    settled = true
  })
  second.catch(() => undefined)
  const isDecided = async (): Promise<boolean> =>
    settled ||
    (await sql`select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`.execute(database.owner)).rows
        .length > 0
  while (!await isDecided()) await setImmediate()
  end.resolve(undefined)
  await first
  await t.rejects(second, StateFull)
  t.same((await kept(companyId)).map(([key]) => key), ['a'])
})

await t.test('writes at the same time do not keep more together than one after the other', async (t) => {
  const { company_id: companyId } = await opened()
  const written = await Promise.allSettled(Array.from({ length: 60 }, (_, nth) => stateOf(companyId, { keys: 20 }).put(`k${nth}`, nth)))
  t.equal(written.filter(({ status }) => status === 'fulfilled').length, 20)
  t.equal((await kept(companyId)).length, 20)
})

await t.test('each configuration of a company has its own part, whoever wrote a key before, and other companies theirs', async (t) => {
  const { company_id: companyId } = await opened()
  const [shared, own] = [stateOf(companyId, { keys: 1 }), stateOf(companyId, { keys: 1 }, 7)]
  await shared.put('a', 1)
  await own.put('b', 2)
  await t.rejects(own.put('a', 3), StateFull, 'a key of another configuration counts for who writes it')
  t.same([await own.get('a'), await shared.get('b')], [1, 2], 'all of them read it')
  await own.delete('b')
  await own.put('a', 3)
  await shared.put('c', 4)
  await stateOf(stranger, { keys: 1 }).put('a', 1)
  await stateOf(stranger, { keys: 1 }).delete('a')
})

await t.test('what was not written for long makes room, and what the release before has kept counts', async (t) => {
  const { company_id: companyId } = await opened()
  const before = (key: string, days: number) =>
    database.owner.insertInto('provider_state').values({
      company_id: companyId,
      provider_code: 'simulator',
      key,
      value: JSON.stringify(key),
      updated_at: later(-days * 24 * 3600)
    }).execute()
  await before('old', 401)
  await before('older', 402)
  await before('newer', 399)
  const state = stateOf(companyId, { keys: 3 })
  await state.put('old', 'again')
  t.same((await kept(companyId)).map(([key]) => key), ['newer', 'old', 'older'], 'as long as there is room, nothing is taken away')
  await state.put('b', 1)
  t.same((await kept(companyId)).map(([key]) => key), ['b', 'newer', 'old'])
  await t.rejects(state.put('c', 1), StateFull)
})

await t.test('an adapter of the marketplace has a quota, a provider of the directories has none', async (t) => {
  const { company_id: companyId } = await opened()
  const owner = { companyId, userId: null }
  const large = 'x'.repeat(5 * 1024 * 1024)
  await t.rejects(adapterState(database, owner, { code: 'acme', isAdapter: true }).put('a', large), {
    message: 'The provider "acme" keeps too much in its state: at most 1000 keys and 4194304 bytes for each configuration. ' +
      'Delete what is not needed any more.'
  })
  await adapterState(database, owner, { code: 'acme' }).put('a', large)
})

await t.test('without a quota nothing is counted', async (t) => {
  const { company_id: companyId } = await opened()
  const state = createProviderState(database, { companyId, providerCode: 'simulator' })
  for (let nth = 0; nth < 3; nth++) await state.put(`k${nth}`, 'x'.repeat(1_000))
  t.equal((await kept(companyId)).length, 3)
})

await t.test('what has a time to live counts no longer than that, makes room, and is swept away', async (t) => {
  const { company_id: companyId } = await opened()
  const state = stateOf(companyId, { keys: 2 })
  const inPast = (key: string) =>
    sql`update provider_state set expires_at = ${later(-1)} where company_id = ${companyId} and key = ${key}`.execute(
      database.owner
    )
  await state.put('a', 1, { ttl: 3600 })
  await state.put('b', 1, { ttl: 3600 })
  t.same([await state.get('a'), await state.putIfAbsent('a', 2, { ttl: 60 })], [1, 1], 'as long as it lasts it stands')
  await t.rejects(state.put('c', 1), StateFull)
  await inPast('a')
  t.equal(await state.get('a'), undefined)
  t.equal(await state.putIfAbsent('a', 3), 3, 'what has expired is absent')
  t.equal(await state.get('a'), 3, 'and what is written without one lasts')
  await inPast('b')
  await state.put('c', 1)
  t.same((await kept(companyId)).map(([key]) => key), ['a', 'c'], 'what has expired makes room')
  await inPast('c')
  await forgetState(database, { before: await database.time(), limit: 1_000 })
  t.same((await kept(companyId)).map(([key]) => key), ['a'])
})
