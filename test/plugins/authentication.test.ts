import type { Account } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import Fastify from 'fastify'
import t from 'tap'
import { accountWith, basic, createAccess } from '../../core/packages/accounts/test/fixtures/access.ts'
import { authenticationPlugin, authorizationPlugin } from '../../plugins/hooks/authentication.ts'
import { authRoutes } from '../../plugins/routes/login.ts'
import { has } from '../support/matching.ts'

async function createApp (...accounts: Account[]) {
  const access = await createAccess(...accounts)
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } })
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (error instanceof DispatchError) return reply.code(error.status).send({ error: error.word, message: error.message })
    return reply.code(error.statusCode ?? 500).send({ error: 'other', message: error.message })
  })
  await app.register(authenticationPlugin, access)
  await app.register(authorizationPlugin, { authentication: access.authentication, now: access.clock.now })
  await app.register(authRoutes, access)
  app.get('/me', ({ actor }) => actor)
  app.post('/me', ({ actor }) => actor)
  app.get('/open', { config: { public: true } }, () => ({ open: true }))
  app.get('/confused', { config: { public: true } }, ({ actor }) => actor)
  const login = async (username: string, password: string) =>
    await app.inject({ method: 'POST', url: '/auth', payload: { username, password } })
  const get = async (url: string, authorization?: string) =>
    await app.inject({ url, headers: { ...authorization !== undefined && { authorization } } })
  return { ...access, app, login, get }
}

type Answer = { data: { token: string, userId: number, companyId: number } }
const ada = accountWith()
const right = basic('ada@example.com', 'correct horse')

await t.test('a route is closed unless it says that it is public', async (t) => {
  const { get } = await createApp(ada)
  has(t, await get('/open'), { statusCode: 200 })
  for (const url of ['/me', '/nowhere']) {
    const answer = await get(url)
    t.equal(answer.statusCode, 401)
    has(t, answer.json(), { error: 'unauthorized', message: /Authorization header is required/ })
  }
  t.equal((await get('/nowhere', right)).statusCode, 404)
})

await t.test('Basic and Bearer tell the route who acts', async (t) => {
  const { get, login, clock } = await createApp(ada)
  const provedAt = clock.now().toISOString()
  const actor = { userId: 7, companyId: 3, email: 'ada@example.com', role: 'member', services: ['*'], provedAt, passwordVersion: 1 }
  t.same((await get('/me', right)).json(), actor)
  const { data } = (await login('ADA@example.com', 'correct horse')).json<Answer>()
  t.same((await get('/me', `Bearer ${data.token}`)).json(), actor)
})

await t.test('a refused request names both schemes', async (t) => {
  const { get } = await createApp(ada)
  const schemes = ['Basic realm="Document Dispatch", charset="UTF-8"', 'Bearer realm="Document Dispatch"']
  t.same((await get('/me')).headers['www-authenticate'], schemes)
  t.same((await get('/me', basic('ada@example.com', 'wrong'))).headers['www-authenticate'], schemes)
  for (const url of ['/me', '/auth/refresh']) {
    t.same((await get(url, 'Bearer wrong')).headers['www-authenticate'], [schemes[0], `${schemes[1]}, error="invalid_token"`])
  }
  t.equal((await get('/open')).headers['www-authenticate'], undefined)
})

await t.test('wrong, malformed and oversized credentials are 401', async (t) => {
  const { get } = await createApp(ada)
  for (const header of [
    basic('ada@example.com', 'wrong'),
    basic('eve@example.com', 'x'),
    basic('', ''),
    'Basic !',
    'Basic',
    'Bearer',
    'Bearer a.b.c',
    'Negotiate x',
    `Bearer ${'a'.repeat(10_000)}`
  ]) {
    const answer = await get('/me', header)
    t.equal(answer.statusCode, 401, header.slice(0, 40))
    has(t, answer.json(), { error: 'unauthorized' })
  }
})

await t.test('credentials are checked before the body is read', async (t) => {
  const { app } = await createApp(ada)
  const answer = await app.inject({ method: 'POST', url: '/me', headers: { 'content-type': 'application/json' }, payload: '{ broken' })
  t.equal(answer.statusCode, 401)
})

await t.test('an account disabled between two requests is 403, by either scheme', async (t) => {
  const { get, login, accounts } = await createApp(ada)
  const { data } = (await login('ada@example.com', 'correct horse')).json<Answer>()
  accounts.change(7, { disabled: true })
  for (const header of [right, `Bearer ${data.token}`]) {
    const answer = await get('/me', header)
    t.equal(answer.statusCode, 403)
    has(t, answer.json(), { error: 'forbidden' })
    t.equal(answer.headers['www-authenticate'], undefined)
  }
})

await t.test('a public route that asks for the actor fails instead of serving nobody', async (t) => {
  const { get } = await createApp(ada)
  has(t, (await get('/confused', right)).json(), { message: 'GET /confused is public: it has no actor.' })
})

await t.test('one request never sees the actor of another', async (t) => {
  const { get } = await createApp(ada, accountWith({ userId: 8, email: 'bob@example.com' }))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (unused, index) => get('/me', index % 2 === 0 ? right : basic('bob@example.com', 'correct horse')))
  )
  t.same(answers.map((answer) => answer.json<{ userId: number }>().userId), answers.map((unused, index) => index % 2 === 0 ? 7 : 8))
})

await t.test('a login answers with token, user and company, never to be cached', async (t) => {
  const { login } = await createApp(ada)
  const answer = await login('ada@example.com', 'correct horse')
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers['cache-control'], 'no-store')
  has(t, answer.json(), { data: { token: /^[\w-]+\.[\w-]+\.[\w-]+$/, userId: 7, companyId: 3 } })
  t.same(Object.keys(answer.json<Answer>().data).sort(), ['companyId', 'token', 'userId'])
})

await t.test('a login with wrong credentials or of a disabled user is 403, without a difference', async (t) => {
  const { login } = await createApp(ada, accountWith({ userId: 8, email: 'off@example.com', disabled: true }))
  for (const [username, password] of [
    ['ada@example.com', 'wrong'],
    ['eve@example.com', 'wrong'],
    ['off@example.com', 'correct horse'],
    [
      '',
      ''
    ],
    ['a\0', '\ud800']
  ] as const) {
    const answer = await login(username, password)
    t.equal(answer.statusCode, 403)
    t.same(answer.json(), { error: 'forbidden', message: 'Invalid credentials.' })
  }
})

await t.test('a login without its fields, or with others, is 400', async (t) => {
  const { app } = await createApp(ada)
  for (const payload of [
    {},
    { username: 'a' },
    { password: 'a' },
    { username: ['a'], password: 'a' },
    { username: 'a', password: 'a', scope: '*' },
    { username: 'a', password: 'a'.repeat(1025) }
  ]) {
    t.equal((await app.inject({ method: 'POST', url: '/auth', payload })).statusCode, 400, JSON.stringify(payload).slice(0, 40))
  }
})

await t.test('a refresh gives a new token of the same user and company, also for one just expired', async (t) => {
  const { login, get, clock } = await createApp(ada)
  const { data: old } = (await login('ada@example.com', 'correct horse')).json<Answer>()
  clock.advance(2 * 3600)
  has(t, (await get('/me', `Bearer ${old.token}`)).json(), { error: 'unauthorized', message: /expired/ })
  const answer = await get('/auth/refresh', `Bearer ${old.token}`)
  t.equal(answer.headers['cache-control'], 'no-store')
  const { data } = answer.json<Answer>()
  has(t, data, { userId: 7, companyId: 3 })
  t.equal((await get('/me', `Bearer ${data.token}`)).statusCode, 200)
})

await t.test('what cannot be refreshed is 401', async (t) => {
  const { login, get, clock } = await createApp(ada)
  const { data } = (await login('ada@example.com', 'correct horse')).json<Answer>()
  for (const header of [undefined, right, 'Bearer x', `Bearer ${data.token}x`]) {
    t.equal((await get('/auth/refresh', header)).statusCode, 401)
  }
  clock.advance(26 * 3600)
  t.equal((await get('/auth/refresh', `Bearer ${data.token}`)).statusCode, 401)
})
