import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { createLoopTurns, type LoopTurns } from '../../plugins/hooks/loop-turns.ts'

const clock = { time: 0 }

/** Turns, and the names of what has begun, in order; `ask` wants one begun, `pass` lets so many turns of the loop pass. */
function open (): LoopTurns & { begun: string[], ask: (owner: string, line?: string) => void, pass: (turns: number) => Promise<void> } {
  const turns = createLoopTurns(() => clock.time)
  const begun: string[] = []
  return {
    ...turns,
    begun,
    ask (owner, line) {
      const turn = turns.next(owner, line)
      const name = line ?? owner
      if (turn === undefined) begun.push(name)
      else void turn.then(() => begun.push(name))
    },
    async pass (count) {
      for (let turn = 0; turn < count; turn++) await turnOfLoop()
    }
  }
}

await t.test('nobody waits who is alone, or where all are alike', (t) => {
  const { ask, begun } = open()
  for (let request = 0; request < 20; request++) for (const owner of ['a', 'b', 'c']) ask(owner)
  t.equal(begun.length, 60)
  t.end()
})

await t.test('who has begun less than another waits for no turn, and the other begins one request in each long turn', async (t) => {
  const { ask, begun, pass } = open()
  for (let request = 0; request < 20; request++) ask('many')
  ask('few')
  for (let request = 0; request < 20; request++) ask('many')
  t.equal(begun.length, 21, 'the first ones were alone')
  await pass(1)
  for (const length of [1, 2, 3, 4, 5]) {
    t.equal(begun.length, 21 + length)
    clock.time += 2
    await pass(1)
  }
  for (let request = 0; request < 20; request++) ask('few')
  t.same(begun.slice(27, 45), Array(18).fill('few'), 'as many as the other has begun, but for eight')
  clock.time += 10_000
  await pass(1)
  t.equal(begun.length, 61, 'nobody has begun far less any more')
})

await t.test('short turns have more of them, four at most', async (t) => {
  const { ask, begun, pass } = open()
  for (let request = 0; request < 20; request++) ask('many')
  ask('few')
  for (let request = 0; request < 40; request++) ask('many')
  const counts: number[] = []
  for (let turn = 0; turn < 6; turn++) {
    const before = begun.length
    await pass(1)
    counts.push(begun.length - before)
  }
  t.same(counts, [1, 2, 3, 4, 4, 4])
})

await t.test('connections that come are accepted before a request begins, for seven turns at most', async (t) => {
  const { ask, begun, pass, accepted } = open()
  for (let turn = 0; turn < 8; turn++) {
    accepted()
    ask('a')
    t.equal(begun.length, 0)
    await pass(1)
  }
  t.equal(begun.length, 1, 'one after the seven')
  await pass(1)
  t.equal(begun.length, 8, 'all in the next turn, when none came')
})

await t.test('who has begun least goes first', async (t) => {
  const { ask, begun, pass, accepted } = open()
  accepted()
  for (const owner of ['a', 'a', 'a', 'b']) ask(owner)
  await pass(1)
  await pass(1)
  t.equal(begun.join(''), 'abaa')
})

await t.test('the lines of an owner take its turns one after the other, and one that comes new goes first', async (t) => {
  const { ask, begun, pass, accepted } = open()
  accepted()
  for (const line of ['a', 'a', 'b', 'b', 'a']) ask('strangers', line)
  await pass(2)
  t.equal(begun.join(''), 'ababa')
  accepted()
  for (const line of ['a', 'b', 'new', 'new']) ask('strangers', line)
  await pass(2)
  t.equal(begun.slice(5).join(' '), 'new a b new')
})
