import { setImmediate as turnOfLoop } from 'node:timers/promises'
import t from 'tap'
import { createLoopTurns, type LoopTurns } from '../../plugins/hooks/loop-turns.ts'
import { until } from '../core/work/support.ts'

const clock = { time: 0 }
const loop = { used: 0 }

/** Turns, and the names of what has begun, in order; `ask` wants one begun, `pass` lets so many turns of the loop pass. */
function open (): LoopTurns & { begun: string[], ask: (owner: string, line?: string) => void, pass: (turns: number) => Promise<void> } {
  const turns = createLoopTurns(() => clock.time, () => () => loop.used)
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
  await pass(20)
  t.equal(begun.length, 61, 'all have begun')
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
  t.equal(begun.length, 3, 'when none came, as many in each turn as keep it short')
  await pass(2)
  t.equal(begun.length, 8)
})

await t.test('who has begun least goes first', async (t) => {
  const { ask, begun, pass, accepted } = open()
  accepted()
  for (const owner of ['a', 'a', 'a', 'b']) ask(owner)
  await pass(4)
  t.equal(begun.join(''), 'abaa')
})

await t.test('the lines of an owner take its turns one after the other, and one that comes new goes first', async (t) => {
  const { ask, begun, pass, accepted } = open()
  accepted()
  for (const line of ['a', 'a', 'b', 'b', 'a']) ask('strangers', line)
  await pass(4)
  t.equal(begun.join(''), 'ababa')
  accepted()
  for (const line of ['a', 'b', 'new', 'new']) ask('strangers', line)
  await pass(4)
  t.equal(begun.slice(5).join(' '), 'new a b new')
})

await t.test('who has begun far more than another begins only while the loop is idle for a third, or after 25 ms', async (t) => {
  const { ask, begun, pass } = open()
  for (let request = 0; request < 20; request++) ask('many')
  ask('few')
  for (let request = 0; request < 3; request++) ask('many')
  loop.used = 0.7
  clock.time += 1
  await pass(1)
  await until('the first begins: nothing has begun in a turn before', () => begun.length === 22)
  clock.time += 24
  await pass(50)
  t.equal(begun.length, 22)
  ask('few')
  t.equal(begun.length, 23, 'who has begun less does not wait for that')
  clock.time += 1
  await until('the second begins after 25 ms', () => begun.length === 24)
  loop.used = 0.66
  clock.time += 1
  await until('the third while the loop is idle enough', () => begun.length === 25)
})

await t.test('those in lines begin beside a company only while the loop is mostly idle, or after 25 ms', async (t) => {
  const { ask, begun, pass } = open()
  for (let request = 0; request < 40; request++) ask('strangers', `line ${request}`)
  for (let request = 0; request < 25; request++) ask('busy company')
  ask('company')
  const before = begun.length
  for (let request = 0; request < 3; request++) ask('strangers', `late ${request}`)
  for (let request = 0; request < 16; request++) ask('busy company')
  loop.used = 0.6
  clock.time += 1
  await until('companies do not wait for that', () => begun.length === before + 17)
  t.same(begun.filter((name) => name.startsWith('late')), ['late 0'])
  clock.time += 24
  await pass(50)
  t.equal(begun.length, before + 17)
  clock.time += 1
  await until('the second begins after 25 ms', () => begun.includes('late 1'))
  loop.used = 0.3
  clock.time += 1
  await until('the third while the loop is idle', () => begun.includes('late 2'))
})
