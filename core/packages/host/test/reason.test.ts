import fc from 'fast-check'
import t from 'tap'
import { plainReason, withPlainReason } from '../contain/reason.ts'

void t.test('a reason is one line, without what cannot be seen', (t) => {
  for (const [text, plain] of [
    ['Wrong amount', 'Wrong amount'],
    ['  Wrong\r\n\tamount\u0000 ', 'Wrong amount'],
    ['a\u202eb\u2066c\u200bd\ufeffe', 'a b c d e'],
    ['Montant erroné : 1\u00a0000\u202f€', 'Montant erroné : 1 000 €'],
    // Joiners belong to words and emoji.
    ['👩\u200d🚀 नहीं\u200c', '👩\u200d🚀 नहीं\u200c'],
    ['half \ud83d of one', 'half of one'],
    ['<b>no</b>', '<b>no</b>'],
    ['\u2028\u0007', '']
  ] as const) t.equal(plainReason(text), plain)
  t.end()
})

void t.test('a reason has at most 500 characters, none of them cut in half', (t) => {
  t.equal(plainReason('x'.repeat(500)).length, 500)
  t.equal(plainReason('x'.repeat(501)), `${'x'.repeat(499)}…`)
  t.equal(plainReason(`${'x'.repeat(498)}🐎🐎`), `${'x'.repeat(498)}…`)
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (text) => {
    const plain = plainReason(text)
    return plain.length <= 500 && plain.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(plain) && plainReason(plain) === plain
  }))
  t.end()
})

void t.test('what has no reason in words has none', (t) => {
  t.strictSame(withPlainReason({ type: 'declined', reason: ' \n ' }), { type: 'declined' })
  t.strictSame(withPlainReason({ type: 'declined', reason: { code: 7 } }), { type: 'declined', reason: { code: 7 } })
  t.strictSame(withPlainReason({ type: 'declined' }), { type: 'declined' })
  t.end()
})
