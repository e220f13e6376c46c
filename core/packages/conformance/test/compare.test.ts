import t from 'tap'
import { matches } from '../../../../test/support/matching.ts'
import { compareRequest, differs } from '../run/compare.ts'
import { decode } from '../vendor/requests.ts'

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

await t.test('related parts are compared by their places, and are no form', (t) => {
  const filling = { reference: '', idempotencyKey: '', now: '', request: {}, documents: new Map([['/document', Buffer.from('%PDF-2.0')]]) }
  const parts = ['--b', 'Content-Type: application/json', '', '{"name":"a"}', '--b', 'Content-Type: application/pdf', '', '%PDF-2.0',
    '--b--', '']
  const body = Buffer.from(parts.join('\r\n'))
  const compared = (contentType: string, expected: object): string[] =>
    compareRequest({ method: 'POST', url: 'https://a.test/x', ...expected }, {
      ...{ method: 'POST', host: 'a.test', path: '/x', query: {}, search: [], headers: {}, body },
      ...decode(contentType, body)
    }, filling)
  const related = 'multipart/related; type="application/json"; boundary=b'
  const file = { document: '/document', contentType: 'application/pdf' }
  t.strictSame(compared(related, { related: [{ json: { name: 'a' } }, file] }), [])
  t.strictSame(compared(related, { related: [{ json: { name: 'b' } }, file] }), ['The part "0" at /name is "a"; expected "b".'])
  t.strictSame(compared(related, { related: [file] }), ['The parts are 0, 1; expected 0.'])
  matches(t, compared(related, { multipart: { 0: 'x' } }).join(), /^The body is not multipart/)
  matches(t, compared('multipart/form-data; boundary=b', { related: [file] }).join(), /^The body has no related parts/)
  t.end()
})

await t.test('a part of a document is compared with that part, which the fixture names', (t) => {
  const filling = { reference: '', idempotencyKey: '', now: '', request: {}, documents: new Map([['/document', Buffer.from('%PDF-2.0')]]) }
  const compared = (body: string, range: string, headers?: Record<string, string>): string[] =>
    compareRequest({ method: 'PUT', url: 'https://a.test/x', document: '/document', ...(headers !== undefined && { headers }) }, {
      method: 'PUT',
      host: 'a.test',
      path: '/x',
      query: {},
      search: [],
      headers: { 'content-range': range },
      body: Buffer.from(body)
    }, filling)
  const first = { 'Content-Range': 'bytes 0-3/8' }
  t.strictSame(compared('%PDF', 'bytes 0-3/8', first), [])
  t.strictSame(compared('-2.0', 'bytes 4-7/8', { 'content-range': 'bytes 4-7/8' }), [])
  t.strictSame(compared('-2.0', 'bytes 0-3/8', first), ['The body is not the document at "/document": 4 bytes instead of 4.'])
  t.strictSame(compared('%PD', 'bytes 0-2/8', first), ['The header "Content-Range" is "bytes 0-2/8"; expected "bytes 0-3/8".'])
  t.strictSame(compared('%PDF', 'bytes 0-3/8'), ['The body is a part of a document (bytes 0-3/8): name its "Content-Range" in "headers".'])
  t.end()
})
