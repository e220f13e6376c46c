import fc from 'fast-check'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { createRedactor } from '../notes/redact.ts'

/** Long enough to count, and nothing of the mark that replaces it. */
const secret = fc.string({ minLength: 4, maxLength: 40, unit: 'binary' }).filter((text) =>
  !'[redacted]'.includes(text) && !/redacted|[[\]]/.test(text)
)

await t.test('no secret remains in a text, wherever it stands', (t) => {
  fc.assert(fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), fc.array(fc.string()), (secrets, between) => {
    const text = createRedactor(secrets).text(secrets.flatMap((item, index) => [between[index] ?? '', item]).join('|'))
    return secrets.every((item) => !text.includes(item))
  }))
  t.end()
})

await t.test('no secret remains in JSON, in keys, texts or numbers', (t) => {
  const { json } = createRedactor(['12345', 'pass"word'])
  t.strictSame(json({ 'a pass"word': [12345, 1234, { b: 'pass"word12345' }], c: null, d: true, e: 0.12345 }), {
    'a [redacted]': ['[redacted]', 1234, { b: '[redacted][redacted]' }],
    c: null,
    d: true,
    e: '0.[redacted]'
  })
  t.end()
})

await t.test('a secret is found as JSON, a URL or a form writes it', (t) => {
  const odd = 'pass "word"\n+1/é'
  const { text } = createRedactor([odd])
  t.equal(text(JSON.stringify({ a: odd })), '{"a":"[redacted]"}')
  t.equal(text(`/a/${encodeURI(odd)}/b`), '/a/[redacted]/b')
  t.equal(text(`?a=${encodeURIComponent(odd)}&b`), '?a=[redacted]&b')
  t.equal(text(new URLSearchParams({ a: odd, b: 'c' }).toString()), 'a=[redacted]&b=c')
  t.end()
})

await t.test('a secret in a Basic header is found, whatever the user name\'s length', (t) => {
  for (const user of ['', 'a', 'ab', 'abc', 'abcd']) {
    const header = Buffer.from(`${user}:correct horse battery`).toString('base64')
    const text = createRedactor(['correct horse battery']).text(`Basic ${header}`)
    contains(t, text, /^Basic .*\[redacted\].{0,4}$/)
    t.ok(text.length < 30, text)
  }
  t.end()
})

await t.test('of two secrets that begin alike, the longer is replaced whole', (t) => {
  t.equal(createRedactor(['secret', 'secret-long']).text('a secret-long b secret c'), 'a [redacted] b [redacted] c')
  t.end()
})

await t.test('what is too short to be a secret garbles nothing', (t) => {
  t.equal(createRedactor(['', 'a', 'abc']).text('abcabc'), 'abcabc')
  t.equal(createRedactor([]).text('abc'), 'abc')
  t.end()
})

await t.test('without a secret in it, a value comes out as it went in', (t) => {
  fc.assert(fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
    const copy = JSON.parse(JSON.stringify(value)) as typeof value
    return JSON.stringify(createRedactor(['a secret that is not there']).json(copy as string)) === JSON.stringify(copy)
  }))
  t.end()
})

await t.test('a secret is replaced however long it is', (t) => {
  const key = 'é'.repeat(20_000)
  t.equal(createRedactor([key, 'short one']).text(`a ${key} b short one c`), 'a [redacted] b [redacted] c')
  t.end()
})

await t.test('a secret is found backwards and in hexadecimal, and in a vendor\'s id unless it is short', (t) => {
  const { text, id } = createRedactor(['cmp_canary_BBBB2222', '1234'])
  for (const form of ['2222BBBB_yranac_pmc', '636d705f63616e6172795f4242424232323232', '636D705F63616E6172795F4242424232323232']) {
    t.equal(text(`id ${form}.`), 'id [redacted].')
    t.equal(id(`id-${form}`), 'id-[redacted]')
  }
  t.equal(id(`id-${Buffer.from('cmp_canary_BBBB2222').toString('base64')}`).includes('Y2FuYXJ5'), false)
  t.equal(id('inv-1234'), 'inv-1234')
  t.end()
})
