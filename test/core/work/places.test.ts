import t from 'tap'
import { createWorkSemaphore } from '../../../core/work/queue/work-semaphore.ts'

void t.test('work has its place until its end, and whoever gave it waits only until it has begun', async (t) => {
  const places = createWorkSemaphore(1)
  const [first, second] = [work(), work()]
  await places.begin(first.run)
  t.ok(first.hasStarted())
  const secondGiven = places.begin(second.run)
  await turns()
  t.notOk(second.hasStarted(), 'there is one place')
  first.end()
  await secondGiven
  t.ok(second.hasStarted())
})

void t.test('who has waited longest gets the place', async (t) => {
  const places = createWorkSemaphore(2)
  const all = Array.from({ length: 4 }, () => work())
  const given = all.map(({ run }) => places.begin(run))
  await Promise.all(given.slice(0, 2))
  all[1]?.end()
  await given[2]
  t.notOk(all[3]?.hasStarted())
  for (const { end } of all) end()
  await Promise.all(given)
})

void t.test('whoever asks for a free place waits behind those who wait for one, and takes none', async (t) => {
  const places = createWorkSemaphore(1)
  const [first, second] = [work(), work()]
  await places.begin(first.run)
  const secondGiven = places.begin(second.run)
  let free = false
  const asked = places.free().then(() => {
    free = true
  })
  first.end()
  await secondGiven
  await turns()
  t.notOk(free)
  second.end()
  await asked
  await places.free()
})

/** Lets everything go on that waits for nothing else. */
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function work () {
  const ended = Promise.withResolvers<undefined>()
  let started = false
  return {
    run: (): Promise<undefined> => {
      started = true
      return ended.promise
    },
    hasStarted: () => started,
    end: () => ended.resolve(undefined)
  }
}
