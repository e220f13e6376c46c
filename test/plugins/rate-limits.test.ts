import t, { type Test } from 'tap'
import { makeKey } from '../../core/packages/accounts/access/api-key.ts'
import type { Config } from '../../plugins/config/config.ts'
import { clockAt } from '../support/clock.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, invoiceRequest, type Login, seededDatabase, startService, type TestService } from '../support/service.ts'

/** Two processes behind a proxy, with the limits as they are unless told. */
async function open (limits: Partial<Config['limits']> = {}): Promise<[TestService, TestService]> {
  const databaseUrl = await seededDatabase(t)
  const options = {
    databaseUrl,
    config: { limits: { auth: 10, dispatch: 100, validation: 0, requests: 0, ...limits }, trustedProxies: ['127.0.0.1'] },
    replacements: { renderer: quickRenderer }
  }
  return [await startService(t, options), await startService(t, options)]
}

const [here, there] = await open()
const [strict, stricter] = await open({ auth: 2, dispatch: 4, validation: 2 })
const free = await startService(t, { replacements: { renderer: quickRenderer } })

const from = (address: string): { headers: Record<string, string> } => ({ headers: { 'x-forwarded-for': address } })
const wrong: Login = { email: admin.email, password: 'wrong' }

async function statuses (count: number, send: (index: number) => Promise<Answer>): Promise<number[]> {
  const found: number[] = []
  for (let index = 0; index < count; index++) found.push((await send(index)).status)
  return found
}

function isLimited (t: Test, { status, headers, body }: Answer, policy: string): void {
  has(t, { status, body }, {
    status: 429,
    body: { error: 'rate_limited', message: /try again in \d+/, requestId: headers.get('x-request-id') }
  })
  contains(t, headers.get('retry-after'), /^[1-9]\d?\d?$/)
  contains(t, headers.get('ratelimit-policy'), new RegExp(`^"${policy}";q=\\d+;w=\\d+$`))
  contains(t, headers.get('ratelimit'), new RegExp(`^"${policy}";r=0;t=${headers.get('retry-after') ?? ''}$`))
}

await t.test('an address logs in and refreshes ten times in a minute, in all processes together', async (t) => {
  const login = { username: admin.email, password: admin.password }
  const { body: { data: { token } } } = await here.send('POST', '/auth', { body: login, ...from('192.0.2.1') }, null)
  const refresh = { headers: { authorization: `Bearer ${String(token)}`, 'x-forwarded-for': '192.0.2.1' } }
  t.same(await statuses(9, (index) => (index % 2 === 0 ? here : there).send('GET', '/auth/refresh', refresh, null)), Array(9).fill(200))
  for (const service of [here, there]) {
    isLimited(t, await service.send('POST', '/auth', { body: login, ...from('192.0.2.1') }, null), 'auth')
    isLimited(t, await service.send('GET', '/auth/refresh', refresh, null), 'auth')
  }
  t.equal((await here.send('POST', '/auth', { body: login, ...from('192.0.2.2') }, null)).status, 200, 'another address is not concerned')
  t.equal(
    (await here.send('GET', '/api/v1/credits', { headers: { authorization: `Bearer ${String(token)}`, 'x-forwarded-for': '192.0.2.1' } },
      null)).status,
    200,
    'nor is a token that is there'
  )
})

await t.test('every answer of a limited route tells what is left', async (t) => {
  const first = await here.send('POST', '/auth', { body: { username: 'nobody@example.com', password: 'x' }, ...from('192.0.2.11') }, null)
  t.same([first.status, first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')], [
    403,
    '"auth";q=10;w=60',
    '"auth";r=9;t=60'
  ])
  const dispatched = await there.send('POST', '/api/invoicing', { body: invoiceRequest() })
  t.same([dispatched.status, dispatched.headers.get('ratelimit-policy'), dispatched.headers.get('ratelimit')], [
    200,
    '"dispatch";q=100;w=60',
    '"dispatch";r=99;t=60'
  ])
  for (const path of ['/api/invoicing/validate', '/api/file/email/validate']) {
    t.equal((await here.send('POST', path, { body: {} })).headers.get('ratelimit'), null, path)
  }
  t.equal((await here.send('GET', '/api/v1/credits')).headers.get('ratelimit'), null)
})

await t.test('wrong passwords by Basic: ten a minute and address, whoever is meant and wherever it is sent', async (t) => {
  const guess = (index: number): Promise<Answer> =>
    (index % 2 === 0 ? here : there).send('GET', index % 3 === 0 ? '/healthz' : '/api/v1/credits', from('192.0.2.21'), {
      email: `user${index % 4}@example.com`,
      password: `guess ${index}`
    })
  t.same(await statuses(10, guess), Array(10).fill(401))
  isLimited(t, await guess(10), 'failures')
  isLimited(t, await guess(11), 'failures')
  const { member } = await here.company('fresh')
  isLimited(t, await there.send('GET', '/healthz', from('192.0.2.21'), member), 'failures')
  t.equal((await there.send('GET', '/healthz', from('192.0.2.22'), member)).status, 200)
})

await t.test('where the tries at a password are spent nothing tells that a guess is right, also while its owner is at work', async (t) => {
  const { member, admin: colleague } = await here.company('watched')
  const use = (service: TestService, address: string, login: Login = member): Promise<Answer> =>
    service.send('GET', '/healthz', from(address), login)
  const guess = (address: string) => (index: number): Promise<Answer> => use(here, address, { ...member, password: `guess ${index}` })
  for (const login of [member, colleague]) {
    for (const service of [here, there]) t.equal((await use(service, '192.0.2.31', login)).status, 200)
  }
  for (const address of ['192.0.2.32', '192.0.2.31']) {
    t.same(await statuses(12, guess(address)), [...Array<number>(10).fill(401), 429, 429])
    isLimited(t, await use(here, address), 'failures')
  }
  t.equal((await use(here, '192.0.2.31', colleague)).status, 200, 'a colleague at the same address goes on')
})

await t.test('many addresses that guess at one account are refused, and its owner is not', async (t) => {
  const { member } = await strict.company('hunted')
  t.equal((await strict.send('GET', '/healthz', from('203.0.113.5'), member)).status, 200)
  const found = await statuses(20,
    (index) =>
      (index % 2 === 0 ? strict : stricter).send('GET', '/healthz', from(`198.51.100.${index}`), { ...member, password: `${index}` }))
  t.same(found, [...Array<number>(10).fill(401), ...Array<number>(10).fill(429)])
  isLimited(t, await stricter.send('GET', '/healthz', from('198.51.100.99'), member), 'account')
  t.equal((await stricter.send('GET', '/healthz', from('203.0.113.5'), member)).status, 200,
    'a known address, a process that has not seen the password yet')
})

await t.test('keys that do not exist are guesses too', async (t) => {
  const { body: { key } } = await strict.send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live' } })
  const guess = (bearer: unknown, address = '192.0.2.1'): Promise<Answer> =>
    strict.send('GET', '/healthz', { headers: { authorization: `Bearer ${String(bearer)}`, 'x-forwarded-for': address } }, null)
  t.same(await statuses(3, () => guess(makeKey('live').secret)), [401, 401, 429])
  t.equal((await guess(key)).status, 200, 'a key that exists cannot be locked out')
})

await t.test('a user dispatches so often in a minute, by whatever route, credentials or process', async (t) => {
  const company = await strict.company('busy')
  const { body: { data: { token } } } = await strict.send('POST', '/auth', {
    body: { username: company.member.email, password: company.member.password }
  }, null)
  const send = (service: TestService, path: string, login: Login | null = company.member): Promise<Answer> =>
    service.send('POST', path, { body: {}, ...login === null ? { headers: { authorization: `Bearer ${String(token)}` } } : {} }, login)
  t.equal((await send(strict, '/api/invoicing')).status, 400, 'what is wrong counts as well')
  await send(stricter, '/api/file/email', null)
  await send(strict, '/api/v1/dispatches/018f0000-0000-7000-8000-000000000000/retry')
  t.equal((await send(stricter, '/api/upload', null)).headers.get('ratelimit'), '"dispatch";r=0;t=60')
  for (const [service, path] of [[strict, '/api/invoicing'], [stricter, '/api/file/email'], [stricter, '/api/upload']] as const) {
    isLimited(t, await send(service, path, null), 'dispatch')
  }
  t.equal((await send(strict, '/api/invoicing', company.admin)).status, 400, 'another user is not concerned')
  t.not((await send(strict, '/api/invoicing/validate')).status, 429)
})

await t.test('a limit stops what it should before the body is read', async (t) => {
  await statuses(4, () => strict.send('POST', '/api/invoicing', { body: {} }))
  isLimited(t, await strict.send('POST', '/api/invoicing', { body: '{ broken' }), 'dispatch')
})

await t.test('validations are limited where the operator says so', async (t) => {
  const company = await strict.company('careful')
  const validate = (): Promise<Answer> => strict.send('POST', '/api/invoicing/validate', { body: invoiceRequest() }, company.member)
  t.same(await statuses(2, validate), [200, 200])
  const answer = await validate()
  isLimited(t, answer, 'validation')
  t.equal(answer.body.result, 'error')
})

await t.test('0 takes every limit off', async (t) => {
  t.same(new Set(await statuses(30, (index) => free.send('GET', '/healthz', {}, { ...wrong, password: `${index}` }))), new Set([401]))
  t.same(new Set(await statuses(15, () => free.send('POST', '/auth', { body: { username: 'a', password: 'b' } }, null))), new Set([403]))
  t.equal((await free.send('POST', '/api/invoicing', { body: {} })).headers.get('ratelimit'), null)
})

await t.test('requests of any kind are limited for each user, over all processes and credentials, and come back evenly', async (t) => {
  const clock = clockAt('2026-03-14T09:30:00.000Z')
  const options = {
    databaseUrl: await seededDatabase(t),
    config: { limits: { auth: 0, dispatch: 2, validation: 1_000, requests: 100 } },
    replacements: { renderer: quickRenderer, now: clock.now }
  }
  const [one, other] = [await startService(t, options), await startService(t, options)]
  const company = await one.company('busy')
  const { body: { key } } = await one.send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live' } }, company.admin)
  const requested = (service: TestService, path = '/api/v1/unknown'): Promise<Answer> =>
    service.send('GET', path, { headers: { authorization: `Bearer ${String(key)}` } }, null)
  const first = await requested(one)
  t.equal(first.status, 404)
  contains(t, first.headers.get('ratelimit-policy'), '"requests";q=100;w=60')
  contains(t, first.headers.get('ratelimit'), /^"requests";r=9\d;t=\d+$/)
  const found = await statuses(250, (index) => requested(index % 2 === 0 ? one : other))
  const passed = found.filter((status) => status === 404).length
  t.ok(passed >= 95 && passed <= 125, `${String(passed)} of 250 passed`)
  for (const service of [one, other]) isLimited(t, await requested(service, '/api/v1/credits'), 'requests')
  isLimited(t, await one.send('GET', '/api/v1/credits', {}, company.admin), 'requests')
  t.equal((await one.send('GET', '/api/v1/credits', {}, company.member)).status, 200, 'a colleague is not concerned')
  const validated = await one.send('POST', '/api/file/validate', { body: {} }, company.member)
  contains(t, validated.headers.get('ratelimit'), '"requests";r=', 'the narrower limit, of which less is left')
  clock.advance(30)
  t.equal((await requested(one, '/api/v1/credits')).status, 200)
  const dispatched = await one.send('POST', '/api/invoicing', { body: invoiceRequest() }, company.member)
  contains(t, dispatched.headers.get('ratelimit'), /^"dispatch";r=1;/, 'the narrower limit is told')
})
