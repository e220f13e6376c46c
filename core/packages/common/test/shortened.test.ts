import { shortened } from '@dispatch/common'
import t from 'tap'

await t.test('a text is shortened to so many characters, and never ends in half of one', (t) => {
  t.equal(shortened('Ada', 3), 'Ada')
  t.equal(shortened('Ada Lovelace', 3), 'Ada')
  t.equal(shortened('Ada 🐎', 6), 'Ada 🐎')
  t.equal(shortened('Ada 🐎', 5), 'Ada ')
  t.equal(shortened('🐎🐎🐎', 4), '🐎🐎')
  t.end()
})
