import { isUuid } from '@dispatch/common'
import t from 'tap'

const cases: [string, string, boolean][] = [
  ['a UUID in small letters', '0199a000-0000-7000-8000-00000000abcd', true],
  ['in capital letters', '0199A000-0000-7000-8000-00000000ABCD', false],
  ['without its dashes', '0199a0000000700080000000000abcd0', false],
  ['with a digit too many', '0199a000-0000-7000-8000-00000000abcd0', false],
  ['with a letter that is no digit', '0199a000-0000-7000-8000-00000000abcg', false],
  ['with a line end behind it', '0199a000-0000-7000-8000-00000000abcd\n', false],
  ['nothing', '', false]
]

for (const [what, text, expected] of cases) {
  void t.test(`a UUID as the service writes it: ${what}`, (t) => {
    t.equal(isUuid(text), expected)
    t.end()
  })
}
