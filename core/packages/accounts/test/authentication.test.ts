import { hashPassword } from '@dispatch/accounts'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { accountWith, basic, createAccess } from './fixtures/access.ts'

const unauthorized = { word: 'unauthorized', status: 401 }
const invalidPassword = { ...unauthorized, message: 'Invalid e-mail or password.' }
const revoked = { ...unauthorized, message: /no longer valid/ }
const disabled = {
  word: 'forbidden',
  status: 403,
  message: 'This user, or their company, is disabled: ask an administrator of the company, or the operator.'
}
const invalidLogin = { word: 'forbidden', status: 403, message: 'Invalid credentials.' }
const ada = accountWith()
const hours = 3600

await t.test('both schemes reach the same actor', async (t) => {
  const { authentication, clock } = await createAccess(ada)
  const ofAda = { userId: 7, companyId: 3, email: 'ada@example.com', role: 'member', services: ['*'] }
  const actor = { ...ofAda, provedAt: clock.now(), passwordVersion: 1 }
  const { token, ...whose } = await authentication.login('ada@example.com', 'correct horse')
  t.same(whose, { userId: 7, companyId: 3 })
  t.same(await authentication.authenticate(`Bearer ${token}`), actor)
  t.same(await authentication.authenticate(basic('Ada@Example.com', 'correct horse')), actor)
})

await t.test('a wrong e-mail or password is 401 on Basic and 403 at the login, in the same words', async (t) => {
  const { authentication } = await createAccess(ada, accountWith({ userId: 8, email: 'off@example.com', disabled: true }))
  for (const [email, password] of [
    ['ada@example.com', 'wrong'],
    ['eve@example.com', 'correct horse'],
    ['off@example.com', 'wrong'],
    [
      '',
      ''
    ],
    ['ada@example.com', '']
  ] as const) {
    await t.rejects(authentication.authenticate(basic(email, password)), invalidPassword)
    await t.rejects(authentication.login(email, password), invalidLogin)
  }
  await t.rejects(authentication.login('off@example.com', 'correct horse'), invalidLogin)
})

await t.test('a disabled user is forbidden from the next request on, and comes back when enabled', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  const headers = [`Bearer ${token}`, basic('ada@example.com', 'correct horse')]
  for (const header of headers) await authentication.authenticate(header)
  accounts.change(7, { disabled: true })
  for (const header of headers) await t.rejects(authentication.authenticate(header), disabled)
  await t.rejects(authentication.refresh(`Bearer ${token}`), disabled)
  accounts.change(7, { disabled: false })
  for (const header of headers) has(t, await authentication.authenticate(header), { userId: 7 })
})

await t.test('a changed password ends every token and the old password', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  await authentication.authenticate(`Bearer ${token}`)
  accounts.change(7, { passwordHash: await hashPassword('new'), passwordVersion: 2 })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  await t.rejects(authentication.refresh(`Bearer ${token}`), revoked)
  await t.rejects(authentication.authenticate(basic('ada@example.com', 'correct horse')), invalidPassword)
  has(t, await authentication.login('ada@example.com', 'new'), { userId: 7 })
})

await t.test('a removed user, or one of another company now, has no token', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  accounts.change(7, { companyId: 4 })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  accounts.remove(7)
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
})

await t.test('role and services are those of the account, not those of the login', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  accounts.change(7, { role: 'admin', services: ['sms'] })
  has(t, await authentication.authenticate(`Bearer ${token}`), { role: 'admin', services: ['sms'] })
})

await t.test('a refresh keeps user and company, and the time of the login counts on', async (t) => {
  const { authentication, tokens, clock } = await createAccess(ada)
  const loggedInAt = clock.now()
  let { token } = await authentication.login('ada@example.com', 'correct horse')
  clock.advance(25 * hours)
  const refreshed = await authentication.refresh(`Bearer ${token}`)
  has(t, refreshed, { userId: 7, companyId: 3 })
  t.same((await tokens.verify(refreshed.token)).provedAt, loggedInAt)
  for (token = refreshed.token; clock.now().getTime() - loggedInAt.getTime() <= 29 * 24 * hours * 1000;) {
    clock.advance(24 * hours)
    ;({ token } = await authentication.refresh(`Bearer ${token}`))
  }
  clock.advance(24 * hours)
  await t.rejects(authentication.refresh(`Bearer ${token}`), { ...unauthorized, message: /30 days/ })
})

await t.test('only a token can be refreshed', async (t) => {
  const { authentication } = await createAccess(ada)
  await t.rejects(authentication.refresh(undefined), { ...unauthorized, message: /header is required/ })
  await t.rejects(authentication.refresh(basic('ada@example.com', 'correct horse')), { ...unauthorized, message: /Bearer/ })
  await t.rejects(authentication.refresh('Bearer abc'), { ...unauthorized, message: /not valid/ })
})

await t.test('who has proved once has proved then: a refresh and an impersonation keep the time, a password in the request is one now',
  async (t) => {
    const boss = accountWith({ userId: 9, email: 'boss@example.com', role: 'admin' })
    const { authentication, clock } = await createAccess(ada, boss)
    const provedAt = clock.now()
    const { token } = await authentication.login('boss@example.com', 'correct horse')
    clock.advance(3_600)
    const refreshed = await authentication.refresh(`Bearer ${token}`)
    const acting = await authentication.impersonate(await authentication.authenticate(`Bearer ${refreshed.token}`), 7)
    const again = await authentication.refresh(`Bearer ${acting.token}`)
    for (const { token } of [refreshed, acting, again]) has(t, await authentication.authenticate(`Bearer ${token}`), { provedAt })
    has(t, await authentication.authenticate(basic('boss@example.com', 'correct horse')), { provedAt: clock.now() })
  })

await t.test('an impersonation names both, survives a refresh and ends with either account', async (t) => {
  const boss = accountWith({ userId: 9, email: 'boss@example.com', role: 'admin' })
  const { authentication, tokens, accounts } = await createAccess(ada, boss)
  const { token } = await authentication.refresh(`Bearer ${await tokens.issue(ada, { impersonator: boss })}`)
  has(t, await authentication.authenticate(`Bearer ${token}`), { userId: 7, role: 'member', impersonatorId: 9 })

  accounts.change(9, { disabled: true })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), disabled)
  accounts.change(9, { disabled: false, passwordVersion: 2 })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  accounts.change(9, { passwordVersion: 1, role: 'member' })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  accounts.change(9, { role: 'admin' })
  has(t, await authentication.authenticate(`Bearer ${token}`), { impersonatorId: 9 })
  accounts.change(7, { disabled: true })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), disabled)
})

const outside = { word: 'forbidden', status: 403, message: 'The company does not permit requests from this address.' }

await t.test('a list of addresses holds for every scheme, from the next request on', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  accounts.change(7, { addresses: ['198.51.100.0/24', '2001:db8::/32'] })
  for (const header of [`Bearer ${token}`, basic('ada@example.com', 'correct horse')]) {
    await t.rejects(authentication.authenticate(header), outside)
    for (const address of ['198.51.100.9', '::ffff:198.51.100.9', '2001:db8::1']) {
      has(t, await authentication.authenticate(header, address), { userId: 7 })
    }
  }
  await t.rejects(authentication.refresh(`Bearer ${token}`), outside)
  await authentication.refresh(`Bearer ${token}`, '198.51.100.9')
  accounts.change(7, { addresses: [] })
  await authentication.authenticate(`Bearer ${token}`)
})

await t.test('from outside the list a login says what it says to a wrong password, and so does Basic to who has none', async (t) => {
  const { authentication } = await createAccess(accountWith({ addresses: ['198.51.100.0/24'] }))
  await t.rejects(authentication.login('ada@example.com', 'correct horse'), invalidLogin)
  await t.rejects(authentication.login('ada@example.com', 'wrong'), invalidLogin)
  await t.rejects(authentication.authenticate(basic('ada@example.com', 'wrong')), invalidPassword)
  await authentication.login('ada@example.com', 'correct horse', '198.51.100.1')
})

const grace = accountWith({ userId: 9, email: 'grace@example.com', role: 'admin' })
const olga = accountWith({ userId: 1, companyId: 1, email: 'olga@example.com', role: 'operator' })

await t.test('an admin acts as users of the company, an operator as anybody', async (t) => {
  const { authentication } = await createAccess(ada, grace, olga,
    accountWith({ userId: 8, companyId: 4, email: 'bob@example.com', role: 'admin' }))
  const as = async (who: string, userId: number): Promise<unknown> => {
    const { token } = await authentication.impersonate(await authentication.authenticate(basic(who, 'correct horse')), userId)
    return authentication.authenticate(`Bearer ${token}`)
  }
  has(t, await as('grace@example.com', 7), { userId: 7, companyId: 3, role: 'member', impersonatorId: 9 })
  has(t, await as('olga@example.com', 8), { userId: 8, companyId: 4, role: 'admin', impersonatorId: 1 })
  await t.rejects(as('grace@example.com', 8), { name: 'DispatchError', word: 'not_found' }, 'of another company')
  await t.rejects(as('grace@example.com', 1), { name: 'DispatchError', word: 'not_found' })
  await t.rejects(as('grace@example.com', 99), { name: 'DispatchError', word: 'not_found' })
  await t.rejects(as('grace@example.com', 9), { name: 'DispatchError', word: 'forbidden' }, 'oneself')
  await t.rejects(as('ada@example.com', 9), { name: 'DispatchError', word: 'forbidden' }, 'a member')
})

await t.test('nobody above their own role, nobody disabled, nobody by way of another', async (t) => {
  const { authentication, accounts } = await createAccess(ada, grace,
    accountWith({ userId: 10, email: 'op@example.com', role: 'operator' }))
  const actor = await authentication.authenticate(basic('grace@example.com', 'correct horse'))
  await t.rejects(authentication.impersonate(actor, 10), { name: 'DispatchError', word: 'forbidden' })
  const { token } = await authentication.impersonate(actor, 7)
  accounts.change(7, { role: 'admin' })
  await t.rejects(authentication.impersonate(await authentication.authenticate(`Bearer ${token}`), 9), {
    word: 'forbidden',
    message: /already acts as another user/
  })
  accounts.change(7, { disabled: true })
  await t.rejects(authentication.impersonate(actor, 7), { name: 'DispatchError', word: 'forbidden' })
})

await t.test('an impersonation ends with the right to it, and with either password', async (t) => {
  const ends: [number, Partial<typeof ada>][] = [
    [9, { role: 'member' }],
    [9, { passwordVersion: 2 }],
    [7, { passwordVersion: 2 }],
    [
      9,
      { companyId: 4 }
    ],
    [7, { role: 'operator' }]
  ]
  for (const [userId, change] of ends) {
    const { authentication, accounts } = await createAccess(ada, grace)
    const { token } = await authentication.impersonate(await authentication.authenticate(basic('grace@example.com', 'correct horse')), 7)
    accounts.change(userId, change)
    await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked, JSON.stringify(change))
    await t.rejects(authentication.refresh(`Bearer ${token}`), revoked)
  }
})

await t.test('who acts as another comes from where both companies let them in', async (t) => {
  const { authentication, accounts } = await createAccess(ada, olga)
  const { token } = await authentication.impersonate(await authentication.authenticate(basic('olga@example.com', 'correct horse')), 7)
  accounts.change(7, { addresses: ['198.51.100.0/24'] })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), outside)
  await authentication.authenticate(`Bearer ${token}`, '198.51.100.1')
  accounts.change(1, { addresses: ['203.0.113.0/24'] })
  await t.rejects(authentication.authenticate(`Bearer ${token}`, '198.51.100.1'), outside)
})
