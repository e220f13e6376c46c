import t from 'tap'
import { differs } from '../fixtures/compare.ts'

await t.test('each difference inside of a value is told with its JSON pointer', (t) => {
  const expected = { lines: [{ amount: 12, 'a/b': 1 }], kept: 'yes', list: [1, 2], text: 'at {{any}}' }
  const actual = { lines: [{ amount: '12', 'a/b': 2 }], more: true, list: [1], text: 'at noon' }
  t.strictSame(differs('JSON', expected, actual), [
    'The JSON at /lines/0/amount is "12"; expected 12.',
    'The JSON at /lines/0/a~1b is 2; expected 1.',
    'The JSON at /kept is missing; expected "yes".',
    'The JSON at /list/1 is missing; expected 2.',
    'The JSON at /more is true; expected nothing.'
  ])
  t.end()
})

await t.test('a value of another kind is told as a whole, and an equal one not at all', (t) => {
  t.strictSame(differs('JSON', { a: 1 }, ['a']), ['The JSON is ["a"]; expected {"a":1}.'])
  t.strictSame(differs('path', '/v1/{{any}}/send', '/v1//send'), ['The path is "/v1//send"; expected "/v1/{{any}}/send".'])
  t.strictSame(differs('answer', { id: null, of: [{}] }, { id: null, of: [{}] }), [])
  t.end()
})
