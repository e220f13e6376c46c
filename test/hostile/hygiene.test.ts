import t from 'tap'
import { quickRenderer } from '../plugins/support/parts.ts'
import { startService } from '../support/service.ts'
import { isError, routesOf } from './support.ts'

const service = await startService(t, { config: { securityContact: 'mailto:security@example.com' }, parts: { renderer: quickRenderer } })
const { send, house } = service

await t.test('no answer of any route sets a cookie, lets another origin read it, or may be framed, sniffed or loaded elsewhere', async (t) => {
  const routes = await routesOf(house)
  t.ok(routes.length > 40)
  for (const { method, url } of routes) {
    const path = url.replaceAll(/:\w+/g, '1').replace('*', 'swagger-ui.css')
    for (const origin of ['https://evil.example', 'null']) {
      const { headers } = await send(method, path, { headers: { origin, cookie: 'session=1', 'access-control-request-method': 'POST' }, ...(method === 'GET' || method === 'HEAD' ? {} : { body: {} }) })
      const name = `${method} ${path}`
      t.same([...headers.keys()].filter((header) => header === 'set-cookie' || header.startsWith('access-control-')), [], name)
      t.match(headers.get('content-security-policy'), /^default-src 'none'.*(frame-ancestors 'none'|sandbox)/, name)
      t.match(Object.fromEntries(headers), { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin' }, name)
    }
  }
})

await t.test('so it is with answers that no route gives', async (t) => {
  for (const path of ['/nowhere', '/%zz', '/api/nowhere', `/api/v1/templates/${'a'.repeat(500)}`, '/d/forged']) {
    const { status, headers } = await send('GET', path, { headers: { origin: 'https://evil.example' } })
    t.equal(status, 404, path)
    t.match(Object.fromEntries(headers), { 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY', 'content-security-policy': /default-src 'none'/ }, path)
    t.same([...headers.keys()].filter((header) => header.startsWith('access-control-')), [], path)
  }
})

await t.test('the pages load nothing from elsewhere, and run no script of their markup', async (t) => {
  for (const path of ['/docs/', '/docs/static/index.html', '/docs/providers']) {
    const { status, headers, body } = await send('GET', path, {}, null)
    t.equal(status, 200, path)
    const policy = headers.get('content-security-policy') ?? ''
    t.notMatch(policy, /https?:|\*|script-src[^;]*unsafe/, path)
    t.notMatch(String(body), /(src|href)="(https?:)?\/\/(?!www\.|docs\.|developer|help\.)[^"]*\.(js|css)"/, path)
    t.notMatch(String(body), /<script>/, path)
  }
})

await t.test('security.txt says whom to tell, until when, and where it stands', async (t) => {
  const { status, headers, body } = await send('GET', '/.well-known/security.txt', {}, null)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  const fields = Object.fromEntries(String(body).trimEnd().split('\n').map((line) => line.split(/: (.*)/s)))
  t.match(fields, { Contact: 'mailto:security@example.com', Canonical: 'https://dispatch.example.com/.well-known/security.txt', 'Preferred-Languages': 'en' })
  const days = (new Date(String(fields.Expires)).getTime() - Date.now()) / 86_400_000
  t.ok(days > 30 && days < 365, 'RFC 9116 recommends less than a year')
})

await t.test('without a contact there is none', async (t) => {
  const { send } = await startService(t, { parts: { renderer: quickRenderer } })
  isError(t, await send('GET', '/.well-known/security.txt', {}, null), 'not_found')
})
