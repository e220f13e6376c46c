import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import type { JsonObject } from '../../common/json.ts'
import { breaches, limitFaults, limitInWords, type ManifestLimits } from '../manifest/limits.ts'
import { Type } from '../provider.ts'

const short = Type.Unsafe({ maxLength: 3 })
const found = (limit: object, requested: JsonObject): string[] =>
  breaches([limit] as ManifestLimits, requested).map(({ path, message }) => `${path} ${message}`)

await t.test('what stands at the place must fit, and what is not there breaks nothing', (t) => {
  t.same(found({ at: '/data/number', fits: short }, { data: { number: 'F-1' } }), [])
  t.same(found({ at: '/data/number', fits: short }, { data: { number: 'F-12' } }), ['/data/number May have at most 3 characters.'])
  t.same(found({ at: '/data/number', fits: short }, { data: {} }), [])
  t.same(found({ at: '/data/number/x', fits: short }, { data: { number: 'F-12' } }), [])
  t.end()
})

await t.test('a star is every item of a list and every field of an object', (t) => {
  const lines = [{ text: 'abc' }, { text: 'abcd' }, {}, { text: 'abcde' }]
  t.same(found({ at: '/data/lines/*/text', fits: short }, { data: { lines } }), [
    '/data/lines/1/text May have at most 3 characters.',
    '/data/lines/3/text May have at most 3 characters.'
  ])
  t.same(found({ at: '/metadata/*', fits: short }, { metadata: { a: 'abc', 'b/c': 'abcd' } }), [
    '/metadata/b~1c May have at most 3 characters.'
  ])
  t.end()
})

await t.test('a limit holds only where it is meant to, and says why', (t) => {
  const limit = {
    at: '/settings/link',
    fits: false,
    when: { '/invoicing/documentType': Type.Enum(['QUOTE', 'CREDIT']) },
    because: 'There is no page.'
  }
  t.same(found(limit, { invoicing: { documentType: 'QUOTE' }, settings: { link: true } }), [
    '/settings/link Leave it out. There is no page.'
  ])
  t.same(found(limit, { invoicing: { documentType: 'INVOICE' }, settings: { link: true } }), [])
  t.same(found(limit, { invoicing: {}, settings: { link: true } }), [])
  t.end()
})

await t.test('limits are told in words', (t) => {
  const words: [object, string][] = [
    [
      { at: '/data/number', fits: Type.String({ maxLength: 30 }), when: { '/invoicing/documentType': Type.Literal('INVOICE') } },
      '/data/number: at most 30 characters (/invoicing/documentType: INVOICE)'
    ],
    [{ at: '/esign/expiresInDays', fits: Type.Integer({ minimum: 2, maximum: 60 }) }, '/esign/expiresInDays: at least 2, at most 60'],
    [{ at: '/settings/label', fits: false }, '/settings/label: not taken'],
    [{ at: '/a/b', fits: Type.Enum(['x', 'y']) }, '/a/b: x or y'],
    [{ at: '/a/b', fits: Type.String({ pattern: '^x$', description: 'an x' }) }, '/a/b: an x']
  ]
  for (const [limit, text] of words) t.equal(limitInWords(JSON.parse(JSON.stringify(limit)) as ManifestLimits[number]), text)
  t.end()
})

await t.test('a limit whose schema is none is a fault of the manifest', (t) => {
  has(t, limitFaults([{ at: '/a', fits: { pattern: '(' }, when: { '/b/c': { type: 'nothing' } } }], '/limits'), [
    { path: '/limits/0/fits', code: 'schema' },
    { path: '/limits/0/when/~1b~1c', code: 'schema' }
  ])
  t.same(limitFaults([{ at: '/a', fits: false }], '/limits'), [])
  t.end()
})
