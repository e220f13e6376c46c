import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { requireHttps } from '../../plugins/config/config-transport.ts'
import { createConnectionClassifier } from '../../plugins/hooks/https.ts'
import { createHttpRefusalServer } from '../../plugins/server/http-refusal-server.ts'
import { transportLimits } from '../../plugins/server/transport-limits.ts'
import { isError } from '../hostile/support.ts'
import { contains, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { certificateFiles, fetchSecurely } from '../support/secure.ts'
import { admin, type Answer, invoiceRequest, startService, testConfig } from '../support/service.ts'

const replacements = { renderer: quickRenderer }
const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
const proxied = await startService(t, {
  config: { environment: 'production', trustedProxies: ['127.0.0.1/32', '10.0.0.0/8'] },
  replacements
})
const direct = await startService(t, { config: { environment: 'production', trustedProxies: ['10.0.0.0/8'] }, replacements })

type Got = { status: number, headers: Headers, body: any }

async function get (url: string, path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Got> {
  const response = await fetch(url + path, { ...init, headers: { authorization, ...headers }, redirect: 'manual' })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : text }
}

/** Refused before anything else is looked at, and nobody is sent elsewhere with the credentials. */
function isRefused (t: Test, answer: Got, name: string): void {
  isError(t, answer, 'https_required', name)
  t.equal(answer.headers.get('location'), null)
  t.equal(answer.headers.get('strict-transport-security'), null)
}

await t.test('what a trusted proxy has taken over HTTPS is served', async (t) => {
  for (const protocol of ['https', 'HTTPS', 'https, https']) {
    const answer = await get(proxied.url, '/healthz', { 'x-forwarded-proto': protocol })
    t.equal(answer.status, 200, protocol)
    t.equal(answer.headers.get('strict-transport-security'), 'max-age=31536000')
  }
})

await t.test('what it has taken over plain HTTP is refused, on every path', async (t) => {
  for (const protocol of ['http', 'http, https', 'https, http', 'https,http,https', '', 'wss', 'httpsx', 'https;http']) {
    for (const path of ['/healthz', '/livez', '/openapi.json', '/docs/', '/nowhere', '/%zz', '/d/token', '/.well-known/security.txt']) {
      isRefused(t, await get(proxied.url, path, { 'x-forwarded-proto': protocol }), `${protocol} ${path}`)
    }
  }
  isRefused(t,
    await get(proxied.url, '/auth', { 'x-forwarded-proto': 'http', 'content-type': 'application/json' }, { method: 'POST', body: '{}' }),
    'a login')
  isRefused(t, await get(proxied.url, '/healthz', { 'x-forwarded-proto': 'http', 'x-api-version': '9' }), 'an unknown version')
})

await t.test('pages that nobody has signed in for ask the service itself: their own way was encrypted', async (t) => {
  const secure = { 'x-forwarded-proto': 'https' }
  const page = await get(proxied.url, `/console/link/${'x'.repeat(43)}`, secure)
  t.equal(page.status, 404, 'there is no such link')
  t.equal((await get(proxied.url, '/console/forgotten', secure)).status, 200)
})

await t.test('a proxy that says nothing of the way may ask for the service\'s health alone', async (t) => {
  for (const path of ['/livez', '/readyz']) t.equal((await get(proxied.url, path)).status, 204, path)
  for (const path of ['/healthz', '/openapi.json', '/livezz', '/livez/']) isRefused(t, await get(proxied.url, path), path)
})

await t.test('nobody else is believed', async (t) => {
  for (const headers of [
    {},
    { 'x-forwarded-proto': 'https' },
    { forwarded: 'proto=https' },
    { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.1' },
    { 'x-forwarded-ssl': 'on', 'front-end-https': 'on' }
  ]) {
    for (const path of ['/healthz', '/livez', '/readyz']) isRefused(t, await get(direct.url, path, headers), JSON.stringify(headers))
  }
})

await t.test('a refused request does nothing, whatever it carries', async (t) => {
  const post = (path: string, body: unknown): Promise<Got> =>
    get(direct.url, path, { 'content-type': 'application/json' }, { method: 'POST', body: JSON.stringify(body) })
  isRefused(t, await post('/api/invoicing', invoiceRequest()), 'a dispatch')
  isRefused(t, await post('/api/webhooks/postal/providers/simulator/endpoint.json', {}),
    'an event of a vendor, whose password everybody could have read')
  lacks(t, direct.log.join(''), /companyId/, 'its credentials were not looked at')
})

await t.test('in development plain HTTP is served on loopback, but not what a trusted proxy has taken over it', async (t) => {
  const service = await startService(t, { config: { trustedProxies: ['127.0.0.0/8'] }, replacements })
  t.equal((await get(service.url, '/healthz')).status, 200)
  t.equal((await get(service.url, '/healthz', { 'x-forwarded-proto': 'https' })).status, 200)
  isRefused(t, await get(service.url, '/healthz', { 'x-forwarded-proto': 'http' }), 'http')
})

await t.test('what came over TLS to a proxy\'s own TLS is judged by the first way', async (t) => {
  const { authority: { ca }, config } = await certificateFiles(t)
  const { url } = await startService(t, { config: { ...config, trustedProxies: ['127.0.0.1/32'] }, replacements })
  const answer = (headers: Record<string, string>) => fetchSecurely(`${url}/healthz`, ca, { headers: { authorization, ...headers } })
  t.equal((await answer({})).status, 200)
  t.equal((await answer({ 'x-forwarded-proto': 'https' })).status, 200)
  t.equal((await answer({ 'x-forwarded-proto': 'http' })).status, 403)
})

await t.test('who a client is, a listed proxy alone says', async (t) => {
  const statuses = async (trustedProxies: string[]): Promise<number[]> => {
    const { send } = await startService(t, { config: { trustedProxies }, replacements })
    await send('PUT', '/api/v1/company', { body: { addresses: ['192.0.2.0/24'], force: true } })
    const from = (address: string): Promise<Answer> => send('GET', '/healthz', { headers: { 'x-forwarded-for': address } })
    return [(await from('192.0.2.1')).status, (await from('198.51.100.1')).status, (await from('192.0.2.1, 198.51.100.1')).status]
  }
  t.strictSame(await statuses([]), [403, 403, 403])
  t.strictSame(await statuses(['203.0.113.0/24']), [403, 403, 403], 'another one than it comes through')
  t.strictSame(await statuses(['127.0.0.1']), [200, 403, 403], 'and of what it says the last that no proxy has said')
})

await t.test('an IPv4 proxy is known by its address inside IPv6', (t) => {
  const way = createConnectionClassifier({ environment: 'production', host: '0.0.0.0', trustedProxies: ['10.0.0.0/8', 'fd00::/8'] })
  const from = (remoteAddress: string | undefined) => way({ socket: { remoteAddress }, headers: { 'x-forwarded-proto': 'https' } } as never)
  for (const [address, expected] of [
    ['::ffff:10.1.2.3', 'encrypted'],
    ['fd00::1', 'encrypted'],
    ['::ffff:11.1.2.3', 'plain'],
    [
      'fe00::1',
      'plain'
    ],
    [undefined, 'plain']
  ] as const) t.equal(from(address), expected, address ?? 'none')
  t.end()
})

await t.test('production does not begin without a way to HTTPS', (t) => {
  const config = testConfig('/tmp', { environment: 'production' })
  t.throws(() => {
    requireHttps({ ...config, trustedProxies: [] })
  }, { name: 'ConfigError', message: /^In production requests come over HTTPS: .*\.$/ })
  t.doesNotThrow(() => {
    requireHttps(config)
  })
  t.doesNotThrow(() => {
    requireHttps({ ...config, trustedProxies: [], tls: { cert: 'c', key: 'k' } })
  })
  t.doesNotThrow(() => {
    requireHttps({ ...config, environment: 'development', trustedProxies: [] })
  })
  t.end()
})

await t.test('the listener for plain HTTP refuses every request, and redirects nobody', async (t) => {
  const plain = createHttpRefusalServer({ ...transportLimits, head: 200, checkInterval: 50, connectionsOfAddress: 5 })
  await once(plain.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => plain.close())
  const { port } = plain.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/livez'],
    ['GET', '/docs/'],
    ['POST', '/auth'],
    ['DELETE', '/%zz'],
    [
      'OPTIONS',
      '/api/email'
    ]
  ] as const) {
    const answer = await get(url, path, { 'x-request-id': 'mine' }, { method, ...(method === 'POST' ? { body: 'x'.repeat(100_000) } : {}) })
    isRefused(t, answer, `${method} ${path}`)
    t.equal(answer.body.requestId, 'mine')
    t.equal(answer.headers.get('connection'), 'close')
  }
  t.equal((await get(url, '/', {}, { method: 'HEAD' })).status, 403)
  const raw = async (text: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
    })
    if (text !== '') socket.write(text)
    await once(socket, 'close')
    return received
  }
  contains(t, await raw('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'), /^$/)
  contains(t, await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /)
  contains(t, await raw('GET / HTTP/1.1\r\nHost:'), /^HTTP\/1\.1 408 /)
  contains(t, await raw('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc'), /^HTTP\/1\.1 403 /)
  contains(t, await raw(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
})

await t.test('a client has the time to connect, and to send its request, that is documented', (t) => {
  const { handshake, head, request } = transportLimits
  // In milliseconds: "Limits of connections" in plugins/guides/operator.md.
  t.same({ handshake, head, request }, { handshake: 30_000, head: 30_000, request: 120_000 })
  t.end()
})
