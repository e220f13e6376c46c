import t from 'tap'
import { createRecentOthers } from '../recent-others.ts'

await t.test('a company is told of others that have begun something lately, and not of itself', (t) => {
  const clock = { time: 0 }
  const { begin, besides } = createRecentOthers(1000, () => clock.time)
  t.notOk(besides(1), 'nobody')
  begin(1)
  t.notOk(besides(1), 'itself')
  t.ok(besides(2))
  clock.time = 500
  begin(2)
  begin(2)
  t.ok(besides(1))
  t.ok(besides(2), 'the first one, before')
  clock.time = 1000
  t.notOk(besides(2), 'that was a second ago')
  t.ok(besides(1))
  clock.time = 1500
  t.notOk(besides(1))
  t.end()
})
