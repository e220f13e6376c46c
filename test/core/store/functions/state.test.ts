import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import type { Json } from '../../../../core/packages/common/json.ts'
import { createProviderState, keepForRun } from '../../../../core/store/vendor/provider-state.ts'
import { moment, openFunctions } from './support.ts'

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
  const told = await Promise.all([1, 2, 3].map((value) => keep(companyId, 'raced', value, { only_first: true })))
  t.equal(new Set(told).size, 1)
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
  const [state, strangers] = [companyId, stranger].map((id) => createProviderState(counting, id, 'simulator'))
  await state?.put('a', 1)
  t.equal(await state?.putIfAbsent('a', 2), 1)
  t.equal(await state?.putIfAbsent('b', null), null)
  t.equal(transactions, 0)
  t.same([await state?.get('a'), await state?.get('b'), await state?.get('c'), await strangers?.get('a')], [1, null, undefined, undefined])
})
