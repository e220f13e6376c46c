import fc from 'fast-check'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createBatcher } from '../batcher.ts'

type Message = PromiseWithResolvers<(string | Promise<string>)[]> & { given: readonly string[] }

/** Messages that end when the test says so. */
function messages (options: { maxBatch: number, timeoutMs: number }) {
  const sent: Message[] = []
  const { put } = createBatcher<string, string>((given) => {
    const message = { given, ...Promise.withResolvers<(string | Promise<string>)[]>() }
    sent.push(message)
    return message.promise
  }, options)
  const answer = async (nth: number): Promise<void> => {
    sent[nth]?.resolve(sent[nth].given.map((value) => `${value}!`))
    await pause(0)
  }
  return { put, answer, sent, given: () => sent.map((message) => message.given.join(' ')) }
}

await t.test('what comes while a message is under way goes with the next one, in its order; another key waits for none', async (t) => {
  const { put, answer, given } = messages({ maxBatch: 3, timeoutMs: 10_000 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((one) => put(one, 'line'))
  const other = put('z', 'other')
  t.strictSame(given(), ['a', 'z'])
  await answer(0)
  t.strictSame(given(), ['a', 'z', 'b c d'])
  await answer(2)
  await answer(3)
  await answer(1)
  t.strictSame(given(), ['a', 'z', 'b c d', 'e'])
  t.strictSame(await Promise.all([...all, other]), ['a!', 'b!', 'c!', 'd!', 'e!', 'z!'])
  const later = put('f', 'line')
  t.equal(given().at(-1), 'f', 'nothing is under way any more')
  await answer(4)
  t.equal(await later, 'f!')
})

await t.test('a message that takes long keeps nobody waiting', async (t) => {
  const { put, answer, given } = messages({ maxBatch: 8, timeoutMs: 20 })
  const [stuck, next] = [put('stuck', 'line'), put('next', 'line')]
  await pause(60)
  t.strictSame(given(), ['stuck', 'next'])
  await answer(1)
  t.equal(await next, 'next!')
  await answer(0)
  t.equal(await stuck, 'stuck!')
})

await t.test('each call gets its own answer or error; where a message fails, all of its calls do', async (t) => {
  const { put, answer, sent } = messages({ maxBatch: 8, timeoutMs: 10_000 })
  const [first, second, third] = [put('first', 'line'), put('second', 'line'), put('third', 'line')]
  await answer(0)
  sent[1]?.resolve([Promise.reject(new Error('wrong')), 'right'])
  await Promise.all([first, t.rejects(second, /wrong/), third.then((value) => t.equal(value, 'right'))])
  const [alone, ...others] = [put('alone', 'line'), put('one', 'line'), put('two', 'line')]
  await answer(2)
  sent[3]?.reject(new Error('gone'))
  await Promise.all([alone, ...others.map((other) => t.rejects(other, /gone/))])
})

await t.test('no batch has more items or bytes than it may, but for one that is larger alone; all come once, in their order', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), async (sizes, maxBatch) => {
    const batches: { nth: number, size: number }[][] = []
    const { put, pending, drain } = createBatcher<{ nth: number, size: number }, undefined>(async (batch) => {
      batches.push([...batch])
      await Promise.resolve()
    }, { maxBatch, maxBytes: 25, bytesOf: ({ size }) => size })
    const all = sizes.map((size, nth) => put({ nth, size }))
    t.equal(pending(), sizes.length)
    await drain()
    t.equal(pending(), 0)
    await Promise.all(all)
    t.strictSame(batches.flat().map(({ nth }) => nth), sizes.map((_, nth) => nth))
    for (const batch of batches) {
      t.ok(batch.length <= maxBatch)
      t.ok(batch.length === 1 || batch.reduce((sum, { size }) => sum + size, 0) <= 25)
    }
  }), { numRuns: 50 })
})
