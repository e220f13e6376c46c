import { DispatchError } from '@dispatch/contract'
import fc from 'fast-check'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { readAuthorization } from '../access/authorization.ts'
import { basic } from './fixtures/access.ts'

await t.test('Basic carries e-mail and password in UTF-8; the password may hold colons and be empty', (t) => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !/\p{Cc}/u.test(value))
  fc.assert(fc.property(text.filter((email) => !email.includes(':')), text, (email, password) => {
    t.same(readAuthorization(basic(email, password)), { scheme: 'basic', email, password })
  }))
  t.same(readAuthorization(basic('ada@example.com', ':a:b:')), { scheme: 'basic', email: 'ada@example.com', password: ':a:b:' })
  t.same(readAuthorization(basic('\ufeffa', '')), { scheme: 'basic', email: '\ufeffa', password: '' })
  t.end()
})

await t.test('Bearer carries a token', (t) => {
  t.same(readAuthorization('Bearer abc.DEF_1-2~+/=='), { scheme: 'bearer', token: 'abc.DEF_1-2~+/==' })
  t.end()
})

await t.test('the scheme has no case, and spaces around the value mean nothing', (t) => {
  t.same(readAuthorization('bEARER   abc '), { scheme: 'bearer', token: 'abc' })
  t.same(readAuthorization(`BASIC ${basic('a', 'b').slice(6)}`), { scheme: 'basic', email: 'a', password: 'b' })
  t.end()
})

await t.test('an absent header is required', (t) => {
  for (const value of [undefined, '']) t.throws(() => readAuthorization(value), { word: 'unauthorized', message: /header is required/ })
  t.end()
})

await t.test('anything else is malformed', (t) => {
  const malformed = [
    ' ',
    'Basic',
    'Basic ',
    'Bearer',
    'Bearer ',
    'Digest abc',
    'Bearer a b',
    'Bearer a,b',
    'Bearerabc',
    'Basic=abc',
    'Basic YTpi, Bearer abc',
    'Bearer é',
    'Basic YWJj',
    'Basic YTpi!',
    'Basic YT-_',
    'Basic YTpi===',
    'Basic =',
    'Bearer =',
    'Bearer a\nb',
    `Basic ${Buffer.from([0x61, 0x3a, 0xff]).toString('base64')}`,
    basic('a\0', 'b'),
    basic('a', 'b\n'),
    basic('a', '\u0085'),
    `Bearer ${'a'.repeat(8186)}`
  ]
  for (const value of malformed) {
    t.throws(() => readAuthorization(value), { word: 'unauthorized', message: /is malformed/ }, JSON.stringify(value))
  }
  has(t, readAuthorization(`Bearer ${'a'.repeat(8185)}`), { scheme: 'bearer' })
  t.end()
})

await t.test('no header does anything but carry credentials or be unauthorized', (t) => {
  const tails = fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' }))
  fc.assert(fc.property(fc.constantFrom('', 'Basic ', 'basic  ', 'Bearer '), tails, (scheme, tail) => {
    try {
      return ['basic', 'bearer'].includes(readAuthorization(scheme + tail).scheme)
    } catch (error) {
      return error instanceof DispatchError && error.word === 'unauthorized'
    }
  }), { numRuns: 500 })
  t.end()
})
