import t from 'tap'
import { has } from '../support/matching.ts'
import { invoiceRequest, seededEnvironment } from '../support/service.ts'
import { dataDirectory, send, startReady } from './support/process.ts'

void t.test('the log tells of each request who, what and how long, and never a secret or a body', async (t) => {
  const env = await seededEnvironment(t)
  const service = await startReady(t, { dataDirectory: dataDirectory(t), env: { ...env, DISPATCH_LOG_LEVEL: 'trace' } })
  const url = service.url()
  const personal = { customer: { name: 'Grace Hopper', email: 'grace@navy.example.com', city: 'Arlington', country: 'US' } }
  const done = await send(url, 'POST', '/api/invoicing', invoiceRequest(personal, { metadata: { caller: 'confidential-metadata' } }))
  const refused = await send(url, 'POST', '/api/invoicing', invoiceRequest(personal, { invoicing: { reference: 'reject' } }))
  const { body: { data: { token } } } = await send(url, 'POST', '/auth', { username: 'demo@example.com', password: 'demo-password' })
  await send(url, 'POST', '/auth', { username: 'demo@example.com', password: 'not-the-password' })
  await fetch(`${url}/api/v1/credits`, { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'my-request' } })
  await fetch(`${url}/api/v1/credits?token=query-secret`, {
    headers: { authorization: 'Bearer forged-token', cookie: 'session=cookie-secret' }
  })
  const link = done.body.generatedDocument.url.replace(/^https?:\/\/[^/]+/, url)
  t.equal((await fetch(link)).status, 200)
  process.kill(service.pid, 'SIGTERM')
  await service.ended

  const lines = service.log()
  const answered = lines.filter(({ msg }) => msg === 'answered')
  has(t, answered, [
    {
      method: 'POST',
      route: '/api/invoicing',
      status: 200,
      dispatchId: done.body.dispatchId,
      companyId: 2,
      userId: 2,
      requestId: String,
      ms: Number
    },
    {
      method: 'POST',
      route: '/api/invoicing',
      status: 422,
      dispatchId: refused.body.dispatchId,
      companyId: 2,
      requestId: refused.body.requestId
    },
    { method: 'POST', route: '/auth', status: 200 },
    { method: 'POST', route: '/auth', status: 403 },
    { method: 'GET', route: '/api/v1/credits', status: 200, requestId: 'my-request', companyId: 2 },
    { method: 'GET', route: '/api/v1/credits', status: 401 },
    { method: 'GET', route: '/d/:token', status: 200 }
  ])
  const refusals = lines.filter(({ msg }) => msg === 'the provider did not accept a request')
  t.same(refusals.map(({ level, provider, error, dispatchId }) => [level, provider, error, dispatchId]), [[
    40,
    'simulator',
    'provider_error',
    refused.body.dispatchId
  ]], 'a refusal is one warning')
  t.same(lines.filter((line) => JSON.stringify(line).includes('"stack"')), [], 'and nothing of this is a fault of the service')
  const json = lines.map((line) => JSON.stringify(line)).join('\n')
  const secrets = [
    'demo-password',
    'not-the-password',
    token,
    'forged-token',
    'query-secret',
    'cookie-secret',
    Buffer.from('demo@example.com:demo-password').toString('base64'),
    'Grace Hopper',
    'grace@navy',
    'confidential-metadata',
    'Consulting',
    link.split('/').at(-1),
    ...Object.values(env)
  ]
  t.same(secrets.filter((secret) => json.includes(secret)), [])
  t.equal(service.stderr(), '')
})

void t.test('a log that nobody reads any more stops neither the service nor its end', async (t) => {
  const service = await startReady(t, { dataDirectory: dataDirectory(t), env: await seededEnvironment(t) })
  service.closeOutput()
  has(t, await send(service.url(), 'POST', '/api/invoicing', invoiceRequest()), { status: 200 })
  process.kill(service.pid, 'SIGTERM')
  t.equal(await service.ended, 0)
})
