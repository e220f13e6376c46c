import { openQueue, type Queue } from '@dispatch/queue'
import t, { type Test } from 'tap'
import { seededDatabase, startService } from '../../support/service.ts'

async function open (t: Test): Promise<Queue> {
  const databaseUrl = await seededDatabase(t)
  const { app } = await startService(t, { databaseUrl, config: { runsWorker: false } })
  const queue = await openQueue({ databaseUrl, database: app.get('database'), log: app.get('log') })
  t.teardown(() => queue.close())
  return queue
}

await t.test('two companies whose receivers do not answer delay no callback of a third one', async (t) => {
  const queue = await open(t)
  const silent = Promise.withResolvers<undefined>()
  const done = Promise.withResolvers<undefined>()
  const full = Promise.withResolvers<undefined>()
  let waiting = 0
  await queue.work('callback', async ({ companyId }) => {
    if (companyId === 3) {
      done.resolve(undefined)
      return
    }
    if (++waiting === 12) full.resolve(undefined)
    await silent.promise
  }, 16)
  await queue.send('callback',
    [1, 2].flatMap((companyId) => Array.from({ length: 100 }, (_, number) => ({ data: { companyId }, key: `${companyId} ${number}` }))))
  await full.promise
  await queue.send('callback', [{ data: { companyId: 3 }, key: '3' }])
  await done.promise
  t.ok(waiting <= 32, `each of the two has as many under way as there are places: ${waiting}`)
  silent.resolve(undefined)
})

await t.test('150 dispatches of one company at a slow vendor stand before none of another, and it has most of the places', async (t) => {
  const queue = await open(t)
  const begun = new Map<number, number>()
  const [full, others] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const permits: { release: () => void }[] = []
  await queue.begin('dispatch', (jobs) => {
    for (const { data: { companyId }, permit } of jobs) {
      if (companyId === 1) permits.push(permit)
      else permit.release()
      begun.set(companyId, (begun.get(companyId) ?? 0) + 1)
    }
    if (begun.get(1) === 12) full.resolve(undefined)
    if (begun.get(2) === 3) others.resolve(undefined)
    return Promise.resolve()
  }, 16)
  const jobsOf = (companyId: number, many: number, priority: number) =>
    Array.from({ length: many }, (_, number) => {
      const dispatchId = `${companyId} ${number}`
      return { data: { companyId, dispatchId }, key: dispatchId, priority }
    })
  await queue.send('dispatch', jobsOf(1, 150, 10))
  await full.promise
  await queue.send('dispatch', jobsOf(2, 3, 1))
  await others.promise
  t.strictSame([...begun], [[1, 12], [2, 3]], 'of 16 places')
  for (const permit of permits) permit.release()
})
