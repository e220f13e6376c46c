import { DispatchError } from '@dispatch/contract'
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { hasNoFault, isError } from '../../../../../test/hostile/support.ts'
import { createAuthenticator } from '../../../../../test/support/authenticator.ts'
import { has } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { createPasskeys } from '../service/passkeys.ts'
import { relyingPartyOf } from '../service/webauthn.ts'

const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { send, app } = service
const sessions = app.get('sessions')
const company = await service.company('keys')
const origin = 'https://dispatch.example.com'
const client = { address: '192.0.2.1', browser: 'test' }
const at = '/api/v1/my/passkeys'
const later = (seconds: number): void => {
  clock.now = new Date(clock.now.getTime() + seconds * 1000)
}

let made = 0
type User = { id: number, login: Login }
async function newUser (): Promise<User> {
  const login = { email: `user-${++made}@keys.example.com`, password: 'correct horse' }
  const { body } = await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['*'] } }, company.admin)
  return { id: body.id as number, login }
}

type Credentials = Login | string
/** As a user with the password, or with a token. */
const as = (who: Credentials, method: string, path: string, body?: unknown): Promise<Answer> => {
  const sent = body === undefined ? {} : { body }
  return typeof who === 'string'
    ? send(method, path, { ...sent, headers: { authorization: `Bearer ${who}` } }, null)
    : send(method, path, sent, who)
}
const optionsFor = async (who: Credentials): Promise<any> => (await as(who, 'POST', `${at}/options`)).body

/** A user with a passkey. */
async function registered (): Promise<User & { key: ReturnType<typeof createAuthenticator>, passkeyId: string, codes: string[] }> {
  const user = await newUser()
  const key = createAuthenticator(origin)
  const { status, body } = await as(user.login, 'POST', at, { name: 'Laptop', response: key.create(await optionsFor(user.login)) })
  t.equal(status, 201, JSON.stringify(body))
  return { ...user, key, passkeyId: body.passkey.id, codes: body.recoveryCodes }
}

const tokenOf = async ({ email, password }: Login, totp: string): Promise<string> =>
  (await send('POST', '/auth', { body: { username: email, password, totp } }, null)).body.data.token as string

async function alone (answer: (question: any) => string): Promise<string | undefined> {
  const question = (await sessions.ask('passkey'))!
  return sessions.openBy({ kind: 'passkey', answer: answer(question.options), challenge: question.challenge }, client)
}

await t.test('a passkey is made for the public address, and is a second factor: the password alone does not suffice', async (t) => {
  const { login, codes, id } = await registered()
  t.equal(codes.length, 10)
  isError(t, await send('GET', '/api/v1/credits', {}, login), 'forbidden')
  const token = await tokenOf(login, codes[0] ?? '')
  has(t, (await as(token, 'GET', '/api/v1/my/second-factor')).body, { enabled: true, app: false, passkeys: 1, recoveryCodes: 9 })
  has(t, (await as(token, 'GET', at)).body, { data: [{ name: 'Laptop', usedAt: null }], nextCursor: null })
  const options = await optionsFor(token)
  has(t, options, { rp: { id: 'dispatch.example.com' }, user: { name: login.email }, excludeCredentials: [{ transports: ['internal'] }] })
  const second = await as(token, 'POST', at, { name: 'Phone', response: createAuthenticator(origin).create(options) })
  t.same([second.status, second.body.recoveryCodes], [201, []], 'codes come with the first one')
  t.equal((await as(token, 'GET', at)).status, 401, 'a change ends all tokens')
  const audit = (await send('GET', `/api/v1/audit?userId=${id}`, {}, company.admin)).body.data
  has(t, audit, [{ action: 'passkey.added', facts: { name: 'Phone' } }, { action: 'passkey.added', facts: { name: 'Laptop' } }])
})

await t.test('what was not asked, from this origin, of this user and just now, makes no passkey', async (t) => {
  const [user, other] = [await newUser(), await newUser()]
  const key = createAuthenticator(origin)
  const add = (response: unknown, who = user.login): Promise<Answer> => as(who, 'POST', at, { name: 'Laptop', response })
  isError(t, await add(key.create(await optionsFor(user.login), { origin: 'https://evil.example' })), 'forbidden', 'another origin')
  isError(t, await add(key.create(await optionsFor(user.login), { party: 'evil.example' })), 'forbidden', 'another party')
  isError(t, await add(key.create({ ...await optionsFor(user.login), challenge: 'AAAA' })), 'forbidden', 'another challenge')
  isError(t, await add(key.create(await optionsFor(other.login))), 'forbidden', 'somebody else\'s challenge')
  const { options: signIn } = (await sessions.ask('passkey'))!
  isError(t, await add(key.create({ ...await optionsFor(user.login), ...signIn })), 'forbidden', 'a challenge of a sign-in')
  const old = await optionsFor(user.login)
  later(301)
  isError(t, await add(key.create(old)), 'forbidden', 'after five minutes')
  for (const broken of [null, {}, { ...key.create(old), type: 'x' }, { ...key.create(old), id: '<>' }]) {
    isError(t, await add(broken), 'validation_error')
  }
  const options = await optionsFor(user.login)
  const response = key.create(options)
  isError(t, await add({ ...response, response: { ...response.response, attestationObject: 'AAAA' } }), 'forbidden', 'garbage')
  isError(t, await add(response), 'forbidden', 'a challenge counts once, whatever came of it')
  t.equal((await send('GET', '/healthz', {}, user.login)).status, 200, 'nothing has changed')
  t.equal((await add(key.create(await optionsFor(user.login)))).status, 201)
  isError(t, await add(key.create(await optionsFor(other.login)), other.login), 'conflict', 'one credential is one user\'s')
})

await t.test('alone it signs in who has it, where the device has verified them, once for each challenge', async (t) => {
  const { key, id } = await registered()
  const session = await alone((options) => key.get(options))
  has(t, await sessions.actorOf(session ?? '', client.address), { userId: id })
  const wrong: Record<string, Parameters<typeof key.get>[1]> = {
    'not verified': { verified: false },
    'another origin': { origin: 'https://evil.example' },
    'another party': { party: 'evil.example' },
    'a count that does not grow': { counter: 1 },
    'another user\'s handle': { userHandle: 'dXNlciAx' }
  }
  for (const [name, deviation] of Object.entries(wrong)) t.equal(await alone((options) => key.get(options, deviation)), undefined, name)
  t.equal(await alone((options) => createAuthenticator(origin).get(options)), undefined, 'an unknown passkey')
  for (const garbage of ['', '{}', 'x', JSON.stringify({ id: 'x' })]) t.equal(await alone(() => garbage), undefined, garbage)
  const question = (await sessions.ask('passkey'))!
  const answer = key.get(question.options)
  t.equal(await sessions.openBy({ kind: 'passkey', answer, challenge: 'another' }, client), undefined, 'a challenge of another browser')
  t.equal(await sessions.openBy({ kind: 'passkey', answer, challenge: question.challenge }, client), undefined, 'which has used it up')
  const twice = (await sessions.ask('passkey'))!
  const answers = [key.get(twice.options), key.get(twice.options)]
  const opened = await Promise.all(
    answers.map((one) => sessions.openBy({ kind: 'passkey', answer: one, challenge: twice.challenge }, client))
  )
  t.equal(opened.filter((one) => one !== undefined).length, 1)
  const { owner } = app.get('database')
  await sql`insert into single_sign_on (company_id, code, issuer, client_id, client_secret, creates_users, default_role, default_services,
    links_by_email, required, way_in, updated_at) select company_id, 'keys', 'https://id.example.com', '', '{}', false, 'member', '{}', false,
    true, user_id, now() from users where email = ${company.admin.email}`.execute(owner)
  t.equal(await alone((options) => key.get(options)), undefined, 'where the company requires its own provider')
  await sql`delete from single_sign_on`.execute(owner)
  t.ok(await alone((options) => key.get(options)))
  await send('PUT', `/api/v1/users/${id}`, { body: { disabled: true } }, company.admin)
  t.equal(await alone((options) => key.get(options)), undefined, 'a user who is disabled')
})

await t.test('after the password it takes the place of the code, for this user and this wait only', async (t) => {
  const [user, other] = [await registered(), await registered()]
  const wait = async (): Promise<string> => {
    const opened = await sessions.open(user.login.email, user.login.password, client)
    return 'waiting' in opened ? opened.waiting : ''
  }
  const waiting = await wait()
  t.same(await sessions.waitingFor(waiting), { kinds: ['passkey'] })
  const options = async (): Promise<any> => (await sessions.ask('passkey', waiting))!.options
  has(t, await options(), { allowCredentials: [{ transports: ['internal'] }], userVerification: 'preferred' })
  await t.rejects(sessions.completeBy(waiting, { kind: 'passkey', answer: other.key.get(await options()) }, client), DispatchError,
    'somebody else\'s')
  const { options: ofAnybody } = (await sessions.ask('passkey'))!
  await t.rejects(sessions.completeBy(waiting, { kind: 'passkey', answer: user.key.get(ofAnybody) }, client), DispatchError,
    'a challenge of another use')
  const session = await sessions.completeBy(waiting, { kind: 'passkey', answer: user.key.get(await options(), { verified: false }) },
    client)
  has(t, await sessions.actorOf(session ?? '', client.address), { userId: user.id }, 'the password has said who it is')
  t.equal(await sessions.ask('passkey', waiting), undefined, 'the wait is over')
})

await t.test('its owner names it, and removes it with the password or a code; with the last one the recovery codes go', async (t) => {
  const { login, passkeyId, codes } = await registered()
  const other = await registered()
  const [token, foreign] = [await tokenOf(login, codes[0] ?? ''), await tokenOf(other.login, other.codes[0] ?? '')]
  has(t, (await as(token, 'PUT', `${at}/${passkeyId}`, { name: 'Old laptop' })).body, { id: passkeyId, name: 'Old laptop' })
  const proof = { password: login.password }
  for (const id of [passkeyId, randomUUID(), 'x']) {
    isError(t, await as(foreign, 'PUT', `${at}/${id}`, { name: 'Mine' }), 'not_found')
    isError(t, await as(foreign, 'POST', `${at}/${id}/remove`, proof), 'not_found')
  }
  isError(t, await as(token, 'POST', `${at}/${passkeyId}/remove`, { password: 'wrong horse' }), 'forbidden')
  t.equal((await as(token, 'POST', `${at}/${passkeyId}/remove`, { code: codes[1] })).status, 204)
  has(t, (await as(login, 'GET', '/api/v1/my/second-factor')).body, { enabled: false, passkeys: 0, recoveryCodes: 0 })
})

await t.test('where the public address is an IP address there are none; nothing of it was a fault', async (t) => {
  for (const url of ['http://127.0.0.1:3000', 'https://[::1]']) t.equal(relyingPartyOf(url), undefined)
  t.same(relyingPartyOf('https://dispatch.example.com:8443/'), { id: 'dispatch.example.com', origin: 'https://dispatch.example.com:8443' })
  const none = createPasskeys({
    database: app.get('database'),
    secondFactors: app.get('secondFactors'),
    factors: [],
    party: undefined,
    now: () => clock.now,
    newId: randomUUID
  })
  t.equal(none.offered, false)
  t.equal(await none.ask(), undefined)
  const { id: userId, login: { email } } = await newUser()
  await t.rejects(none.begin({ userId, companyId: company.companyId, email, role: 'member', services: [] }), DispatchError)
  hasNoFault(t, service)
})
