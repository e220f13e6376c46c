import t from 'tap'
import { sumOfCounts } from '../counts.ts'

await t.test('what several call by one word is added up', (t) => {
  t.strictSame(sumOfCounts([{ a: 1, b: 2 }, {}, { b: 3 }, { b: 1, c: 0 }]), { a: 1, b: 6, c: 0 })
  t.strictSame(sumOfCounts([]), {})
  t.end()
})
