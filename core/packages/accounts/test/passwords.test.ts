import { hashPassword, measureHashing, passwordMatches, unusableHash } from '@dispatch/accounts'
import { parseOptions } from '@node-rs/argon2'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { startService } from '../../../../test/support/service.ts'
import { hashingPace } from '../access/passwords.ts'

await t.test('how long a password takes is measured once the service listens, and no start waits for it', async (t) => {
  let measured = 0
  const measurePasswords = (): Promise<never> => {
    measured++
    return new Promise(() => undefined)
  }
  await startService(t, { replacements: { measurePasswords } })
  t.equal(measured, 1)
  await measureHashing()
  t.ok(hashingPace.took() < 2_000)
})

await t.test('a password matches its own hash and no other', async (t) => {
  const hash = await hashPassword('correct horse')
  t.equal(await passwordMatches(hash, 'correct horse'), true)
  t.equal(await passwordMatches(hash, 'Correct horse'), false)
  t.equal(await passwordMatches(hash, 'correct horse '), false)
  t.equal(await passwordMatches(hash, ''), false)
})

await t.test('a hash is argon2id with 19 MiB, two passes, one lane, and a salt of its own', async (t) => {
  const [one, other] = [await hashPassword('same'), await hashPassword('same')]
  contains(t, one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(one, other)
})

await t.test('a password typed in another Unicode composition is the same password', async (t) => {
  t.equal(await passwordMatches(await hashPassword('caf\u00e9'), 'cafe\u0301'), true)
})

await t.test('the unusable hash costs what a real one costs and has no password', async (t) => {
  t.same(parseOptions(unusableHash), parseOptions(await hashPassword('anything')))
  for (const password of ['', 'anything', '\0', 'A'.repeat(43)]) t.equal(await passwordMatches(unusableHash, password), false)
})

await t.test('a stored hash that is none is a fault, not a wrong password', async (t) => {
  await t.rejects(passwordMatches('not a hash', 'anything'))
})

await t.test('a flood of new passwords waits its turn, and what is beyond is refused', async (t) => {
  const made = await Promise.allSettled(Array.from({ length: 2100 }, () => hashPassword('a password')))
  const refused = made.flatMap((one) => one.status === 'rejected' ? [one.reason as unknown] : [])
  t.ok(refused.length < made.length)
  has(t, refused[0], { word: 'rate_limited', retryAfter: 2 })
  t.ok(await passwordMatches(await hashPassword('a password'), 'a password'), 'then there is room again')
})
