import type { Account, KeyCredential } from '@dispatch/accounts'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { digestOf, makeKey } from '../access/api-key.ts'
import { accountWith, basic, createAccess, createGuardedAccess, somewhere } from './fixtures/access.ts'

const refused = { word: 'unauthorized', message: 'The API key is unknown, expired or revoked.' }

async function setUp (account: Partial<Account> = {}, holder: Partial<KeyCredential> = {}) {
  const access = await createAccess(accountWith(account))
  const { secret } = makeKey(holder.mode ?? 'live')
  access.apiKeys.set(digestOf(secret).toString('base64'), { keyId: 'key', userId: 7, mode: 'live', scopes: ['send'], ...holder })
  return { ...access, secret, as: (header: string, address?: string) => access.authentication.authenticate(header, address) }
}

await t.test('a key acts for its user, as Bearer or as a user name without a password', async (t) => {
  const { as, secret, used } = await setUp()
  const key = { id: 'key', mode: 'live', scopes: ['send'] }
  const actor = { userId: 7, companyId: 3, email: 'ada@example.com', role: 'member', services: ['*'], key }
  t.same(await as(`Bearer ${secret}`), actor)
  t.same(await as(basic(secret, '')), actor)
  t.same(used, ['key', 'key'])
  await t.rejects(as(basic(secret, 'x')), { message: 'Invalid e-mail or password.' })
})

await t.test('a key may do what both it and its user may', async (t) => {
  const cases: [string[], string[] | undefined, string[]][] = [
    [['*'], undefined, ['*']],
    [['*'], ['email'], ['email']],
    [['email', 'sms'], ['sms', 'file'], ['sms']],
    [['email'], undefined, ['email']],
    [['email'], ['sms'], []],
    [[], ['sms'], []]
  ]
  for (const [services, scope, both] of cases) {
    const { as, secret } = await setUp({ services }, scope === undefined ? {} : { services: scope })
    t.same((await as(`Bearer ${secret}`)).services, both)
  }
})

await t.test('a live key has the role of its user, a test key is a member', async (t) => {
  for (const [mode, role] of [['live', 'admin'], ['test', 'member']] as const) {
    const { as, secret } = await setUp({ role: 'admin' }, { mode })
    has(t, await as(`Bearer ${secret}`), { role, key: { mode } })
  }
})

await t.test('what is mistyped is told from what is unknown', async (t) => {
  const { as, secret, apiKeys } = await setUp()
  const mistyped = { word: 'unauthorized', message: /mistyped or cut off/ }
  for (const wrong of [secret.slice(0, -1), `${secret}x`, 'dk_live_x', 'dk_']) {
    await t.rejects(as(`Bearer ${wrong}`), mistyped)
    await t.rejects(as(basic(wrong, '')), mistyped)
  }
  await t.rejects(as(`Bearer ${makeKey('live').secret}`), refused)
  apiKeys.clear()
  await t.rejects(as(`Bearer ${secret}`), refused, 'revoked')
})

await t.test('a key ends when it says, to the moment', async (t) => {
  const { as, secret, clock } = await setUp({}, { expiresAt: new Date('2026-03-14T10:30:00.000Z') })
  clock.advance(3599.999)
  await as(`Bearer ${secret}`)
  clock.advance(0.001)
  await t.rejects(as(`Bearer ${secret}`), refused)
})

await t.test('a key is as good as its user: disabled, removed, from elsewhere', async (t) => {
  const { as, secret, accounts } = await setUp()
  accounts.change(7, { passwordVersion: 2 })
  await as(`Bearer ${secret}`)
  accounts.change(7, { addresses: ['198.51.100.0/24'] })
  await t.rejects(as(`Bearer ${secret}`), { word: 'forbidden', message: /this address/ })
  await as(`Bearer ${secret}`, '198.51.100.1')
  accounts.change(7, { disabled: true, addresses: [] })
  await t.rejects(as(`Bearer ${secret}`), { name: 'DispatchError', word: 'forbidden' })
  accounts.remove(7)
  await t.rejects(as(`Bearer ${secret}`), refused)
})

await t.test('a key is no login, no refresh and no way to be somebody else', async (t) => {
  const { as, authentication, secret } = await setUp({ role: 'admin' })
  await t.rejects(authentication.login(secret, ''), { word: 'forbidden', message: 'Invalid credentials.' })
  await t.rejects(authentication.refresh(`Bearer ${secret}`), { name: 'DispatchError', word: 'unauthorized' })
  await t.rejects(authentication.refresh(basic(secret, '')), { name: 'DispatchError', word: 'unauthorized' })
  await t.rejects(authentication.impersonate(await as(`Bearer ${secret}`), 7), { word: 'forbidden', message: /API key/ })
})

await t.test('keys that do not exist count as wrong passwords do', async (t) => {
  const requested: string[] = []
  const noPassword = new Error('There is no password here.')
  const bruteForceGuard = {
    isExhausted: () => {
      throw noPassword
    },
    begin: () => Promise.reject(noPassword),
    beginCode: () => Promise.reject(noPassword),
    countUnknownKey: (address: string) => {
      requested.push(address)
      return Promise.resolve()
    }
  }
  const { authentication } = await createGuardedAccess({ bruteForceGuard }, accountWith())
  await t.rejects(authentication.authenticate(`Bearer ${makeKey('test').secret}`), refused)
  await t.rejects(authentication.authenticate('Bearer dk_test_x'), { name: 'DispatchError', word: 'unauthorized' })
  t.same(requested, [somewhere], 'what has no right checksum cannot be a key: it costs nothing')
})
