import { createFairSemaphore, type FairSemaphore, type Permit } from '@dispatch/common'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'

/** Asks for permits in the order of the owners, and tells in which order they were granted. */
function asking (semaphore: FairSemaphore) {
  const granted: (number | string)[] = []
  const permits: Permit[] = []
  const ask = async (...owners: readonly (number | string)[]): Promise<void> => {
    for (const owner of owners) {
      void semaphore.acquire(owner).then((permit) => {
        if (permit === undefined) return
        granted.push(owner)
        permits.push(permit)
      })
    }
    await setImmediate()
  }
  /** Releases the permit that was granted first. */
  const release = async (cost?: number): Promise<void> => {
    permits.shift()?.release(cost)
    await setImmediate()
  }
  const releaseAll = async (): Promise<void> => {
    while (permits.length > 0) await release()
  }
  const park = async (): Promise<void> => {
    permits.shift()?.park()
    await setImmediate()
  }
  return { granted, ask, release, releaseAll, park }
}

void t.test('an owner has one job at a time, and waits for nobody else', async (t) => {
  const semaphore = createFairSemaphore({ waiting: 1 })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const job = (name: string) => async (): Promise<void> => {
    begun.push(name)
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const first = semaphore.run(1, job('first'))
  const second = semaphore.run(1, job('second'))
  await t.rejects(semaphore.run(1, job('third')), { name: 'SemaphoreFull' })
  const other = semaphore.run(2, job('other'))
  await setImmediate()
  t.strictSame(begun, ['first', 'other'])
  ends.shift()?.()
  await first
  ends.shift()?.()
  await other
  await setImmediate()
  t.strictSame(begun, ['first', 'other', 'second'])
  ends.shift()?.()
  await second
  await semaphore.run(1, () => Promise.resolve())
})

void t.test('jobs without a permit in time fail by the error of their semaphore, and other owners go on', async (t) => {
  const semaphore = createFairSemaphore({ waiting: Infinity, timeLimit: 20, full: () => new Error('busy') })
  const permit = await semaphore.acquire(1)
  const late = [1, 2, 3].map(() => semaphore.run(1, () => Promise.resolve('done')))
  t.equal(await semaphore.run(2, () => Promise.resolve('other')), 'other')
  for (const job of late) await t.rejects(job, { message: 'busy' })
  permit?.release()
  t.equal(await semaphore.run(1, () => Promise.resolve('done')), 'done')
})

void t.test('how many permits an owner may hold is asked at each turn', async (t) => {
  const share = { one: 2 }
  const { ask, granted, release } = asking(createFairSemaphore({ perOwner: () => share.one, waiting: 10 }))
  await ask(1, 1, 1, 1)
  t.same(granted, [1, 1])
  share.one = 1
  await release()
  t.same(granted, [1, 1], 'it still holds one')
  share.one = 3
  await release()
  t.same(granted, [1, 1, 1, 1])
})

void t.test('a place is always kept for an owner that holds none, and no more for those that hold some', async (t) => {
  const { ask, granted, release } = asking(createFairSemaphore({ total: 4, perOwner: 4, waiting: 10 }))
  await ask('a', 'a', 'a', 'a')
  t.strictSame(granted, ['a', 'a', 'a'], 'the last place is not for who holds others')
  await ask('b', 'b')
  t.strictSame(granted, ['a', 'a', 'a', 'b'])
  await ask('c')
  await release()
  t.equal(granted.at(-1), 'c', 'who holds none goes first, though it came last')
})

void t.test('owners take turns at a single place', async (t) => {
  const { ask, granted, releaseAll } = asking(createFairSemaphore({ total: 1, perOwner: 9, waiting: 10 }))
  await ask('a', 'a', 'a', 'b', 'b', 'c')
  await releaseAll()
  t.strictSame(granted, ['a', 'b', 'c', 'a', 'b', 'a'])
})

void t.test('the share of an owner shrinks when others come, and grows when they have gone', async (t) => {
  const { ask, granted, release, releaseAll } = asking(createFairSemaphore({ total: 9, perOwner: 9, waiting: 99 }))
  const last = (some: number): number[] => ['a', 'b'].map((owner) => granted.slice(-some).filter((one) => one === owner).length)
  await ask(...Array<string>(40).fill('a'))
  t.equal(granted.length, 8)
  await ask(...Array<string>(10).fill('b'))
  for (let ended = 0; ended < 8; ended++) await release()
  t.strictSame(last(8), [4, 4], 'each has half of the places')
  await releaseAll()
  t.strictSame(last(8), [8, 0], 'the other has gone')
  t.equal(granted.length, 50)
})

void t.test('whose work has cost less goes first, also after it was away', async (t) => {
  const { ask, granted, release } = asking(createFairSemaphore({ total: 1, perOwner: 1, waiting: 10 }))
  await ask('slow')
  await release(1000)
  await ask('other', 'slow', 'quick', 'quick')
  await release(10)
  await release(10)
  await ask('quick')
  await release(10)
  await release(10)
  t.strictSame(granted, ['slow', 'other', 'quick', 'quick', 'quick', 'slow'])
})

void t.test('of many owners that are away, the costs of the most expensive are remembered', async (t) => {
  const { ask, granted, release, releaseAll } = asking(createFairSemaphore({ total: 1, perOwner: 1, waiting: 10 }))
  for (let owner = 0; owner <= 2_000; owner++) {
    await ask(owner)
    await release(10 + owner)
  }
  granted.length = 0
  await ask('first', 2_000, 1_500, 0, 'new')
  await releaseAll()
  t.strictSame(granted, ['first', 0, 'new', 1_500, 2_000], 'the cheapest is as one that comes new')
})

void t.test('a parked permit leaves its place to others, and counts for its owner', async (t) => {
  const semaphore = createFairSemaphore({ total: 2, max: 4, perOwner: 3, kept: 0, waiting: 10 })
  const { ask, granted, park } = asking(semaphore)
  await ask('a', 'a', 'a', 'a', 'b', 'b')
  t.equal(granted.length, 2)
  await park()
  t.strictSame(granted, ['a', 'a', 'b'], 'who holds none is first')
  await park()
  t.strictSame(granted, ['a', 'a', 'b', 'b'])
  t.equal(semaphore.demand(), 1, 'of two that wait, one has a permit left')
  await park()
  t.equal(granted.length, 4, 'there are as many as there may be')
})

void t.test('a permit is given back once, however often it is released or parked', async (t) => {
  const semaphore = createFairSemaphore({ total: 1, waiting: 10 })
  const permit = await semaphore.acquire('a')
  const { ask, granted } = asking(semaphore)
  await ask('b', 'c', 'd')
  permit?.park()
  permit?.release()
  permit?.release()
  permit?.park()
  await setImmediate()
  t.strictSame(granted, ['b'])
})

void t.test('an owner that holds none finds a permit beyond what those with some may have together', async (t) => {
  const semaphore = createFairSemaphore({ total: 2, max: 4, maxInAll: 6, perOwner: 4, kept: 1, waiting: 10 })
  const parked = async (owner: string): Promise<void> => (await semaphore.acquire(owner))?.park()
  for (const owner of ['a', 'a', 'a', 'b', 'c']) await parked(owner)
  const again = semaphore.acquire('a')
  t.equal(semaphore.hasRoom(), true)
  await parked('d')
  t.equal(semaphore.hasRoom(), false, 'six in all')
  t.equal(await Promise.race([again.then(() => 'got'), semaphore.acquire('e').then(() => 'got'), setImmediate('waits')]), 'waits')
})

void t.test('where too many wait in all, the owner with the most of them gives one up, and of equals the lot decides', async (t) => {
  const lots = [0, 0, 0, 0, 0.5, 0]
  const semaphore = createFairSemaphore({ total: 1, waiting: 10, waitingInAll: 4, random: () => lots.shift() ?? 1 })
  const { ask, granted, releaseAll } = asking(semaphore)
  await ask('first', 'flood', 'flood', 'flood', 'flood')
  t.equal(semaphore.demand(), 1)
  await ask('flood')
  await ask('b', 'c', 'd', 'e', 'f')
  await releaseAll()
  t.strictSame(granted, ['first', 'flood', 'c', 'd', 'e'], 'e draws the lot of b, and f its own')
})

void t.test('an address that comes new is let into a queue that is full of those that had their turn, and goes first', async (t) => {
  const semaphore = createFairSemaphore({ total: 1, waiting: 10, waitingInAll: 3, random: () => 0 })
  const { ask, granted, release, releaseAll } = asking(semaphore)
  const flood = ['a', 'b', 'c', 'd']
  await ask(...flood)
  await releaseAll()
  // All have had a turn, and ask again at once.
  await ask(...flood)
  granted.length = 0
  await ask('new')
  await release()
  t.strictSame(granted, ['new'])
  await ask(...flood)
  await releaseAll()
  t.equal(granted.filter((one) => one === 'new').length, 1)
  t.equal(granted.length, 4, 'all places of the queue were used')
})

void t.test('who has gone leaves the queue, and nothing is done for them', async (t) => {
  const semaphore = createFairSemaphore({ waiting: 1 })
  const permit = await semaphore.acquire(1)
  const gone = new AbortController()
  const job = semaphore.run(1, () => Promise.reject(new Error('It was done.')), () => gone.signal)
  t.equal(await semaphore.acquire(1), undefined, 'the queue is full')
  gone.abort(new Error('It has gone.'))
  await t.rejects(job, { message: 'It has gone.' })
  await t.rejects(semaphore.run(1, () => Promise.resolve(), () => gone.signal), { message: 'It has gone.' })
  const next = semaphore.acquire(1)
  permit?.release()
  t.ok(await next, 'there was room again')
})

void t.test('once it is closed, whoever waits and whoever comes gets none', async (t) => {
  const semaphore = createFairSemaphore({ waiting: 10 })
  await semaphore.acquire(1)
  const waiting = [semaphore.acquire(1), semaphore.acquire(1)]
  semaphore.close()
  t.strictSame(await Promise.all([...waiting, semaphore.acquire(2)]), [undefined, undefined, undefined])
})
