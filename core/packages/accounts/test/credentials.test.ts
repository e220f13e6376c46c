import { type Account, ClientGone, createCredentials, createUnknownSecrets, hashPassword, onBehalfOf,
  passwordMatches } from '@dispatch/accounts'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createGate, type Gate } from '../../../../test/support/gate.ts'
import { has } from '../../../../test/support/matching.ts'
import { createPace } from '../access/password-semaphore.ts'
import { accountWith, createAccounts, createClock, somewhere } from './fixtures/access.ts'

function setUp (...list: Account[]) {
  const clock = createClock()
  const accounts = createAccounts(...list)
  const checks: { count: number, running: number, max: number, gate?: Gate } = { count: 0, running: 0, max: 0 }
  const matches: typeof passwordMatches = async (hash, password) => {
    checks.count++
    checks.max = Math.max(checks.max, ++checks.running)
    await checks.gate?.pass()
    return await passwordMatches(hash, password).finally(() => checks.running--)
  }
  const credentials = createCredentials({
    accounts,
    unknownSecrets: createUnknownSecrets(),
    now: clock.now,
    matches,
    pace: createPace(() => 0)
  })
  return {
    clock,
    accounts,
    checks,
    verify: (email: string, password: string, address = somewhere) => credentials.verify(email, password, address)
  }
}

await t.test('an e-mail and its password give the account', async (t) => {
  const { verify } = setUp(accountWith())
  has(t, await verify('ada@example.com', 'correct horse'), { userId: 7, companyId: 3 })
})

await t.test('the case and the composition of an e-mail do not matter', async (t) => {
  const { verify } = setUp(accountWith({ email: 'rené@example.com' }))
  has(t, await verify('Rene\u0301@EXAMPLE.com', 'correct horse'), { userId: 7 })
})

await t.test('nothing but the e-mail with its password is right', async (t) => {
  const { verify } = setUp(accountWith(), accountWith({ userId: 8, email: 'bob@example.com', passwordHash: await hashPassword('another') }))
  await verify('ada@example.com', 'correct horse')
  const wrong: [string, string][] = [
    ['ada@example.com', 'correct hors'],
    ['ada@example.com', 'Correct horse'],
    ['ada@example.com', ''],
    ['', 'correct horse'],
    ['', ''],
    ['bob@example.com', 'correct horse'],
    ['eve@example.com', 'correct horse'],
    ['ada@example.com\0', 'correct horse'],
    ['ada@example.comcorrect', ' horse']
  ]
  for (const [email, password] of wrong) t.equal(await verify(email, password), undefined, JSON.stringify([email, password]))
})

await t.test('a right password is checked once a minute, a wrong one every time', async (t) => {
  const { verify, checks, clock } = setUp(accountWith())
  await verify('ada@example.com', 'correct horse')
  clock.advance(59.999)
  has(t, await verify('ADA@example.com', 'correct horse'), { userId: 7 })
  t.equal(checks.count, 1)
  clock.advance(0.001)
  await verify('ada@example.com', 'correct horse')
  t.equal(checks.count, 2, 'after 60 s it is checked again')
  await verify('ada@example.com', 'wrong')
  t.equal(await verify('ada@example.com', 'wrong'), undefined)
  t.equal(checks.count, 4)
})

await t.test('a password is right where it was verified: elsewhere it is verified again', async (t) => {
  const { verify, checks } = setUp(accountWith())
  await verify('ada@example.com', 'correct horse', '2001:db8::1')
  await verify('ada@example.com', 'correct horse', '2001:db8::2')
  t.equal(checks.count, 1, 'the same network')
  await verify('ada@example.com', 'correct horse', '2001:db8:0:1::1')
  t.equal(checks.count, 2)
})

await t.test('a changed password ends the old one at once, remembered or not', async (t) => {
  const { verify, accounts } = setUp(accountWith())
  await verify('ada@example.com', 'correct horse')
  accounts.change(7, { passwordHash: await hashPassword('new'), passwordVersion: 2 })
  t.equal(await verify('ada@example.com', 'correct horse'), undefined)
  has(t, await verify('ada@example.com', 'new'), { userId: 7, passwordVersion: 2 })
})

await t.test('what is remembered is the password, never the account', async (t) => {
  const { verify, accounts } = setUp(accountWith())
  await verify('ada@example.com', 'correct horse')
  accounts.change(7, { disabled: true, services: [] })
  has(t, await verify('ada@example.com', 'correct horse'), { disabled: true, services: [] })
  accounts.remove(7)
  t.equal(await verify('ada@example.com', 'correct horse'), undefined)
})

await t.test('an address that passes to another user takes no remembered password with it', async (t) => {
  const { verify, accounts } = setUp(accountWith(),
    accountWith({ userId: 8, email: 'bob@example.com', passwordHash: await hashPassword('another') }))
  await verify('ada@example.com', 'correct horse')
  accounts.remove(7)
  accounts.change(8, { email: 'ada@example.com' })
  t.equal(await verify('ada@example.com', 'correct horse'), undefined)
})

await t.test('the same credentials arriving together are checked once', async (t) => {
  const { verify, checks } = setUp(accountWith())
  const answers = await Promise.all(Array.from({ length: 20 }, () => verify('ada@example.com', 'correct horse')))
  t.ok(answers.every((account) => account?.userId === 7))
  t.equal(checks.count, 1)
})

await t.test('an unknown e-mail costs a check like a known one, alone and together', async (t) => {
  for (const email of ['ada@example.com', 'eve@example.com', 'eve\0@example.com', `${'e'.repeat(300)}@example.com`]) {
    const { verify, checks } = setUp(accountWith())
    await verify(email, 'wrong')
    await verify(email, 'wrong')
    t.equal(checks.count, 2)
    await Promise.all([verify(email, 'wrong'), verify(email, 'wrong'), verify(email, 'other')])
    t.equal(checks.count, 4)
  }
})

await t.test('an address that cannot exist never reaches the accounts', async (t) => {
  const requested: string[] = []
  const accounts = {
    byEmail: (email: string) => {
      requested.push(email)
      return Promise.resolve([])
    },
    byId: () => Promise.resolve(undefined)
  }
  const { verify } = createCredentials({ accounts, unknownSecrets: createUnknownSecrets(), now: createClock().now })
  for (const email of ['a\0@example.com', 'a\n@example.com', 'a'.repeat(255)]) await verify(email, 'any', somewhere)
  t.same(requested, [])
  await verify('a'.repeat(254), 'any', somewhere)
  t.equal(requested.length, 1)
})

await t.test('a flood of logins runs two checks at a time, of strangers one', async (t) => {
  const { verify, checks } = setUp(accountWith(), accountWith({ userId: 8, email: 'bob@example.com' }))
  const guesses = (email: string, address: string): Promise<unknown> =>
    Promise.all(Array.from({ length: 30 }, (_, guess) => verify(email, `guess ${guess}`, address)))
  await Promise.all([guesses('ada@example.com', '192.0.2.1'), guesses('bob@example.com', '192.0.2.2')])
  t.same([checks.count, checks.max], [60, 1])
  await verify('ada@example.com', 'correct horse', '192.0.2.1')
  await Promise.all([guesses('ada@example.com', '192.0.2.1'), guesses('ada@example.com', '192.0.2.2')])
  t.same([checks.count, checks.max], [121, 2])
})

await t.test('who was right from there before waits for no stranger, and strangers take turns', async (t) => {
  const { verify, clock } = setUp(accountWith(), accountWith({ userId: 8, email: 'bob@example.com' }))
  await verify('ada@example.com', 'correct horse', '192.0.2.1')
  clock.advance(61)
  const order: string[] = []
  const flood = Array.from({ length: 90 },
    (_, guess) => verify('bob@example.com', `guess ${guess}`, '192.0.2.9').then(() => order.push('flood')))
  await Promise.all([
    ...flood,
    verify('ada@example.com', 'correct horse', '192.0.2.1').then(() => order.push('proven')),
    verify('bob@example.com', 'correct horse', '192.0.2.8').then(() => order.push('another stranger'))
  ])
  t.ok(order.indexOf('proven') < 30, `proven: ${order.indexOf('proven')}`)
  t.ok(order.indexOf('another stranger') < 30, `another stranger: ${order.indexOf('another stranger')}`)
})

await t.test('who has gone is not checked, and whoever came with the same credentials is', async (t) => {
  const { verify, checks } = setUp(accountWith())
  const gate = checks.gate = createGate()
  const before = verify('bob@example.com', 'any')
  const gone = new AbortController()
  const departed = onBehalfOf({ owner: () => somewhere, gone: () => gone.signal, waits: () => undefined },
    () => verify('ada@example.com', 'correct horse'))
  await setImmediate()
  const other = verify('ada@example.com', 'correct horse')
  await setImmediate()
  gone.abort(new ClientGone())
  await t.rejects(departed, { name: 'ClientGone' })
  gate.open()
  has(t, await other, { userId: 7 })
  await before
  t.equal(checks.count, 2)
})

await t.test('a check that fails is not remembered and does not stop the next', async (t) => {
  const { verify, accounts } = setUp(accountWith({ passwordHash: 'broken' }))
  await t.rejects(verify('ada@example.com', 'correct horse'))
  accounts.change(7, accountWith())
  has(t, await verify('ada@example.com', 'correct horse'), { userId: 7 })
})

await t.test('users of several companies who have one address are told apart by their passwords', async (t) => {
  const { verify, accounts, checks } = setUp(
    accountWith({ userId: 8, companyId: 4, passwordHash: await hashPassword('another') }),
    accountWith({ userId: 7, companyId: 3 })
  )
  for (const [password, userId] of [['correct horse', 7], ['another', 8], ['correct horse', 7], ['neither', undefined]] as const) {
    t.equal((await verify('ada@example.com', password))?.userId, userId, password)
  }
  t.equal(checks.count, 6, 'each of both, unless it was right a moment ago')
  accounts.change(7, { passwordHash: await hashPassword('another'), passwordVersion: 2 })
  t.equal((await verify('ada@example.com', 'another'))?.userId, 8, 'of the same password, whose comes first')
  t.equal(await verify('ada@example.com', 'correct horse'), undefined)
})

await t.test('the password of another account of the same address is not that of this one', async (t) => {
  const accounts = createAccounts(accountWith(), accountWith({ userId: 8, companyId: 4, passwordHash: await hashPassword('another') }))
  const { verify } = createCredentials({ accounts, unknownSecrets: createUnknownSecrets(), now: createClock().now })
  t.equal((await verify('ada@example.com', 'another', somewhere))?.userId, 8)
  t.equal(await verify('ada@example.com', 'another', somewhere, 7), undefined)
  t.equal((await verify('ada@example.com', 'correct horse', somewhere, 7))?.userId, 7)
})

await t.test('what is remembered has one reading: the same characters divided otherwise are another account', async (t) => {
  const { verify } = setUp(
    accountWith({ userId: 1, passwordVersion: 11, email: 'ada@example.co', passwordHash: await hashPassword('morning') }),
    accountWith({ userId: 11, passwordVersion: 1, email: 'ada@example.com' })
  )
  has(t, await verify('ada@example.co', 'morning'), { userId: 1 })
  t.equal(await verify('ada@example.com', 'orning'), undefined)
})
