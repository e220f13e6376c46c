import { type BruteForceGuard, createBruteForceGuard, createCredentials, createUnknownSecrets, type KnownClients } from '@dispatch/accounts'
import { DispatchError, type RateLimitStatus } from '@dispatch/contract'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { createPace } from '../access/password-semaphore.ts'
import { accountWith, createAccounts, createClock } from './fixtures/access.ts'

/** A limiter in memory that never forgets. */
function counter (quota: number) {
  const taken = new Map<string, number>()
  const budget = (count: number): RateLimitStatus => ({
    policy: 'test',
    quota,
    window: 60,
    remaining: Math.max(0, quota - count),
    reset: 60
  })
  return {
    taken,
    take (client: string) {
      const count = (taken.get(client) ?? 0) + 1
      taken.set(client, count)
      return Promise.resolve({ ...budget(count), exceeded: count > quota })
    },
    spent: (client: string) => (taken.get(client) ?? 0) > quota ? budget(quota) : undefined,
    giveBack (client: string) {
      taken.set(client, (taken.get(client) ?? 0) - 1)
      return Promise.resolve()
    }
  }
}

function setUp () {
  const [addresses, accounts, codes] = [counter(5), counter(12), counter(3)]
  const remembered = new Set<string>()
  const known: KnownClients = {
    amongKnown: (users, client) => Promise.resolve(users.filter((userId) => remembered.has(`${userId} ${client}`))),
    remember: (userId, client) => {
      remembered.add(`${userId} ${client}`)
      return Promise.resolve()
    }
  }
  const checks = { count: 0 }
  const bruteForceGuard: BruteForceGuard = createBruteForceGuard({ addresses, accounts, codes, known })
  const users = createAccounts(accountWith(), accountWith({ userId: 8, email: 'bob@example.com' }))
  const { verify } = createCredentials({
    unknownSecrets: createUnknownSecrets(),
    accounts: users,
    bruteForceGuard,
    now: createClock().now,
    matches: (_, password) => {
      checks.count++
      return Promise.resolve(password === 'correct horse')
    }
  })
  /** What comes of a try: whose account it opens, 401, or 429. */
  const attempt = (password: string, address: string, email = 'ada@example.com'): Promise<number | undefined> =>
    verify(email, password, address).then((account) => account?.userId ?? 401, (error: unknown) =>
      error instanceof DispatchError ? error.status : Promise.reject(error as Error))
  let tries = 0
  const guess = (address: string, email?: string): Promise<number | undefined> => attempt(`guess ${++tries}`, address, email)
  return { addresses, accounts, checks, bruteForceGuard, attempt, guess }
}

await t.test('an address has so many wrong passwords, whosever they are, and then not even the right one', async (t) => {
  const { guess, attempt, checks } = setUp()
  for (const email of ['ada@example.com', 'bob@example.com', 'nobody@example.com', 'ada@example.com', 'bob@example.com']) {
    t.equal(await guess('192.0.2.1', email), 401)
  }
  t.equal(await guess('192.0.2.1'), 429)
  t.equal(await attempt('correct horse', '192.0.2.1'), 429)
  t.equal(checks.count, 5, 'a refused try verifies nothing')
  t.equal(await attempt('correct horse', '192.0.2.2'), 7, 'another address is not concerned')
})

await t.test('tries at the same moment are counted too', async (t) => {
  const { guess, checks } = setUp()
  const answers = await Promise.all(Array.from({ length: 20 }, () => guess('192.0.2.1')))
  t.equal(answers.filter((status) => status === 401).length, 5)
  t.equal(checks.count, 5)
})

await t.test('the addresses of one IPv6 network are one', async (t) => {
  const { guess } = setUp()
  for (let index = 0; index < 5; index++) t.equal(await guess(`2001:db8::${index}:1`), 401)
  t.equal(await guess('2001:db8::99:1'), 429)
  t.equal(await guess('2001:db8:0:1::1'), 401)
})

await t.test('right passwords count nothing', async (t) => {
  const { attempt, addresses, accounts } = setUp()
  for (const email of ['ada@example.com', 'bob@example.com']) {
    for (let index = 0; index < 20; index++) await attempt('correct horse', '192.0.2.1', email)
  }
  t.same([...addresses.taken.values(), ...accounts.taken.values()], [0, 0, 0])
})

await t.test('many addresses have no more guesses at an account than its share', async (t) => {
  const { guess, attempt } = setUp()
  const answers: unknown[] = []
  for (let index = 0; index < 30; index++) answers.push(await guess(`198.51.100.${index}`))
  t.equal(answers.filter((status) => status === 401).length, 12)
  t.equal(await attempt('correct horse', '203.0.113.1'), 429, 'nor has a stranger the right one')
  t.equal(await attempt('correct horse', '203.0.113.1', 'bob@example.com'), 8, 'other accounts are not concerned')
})

await t.test('strangers cannot lock out who comes from where they always come from', async (t) => {
  const { guess, attempt, checks } = setUp()
  await attempt('correct horse', '192.0.2.1')
  for (let index = 0; index < 50; index++) await guess(`198.51.100.${index}`)
  const before = checks.count
  t.equal(await guess('192.0.2.1'), 401)
  t.equal(checks.count, before + 1, 'it is verified')
})

await t.test('where the tries are spent a right password is refused like a wrong one, also one that was right a moment ago', async (t) => {
  const { guess, attempt } = setUp()
  t.equal(await attempt('correct horse', '192.0.2.1'), 7)
  for (let index = 0; index < 5; index++) t.equal(await guess('192.0.2.1'), 401)
  t.equal(await guess('192.0.2.1'), 429)
  t.equal(await attempt('correct horse', '192.0.2.1'), 429, 'from where it was right')
  for (let index = 0; index < 6; index++) await guess('198.51.100.1')
  t.equal(await attempt('correct horse', '198.51.100.1'), 429, 'from elsewhere')
})

await t.test('guesses at the same moment as a right password are counted before it is believed', async (t) => {
  const { guess, attempt } = setUp()
  await attempt('correct horse', '192.0.2.1')
  const wrong = Array.from({ length: 20 }, () => guess('192.0.2.1'))
  t.equal(await attempt('correct horse', '192.0.2.1'), 429)
  t.equal((await Promise.all(wrong)).filter((status) => status === 401).length, 5)
})

await t.test('who is known at an address is not locked out by guesses there at the accounts of others', async (t) => {
  const { guess, attempt } = setUp()
  await attempt('correct horse', '192.0.2.1')
  for (let index = 0; index < 20; index++) await guess('192.0.2.1', 'bob@example.com')
  t.equal(await attempt('correct horse', '192.0.2.1', 'bob@example.com'), 429, 'who is not known there')
  t.equal(await attempt('correct horse', '192.0.2.1'), 7)
  t.equal(await guess('192.0.2.1'), 401, 'and has tries of their own')
})

await t.test('who has an account has no more guesses at another of the same address than a stranger, and keeps their own', async (t) => {
  const [addresses, accounts, codes] = [counter(5), counter(12), counter(3)]
  const remembered = new Set<string>()
  const tried = new Map<string, number>()
  const { verify } = createCredentials({
    unknownSecrets: createUnknownSecrets(),
    accounts: createAccounts(accountWith({ passwordHash: 'hers' }), accountWith({ userId: 9, companyId: 4, passwordHash: 'theirs' })),
    bruteForceGuard: createBruteForceGuard({
      addresses,
      accounts,
      codes,
      known: {
        amongKnown: (users, client) => Promise.resolve(users.filter((userId) => remembered.has(`${userId} ${client}`))),
        remember: (userId, client) => {
          remembered.add(`${userId} ${client}`)
          return Promise.resolve()
        }
      }
    }),
    now: createClock().now,
    matches (hash, password) {
      tried.set(hash, (tried.get(hash) ?? 0) + 1)
      return Promise.resolve(hash === password)
    }
  })
  const attempt = (password: string, address: string): Promise<number | undefined> =>
    verify('ada@example.com', password, address).then((account) => account?.userId, (error: unknown) =>
      error instanceof DispatchError ? error.status : Promise.reject(error as Error))
  for (let machine = 0; machine < 20; machine++) {
    const address = `198.51.100.${machine}`
    t.equal(await attempt('theirs', address), machine < 4 ? 9 : 429, 'who comes from many addresses')
    for (let guess = 0; guess < 3; guess++) await attempt(`guess ${guess}`, address)
  }
  t.equal(tried.get('hers'), 4 + 12, 'at hers: those that were right for theirs, and the one share of all strangers')
  t.equal(await attempt('hers', '203.0.113.1'), 429, 'nor has a stranger the right one')
  t.equal(await attempt('theirs', '198.51.100.0'), 9, 'a known address goes on')
  t.equal(await attempt('one guess more', '198.51.100.0'), undefined)
  t.equal(tried.get('hers'), 4 + 12, 'where they are known, what they have by themselves is for their own account')
})

await t.test('an account that does not exist is refused as one that does', async (t) => {
  const { guess } = setUp()
  const answers: unknown[] = []
  for (let index = 0; index < 14; index++) answers.push(await guess(`198.51.100.${index}`, 'nobody@example.com'))
  t.same(answers, [...Array<number>(12).fill(401), 429, 429])
})

await t.test('what is refused says when to come again', async (t) => {
  const { guess, bruteForceGuard } = setUp()
  for (let index = 0; index < 5; index++) await guess('192.0.2.1')
  const refused = { word: 'rate_limited', retryAfter: 60, budget: { quota: 5, remaining: 0 } }
  has(t, await bruteForceGuard.begin({ users: [7], email: 'ada@example.com', address: '192.0.2.1' }).catch((error: unknown) => error),
    refused)
  has(t, await bruteForceGuard.countUnknownKey('192.0.2.1').catch((error: unknown) => error), refused)
})

await t.test('more logins than can wait are refused at once, and the next one is welcome when there is room', async (t) => {
  const gate = Promise.withResolvers<boolean>()
  let checks = 0
  const { verify } = createCredentials({
    unknownSecrets: createUnknownSecrets(),
    accounts: createAccounts(accountWith()),
    now: createClock().now,
    pace: createPace(),
    matches: () => {
      checks++
      return gate.promise
    }
  })
  const waiting = Array.from({ length: 101 }, (_, index) => verify('ada@example.com', `guess ${index}`, '192.0.2.1'))
  await new Promise(setImmediate)
  t.equal(checks, 1)
  has(t, await verify('ada@example.com', 'one more', '192.0.2.1').catch((error: unknown) => error), { word: 'rate_limited', retryAfter: 2 })
  gate.resolve(false)
  t.same(await Promise.all(waiting), Array(101).fill(undefined))
  t.equal(await verify('ada@example.com', 'one more', '192.0.2.1'), undefined)
})
