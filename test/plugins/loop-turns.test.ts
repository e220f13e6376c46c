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

await t.test('an owner that is alone begins one request in each turn of the loop, the first at once', async (t) => {
  const { ask, begun, pass } = open()
  for (const owner of ['a', 'a', 'a']) ask(owner)
  t.equal(begun.length, 1)
  await pass(1)
  t.equal(begun.length, 2)
  await pass(1)
  t.equal(begun.length, 3)
  await pass(2)
  ask('a')
  t.equal(begun.length, 4, 'later it is at once again')
})

await t.test('who has begun less than another waits for no turn, and the other begins in every eighth', async (t) => {
  const { ask, begun, pass } = open()
  for (let request = 0; request < 40; request++) ask('many')
  await pass(11)
  t.equal(begun.length, 12)
  for (const owner of ['few', 'few', 'few', 'few', 'few', 'few']) ask(owner)
  t.same(begun.slice(12), ['few', 'few', 'few', 'few', 'few'], 'the sixth waits')
  await pass(32)
  t.same(begun.slice(17), ['few', 'many', 'many', 'many'])
  clock.time += 3_000
  await pass(2)
  t.same(begun.slice(21), ['many', 'many'], 'in every one again, when nobody has less any more')
})

await t.test('equals begin in turns, and who has begun least goes first', async (t) => {
  const { ask, begun, pass } = open()
  for (const owner of ['a', 'a', 'a', 'a', 'b', 'b']) ask(owner)
  await pass(10)
  t.equal(begun.join(''), 'ababaa')
})

await t.test('connections that come are accepted before the next request begins, for seven turns at most', async (t) => {
  const { ask, begun, pass, accepted } = open()
  ask('a')
  ask('a')
  ask('a')
  for (let turn = 0; turn < 7; turn++) {
    accepted()
    await pass(1)
  }
  t.equal(begun.length, 1)
  accepted()
  await pass(1)
  t.equal(begun.length, 2)
  await pass(1)
  t.equal(begun.length, 3, 'in the next turn, when none came')
})

await t.test('the lines of an owner take its turns one after the other, and one that comes new goes first', async (t) => {
  const { ask, begun, pass } = open()
  for (const line of ['a', 'a', 'b', 'b', 'a']) ask('strangers', line)
  await pass(2)
  t.equal(begun.join(''), 'aba', 'b came new')
  ask('strangers', 'new')
  ask('strangers', 'new')
  await pass(4)
  t.equal(begun.join(''), 'abanewbanew')
})
