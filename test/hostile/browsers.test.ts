import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import t from 'tap'
import { admin, type Answer, invoiceRequest, startService } from '../support/service.ts'
import { hasNoFault, isError, routesOf, traces } from './support.ts'

const service = await startService(t)
const { send, app, url } = service
const from = (site: string): { headers: Record<string, string> } => ({
  headers: { 'sec-fetch-site': site, origin: 'https://evil.example' }
})

await t.test('the page of another site cannot have a browser that remembers Basic change anything, on any route', async (t) => {
  const before = await traces(app)
  const unsafe = (await routesOf(app)).filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  t.ok(unsafe.length > 30)
  for (const { method, url: path } of unsafe) {
    for (const site of ['cross-site', 'same-site']) {
      const answer = await send(method, path.replace(/:\w+/g, '1').replace('*', 'x'), { body: '{}', ...from(site) })
      if (path.startsWith('/api/webhooks/')) t.equal(answer.status, 200, 'an event is acknowledged, whatever it is')
      else if (path.startsWith('/console')) t.equal(answer.status, 403, `${method} ${path} ${site}`)
      else isError(t, answer, 'forbidden', `${method} ${path} ${site}`)
    }
    // A browser that does not send Fetch Metadata names the origin of the page.
    if (path.startsWith('/console')) {
      const answer = await send(method, path.replace(/:\w+/g, '1'), { body: '{}', headers: { origin: 'https://evil.example' } })
      t.equal(answer.status, 403, `${method} ${path} of another origin`)
    }
  }
  t.same(await traces(app), before)
})

await t.test('a browser asks a person for a password where they go, not where a script of a page goes', async (t) => {
  // `fetch` of Node sends a mode of its own.
  const offered = async (headers: Record<string, string>): Promise<string | undefined> => {
    const [answer] = await once(get(`${url}/api/v1/credits`, { headers }), 'response') as [IncomingMessage]
    answer.resume()
    return answer.headers['www-authenticate']
  }
  const bearer = 'Bearer realm="Document Dispatch"'
  for (const mode of ['cors', 'no-cors', 'same-origin', 'websocket']) t.equal(await offered({ 'sec-fetch-mode': mode }), bearer, mode)
  for (const headers of [{ 'sec-fetch-mode': 'navigate' }, {}]) {
    t.equal(await offered(headers), `Basic realm="Document Dispatch", charset="UTF-8", ${bearer}`)
  }
})

await t.test('a form of another site is not uploaded', async (t) => {
  const form = new FormData()
  form.set('file', new Blob(['Hello']), 'hello.txt')
  const post = async (site: string): Promise<number> =>
    (await fetch(`${url}/api/upload`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Basic ${btoa(`${admin.email}:${admin.password}`)}`, ...from(site).headers }
    })).status
  t.equal(await post('cross-site'), 403)
  t.equal(await post('same-origin'), 200)
})

await t.test('pages of the service, people and programs are served, and what changes nothing is', async (t) => {
  const invoice = (headers: Record<string, string>): Promise<Answer> => send('POST', '/api/invoicing', { body: invoiceRequest(), headers })
  for (const headers of [{}, ...['same-origin', 'none'].map((site) => from(site).headers)]) t.equal((await invoice(headers)).status, 200)
  t.equal((await send('GET', '/docs', from('cross-site'), null)).status, 200, 'a link')
  hasNoFault(t, service)
})
