import t from 'tap'
import { hashPassword } from '@dispatch/core'
import { accountWith, basic, createAccess } from './fixtures/access.ts'

const unauthorized = { word: 'unauthorized', status: 401 }
const invalidPassword = { ...unauthorized, message: 'Invalid e-mail or password.' }
const revoked = { ...unauthorized, message: /no longer valid/ }
const disabled = { word: 'forbidden', status: 403, message: 'This user is disabled.' }
const invalidLogin = { word: 'forbidden', status: 403, message: 'Invalid credentials.' }
const ada = accountWith()
const hours = 3600

await t.test('both schemes reach the same actor', async (t) => {
  const { authentication } = await createAccess(ada)
  const actor = { userId: 7, companyId: 3, email: 'ada@example.com', role: 'member', services: ['*'] }
  const { token, ...whose } = await authentication.login('ada@example.com', 'correct horse')
  t.same(whose, { userId: 7, companyId: 3 })
  t.same(await authentication.authenticate(`Bearer ${token}`), actor)
  t.same(await authentication.authenticate(basic('Ada@Example.com', 'correct horse')), actor)
})

await t.test('a wrong e-mail or password is 401 on Basic and 403 at the login, in the same words', async (t) => {
  const { authentication } = await createAccess(ada, accountWith({ userId: 8, email: 'off@example.com', disabled: true }))
  for (const [email, password] of [['ada@example.com', 'wrong'], ['eve@example.com', 'correct horse'], ['off@example.com', 'wrong'], ['', ''], ['ada@example.com', '']] as const) {
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
  for (const header of headers) t.match(await authentication.authenticate(header), { userId: 7 })
})

await t.test('a changed password ends every token and the old password', async (t) => {
  const { authentication, accounts } = await createAccess(ada)
  const { token } = await authentication.login('ada@example.com', 'correct horse')
  await authentication.authenticate(`Bearer ${token}`)
  accounts.change(7, { passwordHash: await hashPassword('new'), passwordVersion: 2 })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  await t.rejects(authentication.refresh(`Bearer ${token}`), revoked)
  await t.rejects(authentication.authenticate(basic('ada@example.com', 'correct horse')), invalidPassword)
  t.match(await authentication.login('ada@example.com', 'new'), { userId: 7 })
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
  t.match(await authentication.authenticate(`Bearer ${token}`), { role: 'admin', services: ['sms'] })
})

await t.test('a refresh keeps user and company, and the time of the login counts on', async (t) => {
  const { authentication, tokens, clock } = await createAccess(ada)
  const loggedInAt = clock.now()
  let { token } = await authentication.login('ada@example.com', 'correct horse')
  clock.advance(25 * hours)
  const refreshed = await authentication.refresh(`Bearer ${token}`)
  t.match(refreshed, { userId: 7, companyId: 3 })
  t.same((await tokens.verify(refreshed.token)).loggedInAt, loggedInAt)
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

await t.test('an impersonation names both, survives a refresh and ends with either account', async (t) => {
  const boss = accountWith({ userId: 9, email: 'boss@example.com', role: 'admin' })
  const { authentication, tokens, accounts } = await createAccess(ada, boss)
  const { token } = await authentication.refresh(`Bearer ${await tokens.issue(ada, { impersonator: boss })}`)
  t.match(await authentication.authenticate(`Bearer ${token}`), { userId: 7, role: 'member', impersonatorId: 9 })

  accounts.change(9, { disabled: true })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), disabled)
  accounts.change(9, { disabled: false, passwordVersion: 2 })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  accounts.change(9, { passwordVersion: 1, role: 'member' })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), revoked)
  accounts.change(9, { role: 'admin' })
  t.match(await authentication.authenticate(`Bearer ${token}`), { impersonatorId: 9 })
  accounts.change(7, { disabled: true })
  await t.rejects(authentication.authenticate(`Bearer ${token}`), disabled)
})
