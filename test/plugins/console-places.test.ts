import type { Json } from '@dispatch/common'
import t from 'tap'
import { placeIn } from '../../plugins/console/form/place.ts'
import { languages } from '../../plugins/console/language/language.ts'

const { en, fr } = languages
const shown = (path: string, whole?: Json, words = en): string =>
  placeIn(words, path, whole === undefined ? {} : { whole }).markup.replaceAll(/<\/?em>/g, '')

await t.test('items of lists are counted from 1, and a number that is a name stands as it is', (t) => {
  t.equal(shown('/template/data/lines/0/unitPrice'), 'Lines › 1 › Price of a unit')
  t.equal(shown('/template/data/lines/0/unitPrice', undefined, fr), 'Lignes › 1 › Prix unitaire')
  t.equal(shown('/email/to/9'), 'E-mail › To › 10')
  t.equal(shown('/template/data/rate/2026/amount'), 'Rate › 2026 › Amount')
  const whole = { template: { data: { lines: { 2026: { total: 'x' } }, rate: [{ amount: 'x' }] } } }
  t.equal(shown('/template/data/lines/2026/total', whole), 'Lines › 2026 › Total')
  t.equal(shown('/template/data/rate/0/amount', whole), 'Rate › 1 › Amount')
  t.equal(shown('/template/data/own/0'), '<code>/template/data/own/0</code>')
  t.end()
})
