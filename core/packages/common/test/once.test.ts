import { lazyUnlessFailed } from '@dispatch/common'
import t from 'tap'

void t.test('what fails is made again by whoever asks next, and what was made is kept', async (t) => {
  let made = 0
  const number = lazyUnlessFailed(() => ++made === 1 ? Promise.reject(new Error('away')) : Promise.resolve(made))
  const both = await Promise.allSettled([number(), number()])
  t.same(both.map(({ status }) => status), ['rejected', 'rejected'])
  t.equal(made, 1, 'those who wait for the same share it')
  t.same([await number(), await number()], [2, 2])
})
