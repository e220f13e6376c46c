import { sql } from 'kysely'
import t from 'tap'
import { openDatabase } from '../../../core/store/db/database.ts'
import { createGroupCommit } from '../../../core/store/db/group-commit.ts'
import { DatabaseUnavailable } from '../../../core/store/db/unavailable.ts'
import { seededDatabase } from '../../support/service.ts'

await t.test('all that wait share the flush that begins after them', async (t) => {
  let begun = 0
  let ends = Promise.withResolvers<undefined>()
  const flushed = createGroupCommit(async () => {
    begun++
    await ends.promise
  })
  const [first, beside] = [flushed(), flushed()]
  await Promise.resolve()
  t.equal(begun, 1)
  const later = [flushed(), flushed(), flushed()]
  await Promise.resolve()
  t.equal(begun, 1, 'the one under way may have begun before they were committed')
  const { reject } = ends
  ends = Promise.withResolvers()
  reject(new Error('no disk'))
  await t.rejects(first, /no disk/)
  await t.rejects(beside, /no disk/)
  ends.resolve(undefined)
  await Promise.all(later)
  t.equal(begun, 2)
  await flushed()
  t.equal(begun, 3)
})

/** A call that writes to the log of the server; it answers where. */
const writing = sql<{ place: string }>`pg_logical_emit_message(true, 'test', '') as place`

await t.test('what a call has changed is on the disk when it is answered, alone and among others', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  const isOnDisk = async (companyId: number): Promise<boolean> => {
    const called = await database.callFunction(companyId, writing)
    const { rows: [row] } = await sql<{ is: boolean }>`select pg_current_wal_flush_lsn() > ${called?.place}::pg_lsn as is`
      .execute(database.vital)
    return row?.is ?? false
  }
  t.equal(await isOnDisk(1), true)
  for (let round = 0; round < 5; round++) {
    t.strictSame(new Set(await Promise.all(Array.from({ length: 12 }, (_, nth) => isOnDisk(nth)))), new Set([true]))
  }
})

await t.test('where the disk cannot be waited for, nobody knows whether a change lasts', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  for (const message of ['text', 'bytea']) {
    const signature = sql.raw(`pg_catalog.pg_logical_emit_message(boolean, text, ${message}, boolean)`)
    await sql`alter function ${signature} rename to nothing`.execute(database.owner)
  }
  const call = (): Promise<unknown> => database.callFunction(1, sql<{ done: boolean }>`true as done`)
  t.strictSame(await call(), { done: true }, 'alone, its own commit waits')
  const [alone, ...others] = await Promise.allSettled([call(), call(), call()])
  t.equal(alone.status, 'fulfilled')
  for (const other of others) {
    t.ok(other.status === 'rejected' && other.reason instanceof DatabaseUnavailable && other.reason.doubtful)
  }
})
