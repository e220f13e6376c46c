import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import t, { type Test } from 'tap'
import { testProviders, type Handler } from '../plugins/support/providers.ts'
import { invoiceRequest, startService, type Answer, type Sending } from '../support/service.ts'
import { dump } from './support.ts'

/** What must stay where it was put. */
const secret = 'canary+secret/4711'
const canaries = { password: 'canary-password', token: 'canary-token', data: 'canary-data', metadata: 'canary-metadata', query: 'canary-query' }
const basic = Buffer.from(`user:${secret}`).toString('base64')

const providers = await testProviders(t)
const service = await startService(t, { config: { providerDirectories: providers.directories, logLevel: 'trace' } })
const company = await service.company('canary')
const { house, log } = service

/** The ways in which a vendor's code gives away what it was given, by name. */
const leaks: Record<string, (token: string) => unknown> = {
  'throws an error': (token) => { throw new Error(`401 for ${token}`) },
  'throws an error with a cause': (token) => { throw new Error('failed', { cause: new Error(`401 for ${token}`) }) },
  'throws an error with fields': (token) => { throw Object.assign(new TypeError('failed'), { request: { headers: { authorization: `Bearer ${token}` } }, code: token }) },
  'throws several errors': (token) => { throw new AggregateError([new Error(token)], token) },
  'throws a text': (token) => rejection(token),
  'throws an object': (token) => rejection({ name: token, message: token, stack: token, [token]: token }),
  'throws an error with a secret name': (token) => { throw Object.assign(new Error('failed'), { name: token }) },
  'refuses': (token) => { throw refused(token, `The key ${token} is not good.`) },
  'is unavailable': (token) => { throw unavailable(`No answer to Basic ${Buffer.from(`user:${token}`).toString('base64')}.`) },
  'does not know': (token) => { throw outcomeUnknown(`GET /?key=${encodeURIComponent(token)} was cut off`) },
  'answers with it': (token) => ({ id: '1', status: token, url: `https://vendor.example/?key=${encodeURIComponent(token)}`, echo: { headers: [`Bearer ${token}`], [token]: 1 } }),
  'answers with nonsense': (token) => ({ [token]: token }),
  'answers with what is no JSON': (token) => ({ id: '1', status: 'sent', at: new Date(), token: () => token })
}

/** Plain JavaScript throws anything. */
function rejection (reason: unknown): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  reject(reason)
  return promise
}

const handler: Handler = async ({ invoicing }, { settings, log }) => {
  const token = settings['token'] as string
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level]({ token, nested: { list: [token, { url: `https://user:${encodeURIComponent(token)}@vendor.example` }] }, err: new Error(token, { cause: token }) }, `Calling with ${token}.`)
  }
  return Promise.resolve(leaks[invoicing.reference ?? '']?.(token))
}
await providers.add('vendor', { settings: '{ token: Secret(), region: Type.Optional(Type.String()) }', requestSettings: '{ label: Type.Optional(Type.String()) }' }, handler)
await service.send('POST', '/api/v1/providers/reload', {}, { email: 'operator@example.com', password: 'operator-password' })

const put = (scope: string, body: unknown): Promise<Answer> => service.send('PUT', `/api/v1/${scope}`, { body }, company.admin)

/** Neither the text, nor what it looks like inside a URL or a Basic header. */
function lacks (t: Test, where: unknown, text: string, what: string): void {
  const all = typeof where === 'string' ? where : JSON.stringify(where)
  for (const form of [text, encodeURIComponent(text), basic.slice(8, -4)]) t.notOk(all.includes(form), what)
}

const shown = ({ headers, body }: Answer): string => JSON.stringify([[...headers], body])

await t.test('a secret that is stored never comes back', async (t) => {
  for (const scope of ['company', 'my']) {
    const stored = await put(`${scope}/providers/vendor`, { settings: { token: secret, region: 'eu' } })
    t.match(stored, { status: 200, body: { settings: { token: { set: true } } } })
    lacks(t, shown(stored), secret, `${scope}: when it is stored`)
    lacks(t, shown(await put(`${scope}/providers/vendor`, { settings: { region: 7 } })), secret, `${scope}: when what is given is wrong`)
    lacks(t, shown(await put(`${scope}/providers/vendor`, { settings: { token: { value: secret } } })), secret, `${scope}: when it is itself wrong`)
  }
  for (const path of ['/api/v1/my/config', '/api/v1/providers']) lacks(t, shown(await service.send('GET', path, {}, company.admin)), secret, path)
})

await t.test('a vendor\'s code cannot give a secret away by what it throws, answers or logs', async (t) => {
  for (const reference of Object.keys(leaks)) {
    const answer = await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'vendor', invoicing: { reference } }) }, company.admin)
    t.not(answer.status, 500, reference)
    lacks(t, shown(answer), secret, reference)
    const id = String(answer.body.dispatchId)
    for (const path of ['', '/events']) lacks(t, shown(await service.send('GET', `/api/v1/dispatches/${id}${path}`, {}, company.admin)), secret, `${reference}${path}`)
  }
  lacks(t, log.join(''), secret, 'the log')
})

await t.test('what a vendor\'s code threw is logged all the same', (t) => {
  const failures = log.map((line) => JSON.parse(line) as { msg: string, err?: { message?: string, cause?: { message?: string } } }).filter(({ msg }) => msg === 'provider failed unexpectedly')
  t.ok(failures.some(({ err }) => err?.message === '401 for [redacted]'))
  t.ok(failures.some(({ err }) => err?.cause?.message === '401 for [redacted]'))
  t.end()
})

await t.test('the database holds no secret and no password in the clear', async (t) => {
  const rows = JSON.stringify(await dump(house))
  t.match(rows, '"region\\": \\"eu\\"', 'what is no secret is there')
  for (const hidden of [secret, 'demo-password', 'operator-password']) lacks(t, rows, hidden, hidden)
})

/** Requests that carry canaries, and come to nothing in different ways. */
const failing: Record<string, [string, string, Sending]> = {
  'a login': ['POST', '/auth', { body: { username: 'demo@example.com', password: canaries.password } }],
  'a login with a field too many': ['POST', '/auth', { body: { username: 'demo@example.com', password: canaries.password, otp: canaries.token } }],
  'a login of the wrong type': ['POST', '/auth', { body: { username: 'demo@example.com', password: [canaries.password] } }],
  'a login that is no JSON': ['POST', '/auth', { body: `{"password": "${canaries.password}", x}` }],
  'a login cut short': ['POST', '/auth', { body: `{"password": ${canaries.password}` }],
  'Basic': ['GET', '/healthz', { headers: { authorization: `Basic ${Buffer.from(`demo@example.com:${canaries.password}`).toString('base64')}` } }],
  'Basic that is none': ['GET', '/healthz', { headers: { authorization: `Basic ${canaries.password}` } }],
  'Bearer': ['GET', '/healthz', { headers: { authorization: `Bearer ${canaries.token}` } }],
  'a refresh': ['GET', '/auth/refresh', { headers: { authorization: `Bearer ${canaries.token}` } }],
  'a cookie': ['GET', '/nowhere', { headers: { cookie: canaries.token, 'x-api-key': canaries.token } }],
  'a query': ['GET', `/api/v1/dispatches?recipient=${canaries.query}`, {}],
  'a wrong query': ['GET', `/api/v1/dispatches?status=${canaries.query}&limit=${canaries.query}`, {}],
  'a link': ['GET', `/d/${canaries.token}`, {}],
  'wrong data': ['POST', '/api/invoicing', { body: invoiceRequest({ date: canaries.data, currency: canaries.data, customer: { name: 'Ada', email: canaries.data, country: canaries.data, postalCode: canaries.data }, total: canaries.data, notes: [canaries.data] }) }],
  'wrong fields': ['POST', '/api/invoicing', { body: invoiceRequest({}, { documentType: canaries.data, sendByEmail: canaries.data, callbackUrl: canaries.data, invoicing: { dueDate: canaries.data }, metadata: { a: [canaries.metadata] }, settings: canaries.data }) }],
  'settings of a request that do not fit': ['POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'vendor', settings: { label: [canaries.data] } }) }],
  'data that cannot be shown': ['POST', '/api/invoicing', { body: invoiceRequest({ notes: `${canaries.data} \u202E`, customer: { name: canaries.data } }, { metadata: { a: canaries.metadata } }) }],
  'a body that is too large': ['POST', '/api/invoicing', { body: { notes: canaries.data.repeat(500_000) } }],
  'a body of another type': ['POST', '/api/invoicing', { body: canaries.data, headers: { 'content-type': 'text/plain' } }],
  'a vendor that fails': ['POST', '/api/invoicing', { body: invoiceRequest({ notes: canaries.data }, { providerName: 'vendor', invoicing: { reference: 'throws an error' }, metadata: { a: canaries.metadata }, settings: { label: canaries.data } }) }]
}

await t.test('an error never repeats what was sent as a password, a token, data or metadata', async (t) => {
  for (const [name, [method, path, sending]] of Object.entries(failing)) {
    const answer = await service.send(method, path, sending, sending.headers?.['authorization'] === undefined ? company.admin : null)
    for (const canary of Object.values(canaries)) if (path !== `/d/${canary}`) lacks(t, shown(answer), canary, `${name}: ${canary}`)
  }
})

await t.test('metadata comes back where it is meant to, and data only where they are what is asked for', async (t) => {
  const answer = await service.send('POST', '/api/invoicing', { body: invoiceRequest({ notes: canaries.data }, { metadata: { note: canaries.metadata } }) }, company.admin)
  t.same(answer.body.metadata, { note: canaries.metadata })
  for (const path of ['', '/events']) lacks(t, shown(await service.send('GET', `/api/v1/dispatches/${String(answer.body.dispatchId)}${path}`, {}, company.admin)), canaries.data, path)
})

await t.test('no line of the log has any of it, at any level', (t) => {
  const lines = log.join('')
  t.ok(log.length > 50)
  for (const canary of [secret, ...Object.values(canaries), 'authorization', '@canary.example.com']) lacks(t, lines, canary, canary)
  t.end()
})
