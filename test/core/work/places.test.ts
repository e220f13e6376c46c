import t from 'tap'
import { createWorkSemaphore } from '../../../core/work/queue/work-semaphore.ts'

void t.test('work has its place until its end, and whoever gave it waits only until it has begun', async (t) => {
  const places = createWorkSemaphore(1)
  const [first, second] = [work(), work()]
  const firstGiven = places.begin(first.run)
  const secondGiven = places.begin(second.run)
  await first.started
  first.begun()
  await firstGiven
  t.notOk(second.hasStarted(), 'there is one place')
  first.end()
  await second.started
  second.begun()
  await secondGiven
})

void t.test('work that ends before it has begun is over for who gave it, with its error', async (t) => {
  const places = createWorkSemaphore(1)
  await t.rejects(places.begin(() => Promise.reject(new Error('the database is away'))), { message: 'the database is away' })
  await places.begin(() => Promise.resolve())
})

void t.test('an error after the beginning frees the place', async () => {
  const places = createWorkSemaphore(1)
  await places.begin((begun) => {
    begun()
    return Promise.reject(new Error('the lease ran out'))
  })
  await places.begin(() => Promise.resolve())
})

void t.test('who has waited longest gets the place', async (t) => {
  const places = createWorkSemaphore(2)
  const all = Array.from({ length: 4 }, () => work())
  const given = all.map(({ run }) => places.begin(run))
  await Promise.all([all[0]?.started, all[1]?.started])
  all[1]?.end()
  await all[2]?.started
  t.notOk(all[3]?.hasStarted())
  for (const { end } of all) end()
  await Promise.all(given)
})

function work () {
  const [started, ended] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  let begin: (() => void) | undefined
  return {
    run: (begun: () => void): Promise<undefined> => {
      begin = begun
      started.resolve(undefined)
      return ended.promise
    },
    started: started.promise,
    hasStarted: () => begin !== undefined,
    begun: () => begin?.(),
    end: () => ended.resolve(undefined)
  }
}
