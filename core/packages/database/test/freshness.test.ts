import type { KyselyPlugin } from 'kysely'
import t from 'tap'
import { createGate } from '../../../../test/support/gate.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { openDatabase } from '../database.ts'
import { createFreshCache } from '../fresh-cache.ts'
import { createFreshness } from '../freshness.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { connections: 4, onError: (error) => t.fail(error.message) })
t.teardown(() => database.close())
const freshness = createFreshness(database)

/** Something of a company changes: here the name of company 1 ("Platform") or 2 ("Demo"). */
const change = (companyId: number): Promise<unknown> =>
  database.owner.updateTable('companies').set({ name: crypto.randomUUID() }).where('company_id', '=', companyId).execute()

/** A cache of company ids that counts its reads. */
function countingCache (max?: number): { get: (companyId: number) => Promise<number>, reads: number[] } {
  const reads: number[] = []
  const cache = createFreshCache<number, number>(freshness, (_key, value) => value, max === undefined ? {} : { max })
  return {
    reads,
    get: (companyId) =>
      cache.get(companyId, () => {
        reads.push(companyId)
        return Promise.resolve(companyId)
      })
  }
}

await t.test('a value is read once, until its company changes', async (t) => {
  await freshness.check()
  const { get, reads } = countingCache()
  for (let times = 0; times < 3; times++) t.equal(await get(2), 2)
  t.strictSame(reads, [2])
  await change(2)
  await get(2)
  t.strictSame(reads, [2], 'before a check nobody knows')
  await freshness.check()
  await get(2)
  t.strictSame(reads, [2, 2])
})

await t.test('the change of another company leaves it', async (t) => {
  const { get, reads } = countingCache()
  await get(2)
  await change(1)
  await freshness.check()
  await get(2)
  t.strictSame(reads, [2])
})

await t.test('a value of company 0 ends with any change', async (t) => {
  const { get, reads } = countingCache()
  await get(0)
  await change(2)
  await freshness.check()
  await get(0)
  t.strictSame(reads, [0, 0])
})

await t.test('who comes together shares one read', async (t) => {
  const { get, reads } = countingCache()
  await Promise.all([get(2), get(2), get(2)])
  t.strictSame(reads, [2])
})

await t.test('a read that fails is not kept', async (t) => {
  const cache = createFreshCache<number, number>(freshness, () => 2)
  await t.rejects(cache.get(1, () => Promise.reject(new Error('away'))), { message: 'away' })
  t.equal(await cache.get(1, () => Promise.resolve(7)), 7)
})

await t.test('a value that was being read while its company changed is not kept', async (t) => {
  const cache = createFreshCache<number, string>(freshness, () => 2)
  const reading = Promise.withResolvers<string>()
  const first = cache.get(2, () => reading.promise)
  await change(2)
  await freshness.check()
  reading.resolve('old')
  t.equal(await first, 'old')
  t.equal(await cache.get(2, () => Promise.resolve('new')), 'new')
})

await t.test('nor is one that is still being read', async (t) => {
  const cache = createFreshCache<number, string>(freshness, () => 2)
  const reading = Promise.withResolvers<string>()
  const first = cache.get(2, () => reading.promise)
  await change(2)
  await freshness.check()
  t.equal(await cache.get(2, () => Promise.resolve('new')), 'new')
  reading.resolve('old')
  t.equal(await first, 'old')
})

await t.test('a cache is bounded: what was used longest ago goes first', async (t) => {
  const { get, reads } = countingCache(2)
  for (const company of [1, 2, 3, 2, 1]) await get(company)
  t.strictSame(reads, [1, 2, 3, 1])
})

await t.test('a check that begins after a commit knows of it, although another one is still under way', async (t) => {
  const gate = createGate()
  // Holds back what has been read.
  const plugin: KyselyPlugin = { transformQuery: ({ node }) => node, transformResult: ({ result }) => gate.pass().then(() => result) }
  const slow = createFreshness({ ...database, owner: database.owner.withPlugin(plugin) })
  const early = slow.check()
  await gate.reached
  await change(2)
  const { number } = await database.owner.selectFrom('changes').select('number').where('company_id', '=', 2).executeTakeFirstOrThrow()
  const late = Promise.all([slow.check(), slow.check()])
  gate.open()
  await early
  t.ok(slow.unchanged(2, Number(number) - 1))
  await late
  t.notOk(slow.unchanged(2, Number(number) - 1))
})

await t.test('a check that fails fails its callers only', async (t) => {
  const broken = createFreshness(openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/none' }, { onError: () => undefined }))
  await t.rejects(Promise.all([broken.check(), broken.check()]), { code: 'ECONNREFUSED' })
  await t.rejects(broken.check(), { code: 'ECONNREFUSED' })
})
