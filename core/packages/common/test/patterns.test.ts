import fc from 'fast-check'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { patternFault } from '../patterns.ts'

await t.test('patterns that vendors\' texts have are tried', (t) => {
  for (const pattern of [
    '\\d+',
    '[a-z]{2}[0-9]',
    'https://([a-z0-9-]+)\\.example\\.com',
    '^test_',
    '_test_',
    'accounts\\.zoho\\.(com|eu|in|com\\.au|jp)',
    '[^)(*+?|]{1,20}\\|\\(\\)',
    '\\p{L}+',
    '(?<shard>eu|us)-\\d{1,2}',
    'a{3}b{4}c{5}d{6}',
    'a*?b+?c??'
  ]) t.equal(patternFault(pattern), undefined, pattern)
  t.end()
})

await t.test('one that may be tried for hours is refused, and what is none', (t) => {
  for (const pattern of ['(a+)+', '(?:a|a)*', '(a{1,9}){9}', 'a*a*a*a*', 'a?a?a?a?aaaa', '(a|a)(a|a)', '(a|b)|c']) {
    contains(t, patternFault(pattern), /^On some texts/, pattern)
  }
  for (const pattern of ['(', '[', 'a**', '\\', '(?=a*)?']) t.equal(patternFault(pattern), 'Not a regular expression.', pattern)
  t.end()
})

const atoms = fc.constantFrom('a', 'b', '[ab]', '[^b]', '.', '\\w', '(a)', '(a|b)', '(?:b)', 'a|b', '\\(', '[)]')
const times = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{1,}', '*?')
const patterns = fc.array(fc.tuple(atoms, times).map((both) => both.join('')), { maxLength: 12 }).map((parts) => parts.join(''))

await t.test('what is tried ends soon on the texts that are worst for it', (t) => {
  fc.assert(fc.property(patterns, fc.constantFrom('a', 'b', 'ab'), (pattern, letters) => {
    fc.pre(patternFault(pattern) === undefined)
    // Without an end this would take for longer than the test may: 500 letters that fit until the last one.
    new RegExp(`^(?:${pattern})$`, 'u').exec(`${letters.repeat(500 / letters.length - 1)}!`)
  }), { numRuns: 300 })
  t.end()
})
