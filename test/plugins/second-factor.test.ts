import { DispatchError } from '@dispatch/contract'
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { authenticators } from '../../core/packages/features/authenticators/service/authenticators.ts'
import { hasNoFault, isError } from '../hostile/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { type Answer, type Login, type Sending, startService } from '../support/service.ts'

const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { send, app } = service
const company = await service.company('factors')
const { admin, operator } = company

/** The code that an app with this secret shows, `steps` of 30 seconds from now. */
const codeOf = (secret: string, steps = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now.getTime() + steps * 30_000 })
const later = (steps: number): void => {
  clock.now = new Date(clock.now.getTime() + steps * 30_000)
}

const at = '/api/v1/my/second-factor'
const bearer = (token: string): Sending => ({ headers: { authorization: `Bearer ${token}` } })
const logIn = ({ email, password }: Login, totp?: string): Promise<Answer> =>
  send('POST', '/auth', { body: { username: email, password, ...totp === undefined ? {} : { totp } } }, null)
const tokenOf = async (login: Login, totp?: string): Promise<string> => (await logIn(login, totp)).body.data.token as string
const asToken = (token: string, method: string, path: string, body?: object): Promise<Answer> =>
  send(method, path, { ...bearer(token), ...body === undefined ? {} : { body } }, null)

let made = 0
type User = { id: number, login: Login }
async function newUser (role = 'member'): Promise<User> {
  const login = { email: `user-${++made}@factors.example.com`, password: 'correct horse' }
  const { body } = await send('POST', '/api/v1/users', { body: { ...login, role, services: ['*'] } }, admin)
  return { id: body.id as number, login }
}

/** A user with an app, as it is set up by the API with the password. */
async function enrolled (role?: string): Promise<User & { secret: string, recoveryCodes: string[] }> {
  const user = await newUser(role)
  const { body: { secret } } = await send('POST', at, {}, user.login)
  const confirmed = await send('POST', `${at}/confirm`, { body: { code: codeOf(secret) } }, user.login)
  t.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  later(1)
  return { ...user, secret, recoveryCodes: confirmed.body.recoveryCodes }
}

/** The state of a user without a second factor. */
const none = { enabled: false, required: false, since: null, app: false, passkeys: 0, recoveryCodes: 0 }

await t.test('an app counts once a code has confirmed it; the codes for recovery are shown once', async (t) => {
  const { id, login } = await newUser()
  t.strictSame((await send('GET', at, {}, login)).body, none)
  isError(t, await send('POST', `${at}/confirm`, { body: { code: '123456' } }, login), 'conflict', 'nothing was begun')
  const first = await send('POST', at, {}, login)
  t.equal(first.headers.get('cache-control'), 'no-store')
  const { status, body: { secret, uri } } = await send('POST', at, {}, login)
  t.equal(status, 201)
  contains(t, secret, /^[A-Z2-7]{32}$/)
  contains(t, uri, new RegExp(`^otpauth://totp/Document%20Dispatch:${encodeURIComponent(login.email)}\\?.*secret=${String(secret)}`))
  isError(t, await send('POST', `${at}/confirm`, { body: { code: codeOf(first.body.secret) } }, login), 'forbidden', 'an earlier secret')
  t.equal((await send('GET', '/healthz', {}, login)).status, 200, 'the password still suffices')
  const confirmed = await send('POST', `${at}/confirm`, { body: { code: codeOf(secret) } }, login)
  t.equal(confirmed.body.recoveryCodes.length, 10)
  t.equal(new Set(confirmed.body.recoveryCodes).size, 10)
  has(t, (await send('GET', `/api/v1/users/${id}`, {}, admin)).body, { secondFactor: true })
  const token = await tokenOf(login, confirmed.body.recoveryCodes[0])
  has(t, (await asToken(token, 'GET', at)).body, { enabled: true, app: true, recoveryCodes: 9 })
  isError(t, await asToken(token, 'POST', at), 'conflict', 'there is one already')
  isError(t, await asToken(token, 'POST', `${at}/confirm`, { code: codeOf(secret, 1) }), 'conflict')
})

await t.test('a password alone is refused: Basic with 403 and a way out, a login without a code, or with a wrong one', async (t) => {
  const { login, secret } = await enrolled()
  const basic = await send('GET', '/api/v1/credits', {}, login)
  isError(t, basic, 'forbidden')
  contains(t, basic.body.message, 'API key')
  isError(t, await logIn(login), 'forbidden')
  isError(t, await logIn(login, '000000'), 'forbidden')
  isError(t, await logIn({ ...login, password: 'wrong horse' }, codeOf(secret)), 'forbidden')
  t.equal((await logIn({ ...login, password: 'wrong horse' })).body.message, 'Invalid credentials.',
    'nothing is learned before it is right')
  t.equal((await send('GET', '/api/v1/credits', {}, { ...login, password: 'wrong horse' })).status, 401)
  t.equal((await asToken(await tokenOf(login, codeOf(secret)), 'GET', '/api/v1/credits')).status, 200)
})

await t.test('a code is accepted once, also by two at the same time, and so is a recovery code', async (t) => {
  const { login, secret, recoveryCodes } = await enrolled()
  const both = await Promise.all([1, 2, 3, 4].map(() => logIn(login, codeOf(secret))))
  t.strictSame(both.map(({ status }) => status).sort(), [200, 403, 403, 403])
  later(1)
  t.equal((await logIn(login, codeOf(secret, 1))).status, 200, 'of the next step: clocks differ')
  t.equal((await logIn(login, codeOf(secret))).status, 403, 'an older one than the last is not')
  later(2)
  t.equal((await logIn(login, codeOf(secret, -1))).status, 403, 'the step of that one')
  t.equal((await logIn(login, codeOf(secret, 2))).status, 403, 'too far from now')
  const spaced = codeOf(secret)
  t.equal((await logIn(login, `${spaced.slice(0, 3)} ${spaced.slice(3)}`)).status, 200)
  const [code = ''] = recoveryCodes
  const used = await Promise.all([code, code.toUpperCase(), code.replaceAll('-', '')].map((written) => logIn(login, written)))
  t.strictSame(used.map(({ status }) => status).sort(), [200, 403, 403])
  const other = await enrolled()
  t.equal((await logIn(login, other.recoveryCodes[0])).status, 403, 'somebody else\'s')
})

await t.test('a change ends all tokens and sessions, but for the session that makes it', async (t) => {
  const { login } = await newUser()
  const sessions = app.get('sessions')
  const client = { address: '192.0.2.1', browser: 'test' }
  const open = async (): Promise<string> => {
    const opened = await sessions.open(login.email, login.password, client)
    return 'session' in opened ? opened.session : ''
  }
  const [own, other, token] = [await open(), await open(), await tokenOf(login)]
  const actor = (await sessions.actorOf(own, client.address))!
  const by = { actor, author: { userId: actor.userId, companyId: actor.companyId, address: client.address, requestId: 'test' } }
  const apps = app.find(authenticators)
  const { secret } = await apps.begin(by)
  await apps.confirm(by, codeOf(secret))
  t.ok(await sessions.actorOf(own, client.address))
  t.equal(await sessions.actorOf(other, client.address), undefined)
  t.equal((await asToken(token, 'GET', '/healthz')).status, 401)
  await app.get('secondFactors').remove(by, { password: login.password })
  t.ok(await sessions.actorOf(own, client.address))
  t.equal((await send('GET', '/healthz', {}, login)).status, 200)
})

await t.test('a sign-in at the console waits for the code: five minutes, for nothing else, under the same password', async (t) => {
  const { id, login, secret } = await enrolled()
  const sessions = app.get('sessions')
  const client = { address: '192.0.2.1', browser: 'test' }
  const wait = async (password = login.password): Promise<string> => {
    const opened = await sessions.open(login.email, password, client)
    return 'waiting' in opened ? opened.waiting : ''
  }
  const first = await wait()
  t.equal(await sessions.actorOf(first, client.address), undefined, 'it is no session')
  await t.rejects(sessions.complete(first, '000000', client), DispatchError)
  const begun = await Promise.all([1, 2].map(() => sessions.complete(first, codeOf(secret), client).catch(() => undefined)))
  t.equal(begun.filter((one) => one !== undefined).length, 1)
  t.equal(await sessions.complete(first, codeOf(secret, 1), client), undefined, 'the wait is over')
  const late = await wait()
  later(10)
  t.equal(await sessions.waitingFor(late), undefined)
  t.equal(await sessions.complete(late, codeOf(secret), client), undefined, 'after five minutes')
  const changed = await wait()
  await send('PUT', `/api/v1/users/${id}`, { body: { password: 'another horse' } }, admin)
  t.equal(await sessions.complete(changed, codeOf(secret), client), undefined, 'another password')
  const disabled = await wait('another horse')
  await send('PUT', `/api/v1/users/${id}`, { body: { disabled: true } }, admin)
  t.equal(await sessions.complete(disabled, codeOf(secret), client), undefined, 'disabled')
})

await t.test('new recovery codes and the removal need the password or a code', async (t) => {
  const { login, secret, recoveryCodes } = await enrolled()
  const token = await tokenOf(login, codeOf(secret))
  for (const path of [`${at}/recovery-codes`, `${at}/remove`]) {
    for (const proof of [{ password: 'wrong horse' }, { code: '000000' }, { code: codeOf(secret) }]) {
      isError(t, await asToken(token, 'POST', path, proof), 'forbidden', JSON.stringify(proof))
    }
    for (const proof of [{}, { password: 'x', code: 'y' }, { other: 1 }]) {
      isError(t, await asToken(token, 'POST', path, proof), 'validation_error')
    }
  }
  const { body } = await asToken(token, 'POST', `${at}/recovery-codes`, { password: login.password })
  t.equal((await logIn(login, recoveryCodes[1])).status, 403, 'the former ones are void')
  t.equal((await logIn(login, body.recoveryCodes[1])).status, 200)
  t.equal((await asToken(token, 'POST', `${at}/remove`, { code: body.recoveryCodes[2] })).status, 204)
  t.equal((await send('GET', '/healthz', {}, login)).status, 200, 'the password suffices again')
  t.strictSame((await send('GET', at, {}, login)).body, none)
  for (const path of [`${at}/recovery-codes`, `${at}/remove`]) {
    isError(t, await send('POST', path, { body: { password: login.password } }, login), 'conflict')
  }
})

await t.test('an admin resets a user\'s: not their own, nobody\'s above, nobody\'s of another company', async (t) => {
  const [user, chief] = [await enrolled(), await enrolled('admin')]
  const token = await tokenOf(chief.login, codeOf(chief.secret))
  const reset = (id: number, login: Login): Promise<Answer> => send('DELETE', `/api/v1/users/${id}/second-factor`, {}, login)
  isError(t, await asToken(token, 'DELETE', `/api/v1/users/${chief.id}/second-factor`), 'forbidden')
  isError(t, await reset(user.id, (await service.company('elsewhere')).admin), 'not_found')
  isError(t, await reset(user.id, company.member), 'forbidden')
  const { body: { data } } = await send('GET', '/api/v1/users', {}, operator)
  isError(t, await reset(data.find(({ role }: { role: string }) => role === 'operator').id, admin), 'not_found')
  const before = await tokenOf(user.login, codeOf(user.secret))
  t.equal((await asToken(token, 'DELETE', `/api/v1/users/${user.id}/second-factor`)).status, 204)
  t.equal((await asToken(before, 'GET', '/healthz')).status, 401)
  t.equal((await send('GET', '/healthz', {}, user.login)).status, 200)
  isError(t, await reset(user.id, admin), 'conflict')
  const acting = (await send('POST', '/auth/impersonate', { body: { userId: chief.id } }, operator)).body.data.token as string
  for (const [path, body] of [[at, undefined], [`${at}/remove`, { password: chief.login.password }]] as const) {
    isError(t, await asToken(acting, 'POST', path, body), 'forbidden', 'who acts as somebody does not set it up for them')
  }
  t.equal((await asToken(acting, 'DELETE', `/api/v1/users/${chief.id}/second-factor`)).status, 204, 'an operator helps an only admin so')
  const audit = (await send('GET', `/api/v1/audit?object=user/${user.id}`, {}, admin)).body.data
  t.strictSame(audit.map(({ action }: { action: string }) => action), ['second_factor.reset', 'second_factor.set', 'user.created'])
  t.equal(audit[0].author.userId, chief.id)
})

await t.test('where the company demands one, a user without can set one up and nothing else; keys go on', async (t) => {
  const strict = await service.company('strict')
  const { body: key } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, strict.admin)
  const token = await tokenOf(strict.member)
  isError(t, await send('PUT', '/api/v1/company', { body: { requireSecondFactor: true } }, strict.member), 'forbidden')
  const changed = await send('PUT', '/api/v1/company', { body: { requireSecondFactor: true } }, strict.admin)
  t.equal(changed.body.requireSecondFactor, true)
  isError(t, await send('GET', '/api/v1/credits', {}, strict.member), 'forbidden')
  isError(t, await asToken(token, 'GET', '/api/v1/credits'), 'forbidden', 'a token from before too')
  t.equal((await send('GET', '/api/v1/credits', {}, { email: key.key, password: '' })).status, 200)
  has(t, (await send('GET', at, {}, strict.member)).body, { enabled: false, required: true })
  const { body: { secret } } = await send('POST', at, {}, strict.member)
  t.equal((await send('POST', `${at}/confirm`, { body: { code: codeOf(secret) } }, strict.member)).status, 200)
  later(1)
  t.equal((await asToken(await tokenOf(strict.member, codeOf(secret)), 'GET', '/api/v1/credits')).status, 200)
  const acting = (await send('POST', '/auth/impersonate', { body: { userId: key.userId } }, operator)).body.data.token
  t.equal((await asToken(acting as string, 'PUT', '/api/v1/company', { requireSecondFactor: false })).status, 200,
    'who acts as somebody needs what their own company demands')
  t.equal((await send('GET', '/api/v1/credits', {}, strict.admin)).status, 200)
  const facts = (await send('GET', '/api/v1/audit?action=settings.changed', {}, strict.admin)).body.data.map((entry: any) => entry.facts)
  t.strictSame(facts, [false, true].map((requireSecondFactor) => ({ fields: ['requireSecondFactor'], requireSecondFactor })))
})

await t.test('nothing of it is in a log, in the audit log or in clear text in the database', async (t: Test) => {
  const { login, secret, recoveryCodes } = await enrolled()
  const token = await tokenOf(login, codeOf(secret))
  const { rows } = await app.get('database').pool.query('select sealed::text as text from authenticators')
  const digests = await app.get('database').pool.query('select digest from recovery_codes')
  const audit = JSON.stringify((await send('GET', '/api/v1/audit', {}, admin)).body)
  const places = [JSON.stringify(rows), JSON.stringify(digests.rows), audit, service.log.join('\n')]
  for (const place of places) for (const text of [secret, ...recoveryCodes, token]) lacks(t, place, text)
  hasNoFault(t, service)
})

await t.test('wrong codes are limited for a user over all clients, and then a right one is refused too', async (t) => {
  const guarded = await startService(t, {
    config: { limits: { auth: 4, dispatch: 0, validation: 0, requests: 0 }, trustedProxies: ['127.0.0.1/32'] }
  })
  const { member } = await guarded.company('guarded')
  const { body: { secret } } = await guarded.send('POST', at, {}, member)
  const present = (steps = 0): string =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })
  t.equal((await guarded.send('POST', `${at}/confirm`, { body: { code: present() } }, member)).status, 200)
  const tryAt = (totp: string, address: number): Promise<Answer> =>
    guarded.send('POST', '/auth', {
      body: { username: member.email, password: member.password, totp },
      headers: { 'x-forwarded-for': `192.0.2.${address}` }
    }, null)
  const answers = []
  for (const address of [1, 2, 3, 4, 5]) answers.push((await tryAt('000000', address)).status)
  t.strictSame(answers, [403, 403, 403, 403, 429])
  isError(t, await tryAt(present(1), 6), 'rate_limited')
})
