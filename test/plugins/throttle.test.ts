import t from 'tap'
import { createThrottle } from '../../plugins/hooks/throttle.ts'

void t.test('a few come at once, those after them at an even pace', (t) => {
  const clock = { time: 1000 }
  const throttle = createThrottle({ burst: 3, every: 100, longest: 200, now: () => clock.time })
  t.same([1, 2, 3, 4, 5, 6, 7].map(() => throttle('a')), [0, 0, 0, 100, 200, undefined, undefined],
    'beyond the longest they are not counted')
  t.equal(throttle('b'), 0, 'each client has a pace of its own')
  clock.time += 100
  t.equal(throttle('a'), 200)
  clock.time += 600
  t.same([1, 2, 3, 4].map(() => throttle('a')), [0, 0, 0, 100], 'whoever waits long enough has the whole burst again')
  t.end()
})

void t.test('who was forgotten was in time', (t) => {
  const clock = { time: 0 }
  const throttle = createThrottle({ burst: 2, every: 100, longest: 1000, now: () => clock.time })
  for (let count = 0; count < 8; count++) throttle('late')
  clock.time = 250
  t.same([throttle('other'), throttle('late')], [0, 450], 'it is behind still')
  t.end()
})
