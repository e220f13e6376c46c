import t from 'tap'
import { hasNoFault, isError } from '../hostile/support.ts'
import { has, lacks } from '../support/matching.ts'
import { type Answer, type Login, type Sending, startService } from '../support/service.ts'

const service = await startService(t)
const { send } = service
const platform: Login = { email: 'operator@example.com', password: 'operator-password' }

type Made = { id: number, login: Login }

/** A company as an operator makes it, with its first admin. */
async function founded (name: string): Promise<{ companyId: number, admin: Login }> {
  const admin = { email: `admin@${name}.example.com`, password: 'a good password' }
  const { status, body } = await send('POST', '/api/v1/companies', { body: { name, credits: 10, admin } }, platform)
  t.equal(status, 201)
  return { companyId: body.id as number, admin }
}

let numbers = 0
async function made (by: Login, more: Record<string, unknown> = {}): Promise<Made> {
  const login = { email: `user-${++numbers}@users.example.com`, password: 'a good password' }
  const { status, body } = await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['*'], ...more } }, by)
  t.equal(status, 201, JSON.stringify(body))
  return { id: body.id as number, login }
}

const change = (by: Login, id: number, body: unknown): Promise<Answer> => send('PUT', `/api/v1/users/${id}`, { body }, by)
const health = async (login: Login): Promise<number> => (await send('GET', '/healthz', {}, login)).status
const tokenOf = async ({ email, password }: Login): Promise<string> =>
  (await send('POST', '/auth', { body: { username: email, password } }, null)).body.data.token as string
const bearer = (token: string): Sending => ({ headers: { authorization: `Bearer ${token}` } })

await t.test('a user that an admin makes can log in, and reads as made', async (t) => {
  const { admin } = await founded('making')
  const { status, body } = await send('POST', '/api/v1/users', {
    body: { email: 'Grace@Making.Example.com', password: 'a good password', role: 'member', services: ['invoicing'] }
  }, admin)
  t.equal(status, 201)
  has(t, body, { id: Number, email: 'grace@making.example.com', role: 'member', services: ['invoicing'], disabled: false, createdAt: /Z$/ })
  lacks(t, JSON.stringify(body), /password|argon/)
  t.equal(await health({ email: 'grace@making.example.com', password: 'a good password' }), 200)
  const readIn = async (version: string): Promise<unknown> =>
    (await send('GET', `/api/v1/users/${body.id}`, { headers: { 'x-api-version': version } }, admin)).body
  t.strictSame(await readIn('1.1.0'), { ...body, ways: { sessions: 0, keys: 0, factors: 0 } })
  for (const version of ['1.0.0', '1.0.1']) t.strictSame(await readIn(version), body, 'older clients read what they have read before')
})

await t.test('the list has the users of the company, page by page', async (t) => {
  const { admin } = await founded('listing')
  const ids = [(await send('GET', '/api/v1/users', {}, admin)).body.data[0].id]
  for (let turn = 0; turn < 4; turn++) ids.push((await made(admin)).id)
  const first = (await send('GET', '/api/v1/users?limit=3', {}, admin)).body
  const second = (await send('GET', `/api/v1/users?limit=3&cursor=${first.nextCursor}`, {}, admin)).body
  t.strictSame([...first.data, ...second.data].map(({ id }: Made) => id), ids)
  t.equal(second.nextCursor, null)
})

await t.test('an e-mail address is one user\'s of a company; nothing tells whether it is one\'s of another', async (t) => {
  const [{ companyId, admin }, other] = [await founded('first-come'), await founded('second-come')]
  const create = (email: string): Promise<Answer> =>
    send('POST', '/api/v1/users', { body: { email, password: 'quite another one', role: 'member', services: [] } }, admin)
  const plain = ({ status, body: { id, email, createdAt, ...body } }: Answer): unknown => ({
    status,
    body,
    types: [typeof id, typeof email, typeof createdAt]
  })
  const [taken, free] = [await create(other.admin.email.toUpperCase()), await create('nobody-has-it@example.com')]
  t.strictSame(plain(taken), plain(free))
  for (const email of [other.admin.email, 'nobody-has-it@example.com']) {
    isError(t, await create(email), 'conflict', 'a second time')
    has(t, await send('POST', '/auth', { body: { username: email, password: 'quite another one' } }, null), {
      status: 200,
      body: { data: { companyId } }
    }, 'whoever it is given to logs in')
    isError(t, await send('POST', '/auth', { body: { username: email, password: 'not it at all' } }, null), 'forbidden')
  }
  has(t, await send('POST', '/auth', { body: { username: other.admin.email, password: other.admin.password } }, null), {
    status: 200,
    body: { data: { companyId: other.companyId } }
  }, 'and so does who had it before')
  const { id } = await made(admin)
  has(t, await change(admin, id, { email: other.admin.email }), { status: 409 }, 'own users only')
  has(t, await change(admin, id, { email: 'operator@example.com' }), { status: 200, body: { email: 'operator@example.com' } })
  has(t, await change(admin, id, { email: 'third-come@example.com' }), { status: 200 })
  t.equal(
    (await send('POST', '/api/v1/companies', {
      body: { name: 'third', credits: 0, admin: { email: other.admin.email, password: 'a third password' } }
    }, platform)).status,
    201
  )
  t.equal(await health(other.admin), 200)
})

await t.test('who gives somebody else\'s address a password learns nothing of theirs', async (t) => {
  const [attacker, { admin: victim }] = [await founded('attackers'), await founded('victims')]
  const { body: { id } } = await send('POST', '/api/v1/users', {
    body: { email: victim.email, password: 'the first guess', role: 'member', services: [] }
  }, attacker.admin)
  for (const password of ['another wrong guess', victim.password]) {
    t.equal((await change(attacker.admin, id as number, { password })).status, 200)
    has(t, (await send('POST', '/auth', { body: { username: victim.email, password } }, null)).body.data, { companyId: attacker.companyId },
      'right or wrong')
  }
})

await t.test('two who take the same address at once: one gets it', async (t) => {
  const { admin } = await founded('race')
  const body = { email: 'both@race.example.com', password: 'a good password', role: 'member', services: [] }
  const answers = await Promise.all(Array.from({ length: 4 }, () => send('POST', '/api/v1/users', { body }, admin)))
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

await t.test('another password ends every session at once, also what Basic remembers', async (t) => {
  const { admin } = await founded('sessions')
  const { id, login } = await made(admin)
  const token = await tokenOf(login)
  t.strictSame([await health(login), (await send('GET', '/healthz', bearer(token), null)).status], [200, 200])
  t.equal((await change(admin, id, { password: 'another good one' })).status, 200)
  t.strictSame([
    await health(login),
    (await send('GET', '/healthz', bearer(token), null)).status,
    (await send('GET', '/auth/refresh', bearer(token), null)).status
  ], [401, 401, 401])
  t.equal(await health({ ...login, password: 'another good one' }), 200)
})

await t.test('whoever is disabled is refused from the next request on, and let in again by the next one', async (t) => {
  const { admin } = await founded('disabling')
  const { id, login } = await made(admin)
  const token = await tokenOf(login)
  has(t, (await change(admin, id, { disabled: true })).body, { disabled: true })
  t.strictSame([await health(login), (await send('GET', '/healthz', bearer(token), null)).status], [403, 403])
  isError(t, await send('POST', '/auth', { body: { username: login.email, password: login.password } }, null), 'forbidden')
  has(t, (await change(admin, id, { disabled: false })).body, { disabled: false })
  t.equal(await health(login), 200)
})

await t.test('nobody gives a role above their own, nor takes one', async (t) => {
  const { admin } = await founded('climbing')
  const { id, login } = await made(admin)
  for (const by of [admin, login]) {
    isError(t, await send('POST', '/api/v1/users', {
      body: { email: 'up@climbing.example.com', password: 'a good password', role: 'operator', services: [] }
    }, by), 'forbidden')
  }
  isError(t, await change(admin, id, { role: 'operator' }), 'forbidden')
  const { data: [self] } = (await send('GET', '/api/v1/users', {}, admin)).body
  isError(t, await change(admin, self.id as number, { role: 'operator' }), 'forbidden')
  for (const path of ['/api/v1/users', `/api/v1/users/${id}`]) isError(t, await send('GET', path, {}, login), 'forbidden')
  const colleague = await made(admin)
  for (const body of [{ role: 'admin' }, { disabled: true }, { password: 'another good one' }, { services: [] }]) {
    for (const other of [id, colleague.id]) {
      isError(t, await change(login, other, body), 'forbidden', 'a member changes nobody, not even themselves')
    }
  }
  isError(t, await send('POST', '/api/v1/users', {
    body: { email: 'beside@climbing.example.com', password: 'a good password', role: 'member', services: [] }
  }, login), 'forbidden', 'nor makes anybody')
})

await t.test('operators and the users of other companies are not there', async (t) => {
  const [{ admin }, other] = [await founded('here'), await founded('elsewhere')]
  const stranger = await made(other.admin)
  for (const id of [stranger.id, 1, 2_147_483_647]) {
    isError(t, await send('GET', `/api/v1/users/${id}`, {}, admin), 'not_found')
    isError(t, await change(admin, id, { disabled: true }), 'not_found')
  }
  for (const id of ['0', '-1', '1.5', 'x', '99999999999999999999', '%00']) {
    isError(t, await send('GET', `/api/v1/users/${id}`, {}, admin), 'not_found', id)
  }
  t.equal(await health(stranger.login), 200)

  const { body: colleague } = await send('POST', '/api/v1/users', {
    body: { email: 'colleague@platform.example.com', password: 'a good password', role: 'admin', services: [] }
  }, platform)
  const inside = { email: 'colleague@platform.example.com', password: 'a good password' }
  isError(t, await change(inside, 1, { disabled: true }), 'not_found', 'also for an admin of the platform')
  isError(t, await send('GET', '/api/v1/users/1', {}, inside), 'not_found')
  t.strictSame((await send('GET', '/api/v1/users', {}, inside)).body.data.map(({ id }: Made) => id), [colleague.id])
})

await t.test('the last enabled admin stays one', async (t) => {
  const { admin } = await founded('last')
  const { data: [{ id }] } = (await send('GET', '/api/v1/users', {}, admin)).body
  const second = await made(admin, { role: 'admin' })
  await made(admin)
  t.equal((await change(admin, second.id, { disabled: true })).status, 200)
  for (const body of [{ disabled: true }, { role: 'member' }]) {
    isError(t, await change(admin, id, body), 'conflict', 'one who is disabled does not count')
  }
  t.equal((await change(admin, id, { services: [], email: admin.email, current: admin.password })).status, 200, 'all else may change')
  t.equal((await change(admin, second.id, { disabled: false })).status, 200)
  t.equal((await change(admin, id, { role: 'member' })).status, 200)
  isError(t, await change(second.login, second.id, { disabled: true }), 'conflict')
  isError(t, await change(platform, 1, { role: 'admin' }), 'conflict', 'nor does the platform lose its last operator')
})

await t.test('two admins who take each other\'s role away at once: one is left', async (t) => {
  const { admin } = await founded('duel')
  const { data: [{ id }] } = (await send('GET', '/api/v1/users', {}, admin)).body
  for (let turn = 0; turn < 5; turn++) {
    const second = await made(admin, { role: 'admin' })
    await Promise.all([change(admin, second.id, { role: 'member' }), change(second.login, id, { role: 'member' })])
    const roles = await Promise.all(
      [id, second.id].map(
        async (one: number) => ((await service.app.get('database').owner.selectFrom('users').select('role').where('user_id', '=', one)
          .executeTakeFirstOrThrow()).role)
      )
    )
    t.ok(roles.includes('admin'), roles.join(', '))
    await service.app.get('database').owner.updateTable('users').set({ role: 'admin' }).where('user_id', '=', id).execute()
    await service.app.get('database').owner.updateTable('users').set({ role: 'member' }).where('user_id', '=', second.id).execute()
  }
})

await t.test('a password is 10 to 200 characters, none of them a control character, and not the e-mail address', async (t) => {
  const { admin } = await founded('passwords')
  const { id } = await made(admin)
  const refused = {
    'short-pas': 'validation_error',
    ['x'.repeat(201)]: 'validation_error',
    'a good\npassword': 'validation_error',
    'PASSWORDS-USER@users.example.com': 'validation_failed'
  } as const
  t.equal((await change(admin, id, { email: 'passwords-user@users.example.com' })).status, 200)
  for (const [password, word] of Object.entries(refused)) {
    isError(t, await change(admin, id, { password }), word, password)
    isError(t,
      await send('POST', '/api/v1/users', { body: { email: 'passwords-user@users.example.com', password, role: 'member', services: [] } },
        admin), word, password)
  }
  isError(t, await send('POST', '/api/v1/users', {
    body: { email: 'long-local-part@users.example.com', password: 'Long-Local-Part', role: 'member', services: [] }
  }, admin), 'validation_failed', 'nor its first part')
  isError(t, await change(admin, id, { email: 'a-good-password@users.example.com', password: 'a-good-password' }), 'validation_failed',
    'of the new address')
  t.equal((await change(admin, id, { password: 'é'.repeat(10) })).status, 200)
  t.equal(await health({ email: 'passwords-user@users.example.com', password: 'e\u0301'.repeat(10) }), 200, 'however it was composed')
})

await t.test('everybody changes their own password, with the current one', async (t) => {
  const { admin } = await founded('own-password')
  const { login } = await made(admin)
  const token = await tokenOf(login)
  const put = (body: unknown, as: Login = login): Promise<Answer> => send('PUT', '/api/v1/my/password', { body }, as)
  isError(t, await put({ current: 'not it at all', password: 'another good one' }), 'forbidden')
  isError(t,
    await send('PUT', '/api/v1/my/password', { body: { current: 'not it at all', password: 'another good one' }, ...bearer(token) }, null),
    'forbidden', 'a stolen token does not suffice')
  const { admin: stranger } = await founded('own-password-elsewhere')
  await send('POST', '/api/v1/users', { body: { email: login.email, password: 'the same address', role: 'member', services: [] } },
    stranger)
  isError(t,
    await send('PUT', '/api/v1/my/password', { body: { current: 'the same address', password: 'another good one' }, ...bearer(token) },
      null), 'forbidden', 'nor the password of another account of the address')
  isError(t, await put({ current: login.password, password: login.email }), 'validation_failed')
  isError(t, await put({ current: login.password, password: 'short' }), 'validation_error')
  t.equal((await put({ current: login.password, password: 'another good one' })).status, 204)
  t.strictSame([
    await health(login),
    (await send('GET', '/healthz', bearer(token), null)).status,
    await health({ ...login, password: 'another good one' })
  ], [401, 401, 200])
})

await t.test('one\'s own e-mail address and password need the current password on every way', async (t) => {
  const { admin } = await founded('own-way')
  const { data: [{ id }] } = (await send('GET', '/api/v1/users', {}, admin)).body
  const second = await made(admin, { role: 'admin' })
  const token = await tokenOf(admin)
  const acting = (await send('POST', '/auth/impersonate', { body: { userId: second.id } }, admin)).body.data.token as string
  const put = (bearerToken: string, of: number, body: unknown): Promise<Answer> =>
    send('PUT', `/api/v1/users/${of}`, { body, ...bearer(bearerToken) }, null)
  for (const body of [{ password: 'another good one' }, { email: 'moved@own-way.example.com' }]) {
    for (const wrong of [{}, { current: 'not it at all' }]) {
      isError(t, await put(token, id, { ...body, ...wrong }), 'forbidden', 'a stolen token does not suffice')
      isError(t, await put(acting, id, { ...body, ...wrong }), 'forbidden', 'nor does one that acts as somebody else')
      isError(t, await put(acting, second.id, { ...body, ...wrong }), 'forbidden', 'nor for whom it acts as')
    }
  }
  t.equal((await put(token, id, { services: ['*'] })).status, 200, 'the rest needs none')
  t.equal((await put(token, second.id, { password: 'another good one' })).status, 200, 'nor does somebody else\'s')
  has(t, await put(token, id, { email: 'moved@own-way.example.com', current: admin.password }), {
    status: 200,
    body: { email: 'moved@own-way.example.com' }
  })
  const moved = { ...admin, email: 'moved@own-way.example.com' }
  t.equal((await put(await tokenOf(moved), id, { password: 'another good one', current: admin.password })).status, 200)
  t.equal(await health({ ...moved, password: 'another good one' }), 200)
})

await t.test('nobody hands on services that they do not have, nor comes to them by somebody else', async (t) => {
  const { admin } = await founded('services')
  const limited = await made(admin, { role: 'admin', services: ['email', 'sms'] })
  const [equal, above] = [await made(limited.login, { services: ['email'] }), await made(admin, { services: ['postal', 'email'] })]
  for (const services of [['*'], ['postal'], ['email', 'postal']]) {
    isError(t, await send('POST', '/api/v1/users', {
      body: { email: 'more@services.example.com', password: 'a good password', role: 'member', services }
    }, limited.login), 'forbidden', services.join())
    for (const { id } of [equal, limited]) isError(t, await change(limited.login, id, { services }), 'forbidden', services.join())
  }
  has(t, await change(limited.login, above.id, { services: ['postal', 'sms'] }), { status: 200, body: { services: ['postal', 'sms'] } },
    'what they have already stays')
  for (const body of [{ password: 'another good one' }, { email: 'mine@services.example.com' }]) {
    isError(t, await change(limited.login, above.id, body), 'forbidden')
  }
  isError(t, await send('POST', '/auth/impersonate', { body: { userId: above.id } }, limited.login), 'forbidden')
  isError(t, await send('POST', '/api/v1/keys', { body: { name: 'theirs', mode: 'live', userId: above.id } }, limited.login), 'forbidden')
  t.equal((await send('POST', '/auth/impersonate', { body: { userId: equal.id } }, limited.login)).status, 200)
  t.equal((await change(limited.login, equal.id, { password: 'another good one' })).status, 200)
  t.equal((await change(admin, limited.id, { services: ['*'] })).status, 200, 'who has them gives them')
  t.equal((await send('POST', '/auth/impersonate', { body: { userId: above.id } }, limited.login)).status, 200)
})

await t.test('a change changes what it names and nothing else; one that names nothing is refused', async (t) => {
  const { admin } = await founded('partial')
  const { id, login } = await made(admin, { services: ['sms'] })
  const { body: before } = await send('GET', `/api/v1/users/${id}`, {}, admin)
  t.strictSame((await change(admin, id, { services: ['email', 'sms'] })).body, { ...before, services: ['email', 'sms'] })
  t.strictSame((await change(admin, id, { role: 'admin' })).body, { ...before, services: ['email', 'sms'], role: 'admin' })
  t.equal(await health(login), 200, 'the password is what it was')
  for (const body of [
    {},
    { rank: 'admin' },
    { role: 'root' },
    { services: ['fax'] },
    { services: ['sms', 'sms'] },
    { email: 'no address' },
    { disabled: 'yes' }
  ]) isError(t, await change(admin, id, body), 'validation_error', JSON.stringify(body))
})

await t.test('changes of the same user at once wait for each other', async (t) => {
  const { admin } = await founded('at-once')
  const second = await made(admin, { role: 'admin' })
  const session = bearer(await tokenOf(second.login))
  const answers = await Promise.all(Array.from({ length: 24 }, (_, index) =>
    index % 2 === 0
      ? change(admin, second.id, { email: `at-once-${index}@users.example.com` })
      : send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} }, ...session }, null)))
  t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
})

await t.test('none of it was a fault of the service, and no password is in its log', (t) => {
  hasNoFault(t, service)
  lacks(t, service.log.join('\n'), /good password|another good one/)
  t.end()
})
