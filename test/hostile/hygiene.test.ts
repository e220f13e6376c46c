import t from 'tap'
import { script } from '../../plugins/console/browser/script.ts'
import { stylesheet } from '../../plugins/console/browser/stylesheet.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { isError, routesOf } from './support.ts'

const service = await startService(t, {
  config: { securityContact: 'mailto:security@example.com' },
  replacements: { renderer: quickRenderer }
})
const { send, app } = service

/** A header by which a browser would keep something, or let another origin read. */
const isOpening = (header: string): boolean => header === 'set-cookie' || header.startsWith('access-control-')

await t.test('no answer of any route sets a cookie, lets another origin read it, or may be framed, ' +
  'sniffed or loaded elsewhere', async (t) => {
  const routes = await routesOf(app)
  t.ok(routes.length > 40)
  for (const { method, url } of routes) {
    const plain = url.replaceAll(/:\w+/g, '1').replace('*', 'swagger-ui.css')
    // A stream lasts for as long as it may.
    const path = ['/api/v1/dispatches/changes', '/api/v1/events/stream'].includes(plain) ? `${plain}?seconds=1` : plain
    for (const origin of ['https://evil.example', 'null']) {
      const { headers } = await send(method, path, {
        headers: { origin, cookie: 'session=1', 'access-control-request-method': 'POST' },
        ...(method === 'GET' || method === 'HEAD' ? {} : { body: {} })
      })
      const name = `${method} ${path}`
      t.same([...headers.keys()].filter(isOpening), [], name)
      contains(t, headers.get('content-security-policy'), /^default-src 'none'.*(frame-ancestors 'none'|sandbox)/, name)
      has(t, Object.fromEntries(headers), {
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        // A form of the console tells its origin; to other sites it tells nothing either.
        'referrer-policy': path.startsWith('/console') && ![stylesheet.path, script.path].includes(path) ? 'same-origin' : 'no-referrer',
        'cross-origin-resource-policy': 'same-origin'
      }, name)
    }
  }
})

await t.test('so it is with what succeeds: a login, a dispatch and its document, a key', async (t) => {
  const login = { username: admin.email, password: admin.password }
  const { body: { data: { token } } } = await send('POST', '/auth', { body: login }, null)
  const { body: { generatedDocument: { id, url } } } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  const { body: { id: userId } } = await send('POST', '/api/v1/users', {
    body: { email: 'ada@example.com', password: 'a good password', role: 'member', services: [] }
  })
  const sent: [method: string, path: string, body?: object][] = [
    ['POST', '/auth', login],
    ['GET', '/auth/refresh'],
    ['POST', '/auth/impersonate', { userId }],
    ['POST', '/api/invoicing', invoiceRequest()],
    ['POST', '/api/invoicing/validate', invoiceRequest()],
    ['GET', `/api/v1/documents/${String(id)}`],
    ['GET', new URL(String(url)).pathname],
    ['GET', '/healthz'],
    ['GET', '/api/v1/my/config'],
    ['POST', '/api/v1/keys', { name: 'Shop', mode: 'live' }],
    ['POST', '/api/webhooks/esign/providers/universign/endpoint.json', {}]
  ]
  for (const [method, path, body] of sent) {
    const headers = { authorization: `Bearer ${String(token)}`, origin: 'https://evil.example', cookie: 'session=1' }
    const answer = await send(method, path, { headers, ...(body === undefined ? {} : { body }) }, null)
    t.ok(answer.status < 300, `${method} ${path} is ${answer.status}`)
    t.same([...answer.headers.keys()].filter(isOpening), [], `${method} ${path}`)
  }
})

await t.test('so it is with answers that no route gives', async (t) => {
  for (const path of ['/nowhere', '/%zz', '/api/nowhere', `/api/v1/templates/${'a'.repeat(500)}`, '/d/forged']) {
    const { status, headers } = await send('GET', path, { headers: { origin: 'https://evil.example' } })
    t.equal(status, 404, path)
    has(t, Object.fromEntries(headers), {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': /default-src 'none'/
    }, path)
    t.same([...headers.keys()].filter(isOpening), [], path)
  }
})

await t.test('the pages load nothing from elsewhere, and run no script of their markup', async (t) => {
  for (const path of ['/docs', '/docs/try', '/docs/try/static/index.html', '/docs/providers']) {
    const { status, headers, body } = await send('GET', path, {}, null)
    t.equal(status, 200, path)
    const policy = headers.get('content-security-policy') ?? ''
    lacks(t, policy, /https?:|\*|script-src[^;]*unsafe/, path)
    lacks(t, String(body), /(src|href)="(https?:)?\/\/(?!www\.|docs\.|developer|help\.)[^"]*\.(js|css)"/, path)
    lacks(t, String(body), /<script>/, path)
  }
})

await t.test('security.txt says whom to tell, until when, and where it stands', async (t) => {
  const { status, headers, body } = await send('GET', '/.well-known/security.txt', {}, null)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  const fields = Object.fromEntries(String(body).trimEnd().split('\n').map((line) => line.split(/: (.*)/s)))
  has(t, fields, {
    Contact: 'mailto:security@example.com',
    Canonical: 'https://dispatch.example.com/.well-known/security.txt',
    'Preferred-Languages': 'en'
  })
  const days = (new Date(String(fields.Expires)).getTime() - Date.now()) / 86_400_000
  t.ok(days > 30 && days < 365, 'RFC 9116 recommends less than a year')
})

await t.test('without a contact there is none', async (t) => {
  const { send } = await startService(t, { replacements: { renderer: quickRenderer } })
  isError(t, await send('GET', '/.well-known/security.txt', {}, null), 'not_found')
})
