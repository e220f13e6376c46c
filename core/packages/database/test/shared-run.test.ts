import { sql } from 'kysely'
import t from 'tap'
import { seededDatabase } from '../../../../test/support/service.ts'
import { openDatabase } from '../database.ts'
import { createSharedRun } from '../shared-run.ts'
import { DatabaseUnavailable } from '../unavailable.ts'

await t.test('all that wait share the run that begins after them', async (t) => {
  let begun = 0
  let ends = Promise.withResolvers<undefined>()
  const requested = createSharedRun(async () => {
    begun++
    await ends.promise
  }, { minInterval: 0 })
  const [first, beside] = [requested(), requested()]
  await Promise.resolve()
  t.equal(begun, 1)
  const later = [requested(), requested(), requested()]
  await Promise.resolve()
  t.equal(begun, 1, 'the one under way may have begun before they asked')
  const { reject } = ends
  ends = Promise.withResolvers()
  reject(new Error('no disk'))
  await t.rejects(first, /no disk/)
  await t.rejects(beside, /no disk/)
  ends.resolve(undefined)
  await Promise.all(later)
  t.equal(begun, 2)
  await requested()
  t.equal(begun, 3)
})

await t.test('runs that are shared begin apart; who asks alone waits for nothing', async (t) => {
  let [time, runs] = [0, 0]
  const pauses: number[] = []
  const clock = {
    now: () => time,
    pause: (milliseconds: number) => {
      pauses.push(milliseconds)
      time += milliseconds
      return Promise.resolve()
    }
  }
  const requested = createSharedRun(() => {
    runs++
    time += 50
    return Promise.resolve()
  }, { minInterval: 200, clock })
  await requested()
  await requested()
  t.same([runs, pauses], [2, []], 'alone')
  await Promise.all([requested(), requested()])
  t.same([runs, pauses.splice(0)], [3, [150]], 'two at the same time')
  await requested()
  t.same([runs, pauses.splice(0)], [4, [150]], 'after two')
  await requested()
  t.same([runs, pauses], [5, []], 'alone again')
})

/** Makes a function that writes to the log of the server; it answers where. */
const writing = sql`create function written(given jsonb, moment timestamptz) returns pg_lsn language sql
  begin atomic select pg_logical_emit_message(true, 'test', ''); end`

await t.test('what a call has changed is on the disk when it is answered, alone and among others', async (t) => {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  await writing.execute(database.owner)
  const isOnDisk = async (companyId: number): Promise<boolean> => {
    const called = await database.callFunction(companyId, 'written', '{}')
    const { rows: [row] } = await sql<{ is: boolean }>`select pg_current_wal_flush_lsn() > ${called?.answer}::pg_lsn as is`
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
  await sql`create function done(given jsonb, moment timestamptz) returns boolean language sql return true`.execute(database.owner)
  const call = () => database.callFunction(1, 'done', '{}')
  t.equal((await call())?.answer, true, 'alone, its own commit waits')
  const [alone, ...others] = await Promise.allSettled([call(), call(), call()])
  t.equal(alone.status, 'fulfilled')
  for (const other of others) {
    t.ok(other.status === 'rejected' && other.reason instanceof DatabaseUnavailable && other.reason.uncertain)
  }
})
