import { isMeantAsKey, isWellFormed } from '@dispatch/accounts'
import fc from 'fast-check'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { digestOf, makeKey, shownOf } from '../access/api-key.ts'

const keys = Array.from({ length: 200 }, (_, index) => makeKey(index % 2 === 0 ? 'live' : 'test').secret)

void t.test('a key says what it is, and no two are alike', (t) => {
  for (const [index, key] of keys.entries()) {
    contains(t, key, new RegExp(`^dk_${index % 2 === 0 ? 'live' : 'test'}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}$`))
  }
  t.equal(new Set(keys).size, keys.length)
  t.ok(keys.every(isMeantAsKey) && keys.every(isWellFormed))
  t.end()
})

void t.test('every character of the alphabet comes, wherever it may: there are 62^27 keys', (t) => {
  for (let place = 8; place < 35; place++) t.ok(new Set(keys.map((key) => key[place])).size > 40, `${place}`)
  t.end()
})

void t.test('one wrong character is found out by the checksum', (t) => {
  const [key = ''] = keys
  fc.assert(
    fc.property(fc.nat({ max: key.length - 1 }), fc.stringMatching(/^[0-9A-Za-z_.-]$/),
      (place, character) => character === key[place] || !isWellFormed(key.slice(0, place) + character + key.slice(place + 1)))
  )
  for (const wrong of [
    '',
    'dk_',
    key.slice(1),
    key.slice(0, -1),
    `${key} `,
    `${key}\n`,
    key.replace('live', 'test'),
    key.toLowerCase(),
    'dk_live__',
    `${key}${key}`
  ]) t.notOk(isWellFormed(wrong), wrong)
  t.end()
})

void t.test('what is shown and what is kept do not give the key away', (t) => {
  const [key = ''] = keys
  const { beginning, ending } = shownOf(key)
  has(t, [beginning, ending], [/^dk_live_[0-9A-Za-z]{4}$/, /^[0-9A-Za-z]{4}$/])
  t.ok(key.startsWith(beginning) && key.endsWith(ending))
  t.equal(digestOf(key).length, 32)
  t.notSame(digestOf(key), digestOf(keys[1] ?? ''))
  t.end()
})
