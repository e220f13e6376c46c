import t from 'tap'
import { createDatabaseClock } from '../clock-skew.ts'

const start = Date.parse('2026-03-14T09:30:00Z')
const hour = 3_600_000

await t.test('a clock that is mended while the process runs is noticed within a minute, by one query for all who ask', async (t) => {
  let [elapsed, ahead, queries] = [0, hour, 0]
  const theirs = (): Date => new Date(start + elapsed)
  const clock = createDatabaseClock({
    time: () => {
      queries++
      return Promise.resolve(theirs())
    }
  }, { now: () => new Date(theirs().getTime() + ahead), skew: -hour / 1000, elapsed: () => elapsed })
  t.same(await clock(), theirs())
  elapsed = 59_000
  t.same(await clock(), theirs())
  t.equal(queries, 0, 'what was measured counts for a minute')
  ahead = 0
  elapsed = 60_000
  t.same(await Promise.all([clock(), clock()]), [theirs(), theirs()])
  t.equal(queries, 1)
  elapsed = 119_000
  t.same(await clock(), theirs())
  t.equal(queries, 1)
})

await t.test('where the database does not answer, the next who asks measures', async (t) => {
  let [elapsed, answers] = [0, false]
  const time = (): Promise<Date> => answers ? Promise.resolve(new Date(start)) : Promise.reject(new Error('away'))
  const clock = createDatabaseClock({ time }, { now: () => new Date(start), skew: 5, elapsed: () => elapsed })
  elapsed = 60_000
  await t.rejects(clock(), /away/)
  answers = true
  t.same(await clock(), new Date(start))
})
