import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import t from 'tap'
import { passkeys } from '../../core/packages/features/passkeys/service/passkeys.ts'
import { tablesIn as signOnTables } from '../../core/packages/features/single-sign-on/store/tables.ts'
import { isError } from '../hostile/support.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { contains, has } from '../support/matching.ts'
import { type Answer, type Login, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const publicUrl = 'http://localhost'
const service = await startService(t, { config: { publicUrl } })
const { app, send } = service
const { owner } = app.get('database')
const { confirm, open, post, signIn } = openConsole(service)
const acme = await service.company('acme')
const rival = await service.company('rival')

let made = 0
async function newUser (role = 'admin', services = ['*']): Promise<Login & { id: number }> {
  const login = { email: `user-${++made}@acme.example.com`, password: 'correct horse' }
  const { body } = await send('POST', '/api/v1/users', { body: { ...login, role, services } }, acme.admin)
  return { ...login, id: body.id as number }
}
const tokenOf = ({ email: username, password }: Login): Promise<Answer> => send('POST', '/auth', { body: { username, password } }, null)
const by = (token: unknown): Promise<Answer> =>
  send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${String(token)}` } }, null)

/** All that a thief within five minutes of a proof can leave behind. */
async function taken (victim: Login & { id: number }) {
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'thief', mode: 'live' } }, victim)
  const { body: { token: invited } } = await send('POST', '/api/v1/company/invitations', {
    body: { email: `friend-${made}@evil.test`, role: 'admin', services: ['*'] }
  }, victim)
  const authenticator = createAuthenticator(publicUrl)
  const { body: options } = await send('POST', '/api/v1/my/passkeys/options', {}, victim)
  const added = await send('POST', '/api/v1/my/passkeys', { body: { name: 'x', response: authenticator.create(options) } }, victim)
  await signOnTables(owner).insertInto('user_identities').values({
    company_id: acme.companyId,
    user_id: victim.id,
    issuer: 'https://issuer.test',
    subject: randomUUID(),
    linked_at: new Date()
  }).execute()
  const [recovery = '', second = '', third = ''] = added.body.recoveryCodes as string[]
  const cookieIn = ({ headers }: Answer, name: string): string =>
    headers.getSetCookie().find((one) => one.startsWith(`${name}=`))?.split(';', 1)[0] ?? ''
  const waiting = cookieIn(await post('/sign-in', { ...victim, id: '' }), '__Host-console-sign-in')
  const cookie = cookieIn(await post('/sign-in/code', { code: third }, waiting), '__Host-console')
  const { body: { data: { token } } } = await send('POST', '/auth', {
    body: { username: victim.email, password: victim.password, totp: recovery }
  }, null)
  return { cookie, key, invited, token, recovery: second }
}

await t.test('an admin ends every way in of a user; a link for another password lets the owner in again', async (t) => {
  const victim = await newUser()
  const thief = await taken(victim)
  for (const token of [thief.key, thief.token]) t.equal((await by(token)).status, 200)
  t.equal((await open('', thief.cookie)).status, 200)
  t.equal((await send('POST', `/api/v1/users/${victim.id}/reset`, {}, acme.admin)).status, 204)
  for (const token of [thief.key, thief.token]) isError(t, await by(token), 'unauthorized')
  t.equal((await open('', thief.cookie)).headers.get('location'), '/console/sign-in')
  isError(t, await send('POST', '/auth/links/use', { body: { token: thief.invited, password: 'another horse' } }, null), 'not_found')
  isError(t, await tokenOf(victim), 'forbidden', 'the password is of no use')
  const withCode = { username: victim.email, password: victim.password, totp: thief.recovery }
  isError(t, await send('POST', '/auth', { body: withCode }, null), 'forbidden')
  const left = await Promise.all(
    (['passkeys', 'recovery_codes', 'authenticators', 'user_identities', 'sessions'] as const).map((table) =>
      sql`select user_id from ${sql.table(table)} where user_id = ${victim.id}`.execute(owner)
    )
  )
  t.same(left.flatMap(({ rows }) => rows), [])
  const { body: { token } } = await send('POST', `/api/v1/users/${victim.id}/password-link`, {}, acme.admin)
  t.equal((await send('POST', '/auth/links/use', { body: { token, password: 'a new horse' } }, null)).status, 204)
  t.equal((await tokenOf({ ...victim, password: 'a new horse' })).status, 200)
  const { data: [entry] } = (await send('GET', '/api/v1/audit?action=access.reset', {}, acme.admin)).body
  has(t, entry, { object: { kind: 'user', id: String(victim.id) }, facts: { keys: 1 } })
})

await t.test('nobody resets themselves, somebody above them or with other services, or a user of another company', async (t) => {
  const [chief, user] = [await newUser(), await newUser('member')]
  const reset = (id: number, login: Login): Promise<Answer> => send('POST', `/api/v1/users/${id}/reset`, {}, login)
  isError(t, await reset(chief.id, chief), 'forbidden')
  isError(t, await reset(user.id, user), 'forbidden')
  isError(t, await reset(user.id, rival.admin), 'not_found')
  const above = (await send('GET', '/api/v1/users', {}, acme.operator)).body.data.find(({ email }: Login) => email === acme.operator.email)
  isError(t, await reset(above.id as number, chief), 'not_found')
  const narrow = await newUser('admin', ['file'])
  isError(t, await reset(user.id, narrow), 'forbidden', 'who has services that the admin does not have')
  const { body: { data: { token } } } = await send('POST', '/auth/impersonate', { body: { userId: user.id } }, chief)
  const acting = { headers: { authorization: `Bearer ${String(token)}` } }
  isError(t, await send('POST', `/api/v1/users/${chief.id}/reset`, acting, null), 'forbidden')
  t.equal((await tokenOf(user)).status, 200)
})

await t.test('an operator does it for an only admin, as whom they act', async (t) => {
  const chief = await newUser()
  const { body: { data: { token } } } = await send('POST', '/auth/impersonate', { body: { userId: chief.id } }, acme.operator)
  const acting = { headers: { authorization: `Bearer ${String(token)}` } }
  t.equal((await send('POST', `/api/v1/users/${chief.id}/reset`, acting, null)).status, 204)
  isError(t, await tokenOf(chief), 'forbidden')
})

await t.test('the console does it on the page of the user', async (t) => {
  const victim = await newUser('member')
  const cookie = await signIn(acme.admin)
  const page = await open(`/company/users/${victim.id}`, cookie)
  contains(t, page.body, `action="/console/company/users/${victim.id}/reset"`)
  const done = await confirm(`/company/users/${victim.id}/reset`, {}, cookie)
  contains(t, done.body, 'Every way in has ended.')
  isError(t, await tokenOf(victim), 'forbidden')
})

/** Sends a request but for its last byte, has `meanwhile` happen once its sender is let in, and answers what comes when it is whole. */
async function heldOpen (
  path: string,
  { body, headers }: { body: string, headers: Record<string, string> },
  { letIn, meanwhile }: { letIn: Promise<void>, meanwhile: () => Promise<unknown> }
): Promise<IncomingMessage> {
  const sent = request(service.url + path, { method: 'POST', headers: { 'content-length': Buffer.byteLength(body), ...headers } })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.write(body.slice(0, -1))
  await letIn
  await meanwhile()
  sent.end(body.slice(-1))
  const [answer] = await answered
  answer.resume()
  return answer
}

const parts = { authentication: app.get('authentication'), sessions: app.get('sessions') }

/** Resolves when a token is next let in. */
function tokenLetIn (): Promise<void> {
  const { authentication } = parts
  const { authenticate } = authentication
  const { promise, resolve } = Promise.withResolvers<undefined>()
  authentication.authenticate = async (...given) => {
    const actor = await authenticate(...given)
    authentication.authenticate = authenticate
    resolve(undefined)
    return actor
  }
  return promise
}

/** Resolves when a session is next let in. */
function sessionLetIn (): Promise<void> {
  const { sessions } = parts
  const { visitorOf } = sessions
  const { promise, resolve } = Promise.withResolvers<undefined>()
  sessions.visitorOf = async (...given) => {
    const visitor = await visitorOf(...given)
    sessions.visitorOf = visitorOf
    resolve(undefined)
    return visitor
  }
  return promise
}

const keysOf = ({ id }: { id: number }) =>
  owner.selectFrom('api_keys').select('key_id').where('user_id', '=', id).where('revoked_at', 'is', null).execute()
const resetting = ({ id }: { id: number }) => async (): Promise<void> => {
  t.equal((await send('POST', `/api/v1/users/${id}/reset`, {}, acme.admin)).status, 204)
}

await t.test('a request that was begun before a reset, and whose body ends after it, makes nothing', async (t) => {
  for (const [path, body] of [
    ['/api/v1/keys', { name: 'held', mode: 'live' }],
    ['/api/v1/users', { email: 'held@evil.test', password: 'correct horse', role: 'admin', services: ['*'] }],
    ['/api/v1/company/callback-secret', {}]
  ] as const) {
    const victim = await newUser()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${String((await tokenOf(victim)).body.data.token)}` }
    const { statusCode } = await heldOpen(path, { body: JSON.stringify(body), headers }, {
      letIn: tokenLetIn(),
      meanwhile: resetting(victim)
    })
    t.equal(statusCode, 401, path)
    t.same(await keysOf(victim), [])
  }
  t.same(await owner.selectFrom('users').select('user_id').where('email', '=', 'held@evil.test').execute(), [])
})

await t.test('so it is at the console', async (t) => {
  const victim = await newUser()
  const cookie = await signIn(victim)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', cookie }
  const { statusCode, headers: { location } } = await heldOpen('/console/developers/keys', { body: 'name=held&mode=live', headers }, {
    letIn: sessionLetIn(),
    meanwhile: resetting(victim)
  })
  t.equal(statusCode, 303)
  t.equal(location, '/console/sign-in')
  t.same(await keysOf(victim), [])
})

await t.test('a key or a passkey is made under the password version with which its maker was let in', async (t) => {
  const victim = await newUser()
  const actor = await parts.authentication.authenticate(`Bearer ${String((await tokenOf(victim)).body.data.token)}`, '127.0.0.1')
  const author = { userId: victim.id, companyId: acme.companyId, address: '127.0.0.1', requestId: 'any' }
  const authenticator = createAuthenticator(publicUrl)
  const { body: options } = await send('POST', '/api/v1/my/passkeys/options', {}, victim)
  await resetting(victim)()
  const key = app.get('keyAdministration').create({ actor, author }, { name: 'late', mode: 'live' })
  const response = { ...authenticator.create(options), type: 'public-key' as const }
  const passkey = app.find(passkeys).register({ actor, author }, { name: 'late', response })
  for (const made of await Promise.allSettled([key, passkey])) has(t, made, { status: 'rejected', reason: { word: 'unauthorized' } })
  t.same(await keysOf(victim), [])
})
