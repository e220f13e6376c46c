import t from 'tap'
import { requireGoodPassword } from '../access/password-rules.ts'

await t.test('a password is neither the e-mail address nor its first part, however they are written', (t) => {
  const refused = ['grace.hopper@example.com', 'GRACE.HOPPER@example.com', 'grace.hopper', 'Grace.Hopper']
  for (const password of refused) {
    t.throws(() => {
      requireGoodPassword(password, 'Grace.Hopper@Example.com')
    }, { word: 'validation_failed', message: /^\/password: / }, password)
  }
  for (const password of ['grace.hopper!', 'example.com', 'correct horse battery']) {
    t.doesNotThrow(() => {
      requireGoodPassword(password, 'grace.hopper@example.com')
    }, password)
  }
  t.end()
})
