import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createThreads, type Threads, type ThreadsOptions } from '../threads/threads.ts'

function start (t: Test, options: Partial<ThreadsOptions> = {}): Threads<{ wait: number, work: number }, string> {
  const threads = createThreads<{ wait: number, work: number }, string>({
    module: new URL('thread-fixture.ts', import.meta.url),
    threads: 1,
    idle: 10,
    waiting: 20,
    memoryLimit: 64,
    ...options
  })
  t.teardown(() => threads.close())
  return threads
}

await t.test('the time in which a thread does not run is not the job\'s', async (t) => {
  t.equal(await start(t).run(1, { wait: 1200, work: 50 }, 0.3), 'done')
})

await t.test('a job that works for too long is stopped, and the next one is done', async (t) => {
  const threads = start(t)
  await t.rejects(threads.run(1, { wait: 0, work: 60_000 }, 0.3), { name: 'ThreadStopped', limit: 'time' })
  t.equal(await threads.run(1, { wait: 0, work: 0 }, 0.3), 'done')
})

await t.test('a job whose thread does not start is one that found no thread: nothing of it is too much', async (t) => {
  const module = new URL('late-thread-fixture.ts', import.meta.url)
  await t.rejects(start(t, { module, startLimit: 200 }).run(1, { wait: 0, work: 0 }, 0.3), { name: 'SemaphoreFull' })
})

await t.test('a large job is loaded once a thread is free for it; one that cannot be leaves the thread to the next', async (t) => {
  const threads = start(t)
  const order: string[] = []
  const first = threads.run(1, { wait: 0, work: 50 }, 5).then(() => order.push('first is done'))
  const second = threads.runLoaded(2, () => {
    order.push('second is loaded')
    return Promise.reject(new Error('no disk'))
  }, 5)
  await t.rejects(second, { message: 'no disk' })
  await first
  t.same(order, ['first is done', 'second is loaded'])
  t.equal(await threads.run(3, { wait: 0, work: 0 }, 5), 'done')
})

await t.test('who has used less processor time goes first, also after a job that was stopped', async (t) => {
  const threads = start(t)
  const done: string[] = []
  const run = async (companyId: number, work: number, seconds: number): Promise<void> => {
    await threads.run(companyId, { wait: 0, work }, seconds).catch(() => undefined)
    done.push(`${companyId}: ${work}`)
  }
  await Promise.all([run(1, 200, 5), run(1, 1, 5), run(2, 50, 5), run(2, 2, 5), run(2, 3, 5), run(3, 9999, 0.4), run(3, 1, 5)])
  t.same(done, ['1: 200', '2: 50', '3: 9999', '2: 2', '2: 3', '1: 1', '3: 1'])
})

await t.test('one company leaves a thread to the others, and a third is served beside two that take all they can get', async (t) => {
  const threads = start(t, { threads: 2 })
  const done: string[] = []
  const run = async (name: string, companyId: number, work: number): Promise<void> => {
    await threads.run(companyId, { wait: 0, work }, 30)
    done.push(name)
  }
  await Promise.all([run('long', 1, 1500), run('next', 1, 1), run('of another', 2, 1)])
  t.same(done, ['of another', 'long', 'next'])
})

await t.test('where the jobs of a company wait, the thread that is kept for others is started once there are others', async (t) => {
  const started: Worker[] = []
  process.on('worker', (worker) => started.push(worker))
  const threads = start(t, { threads: 2 })
  const run = (companyId: number): Promise<string> => threads.run(companyId, { wait: 0, work: 50 }, 5)
  const oneBehindAnother = async (): Promise<void> => {
    const first = run(1)
    await setImmediate()
    await Promise.all([first, run(1)])
  }
  await oneBehindAnother()
  t.equal(started.length, 1)
  await run(2)
  t.equal(started.length, 1)
  await oneBehindAnother()
  t.equal(started.length, 2)
})
