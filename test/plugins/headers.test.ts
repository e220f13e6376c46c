import t from 'tap'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, startService } from '../support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const get = (headers: Record<string, string> = {}, path = '/api/v1/credits'): Promise<Answer> => service.send('GET', path, { headers })
const versionOf = ({ headers }: Answer): (string | null)[] => [headers.get('x-api-version'), headers.get('x-api-released')]

await t.test('every answer carries the version that served it, the latest unless one is asked for', async (t) => {
  t.strictSame(versionOf(await get()), ['1.0.1', '2026-03-14'])
  t.strictSame(versionOf(await get({ 'x-api-version': '1.0.1' })), ['1.0.1', '2026-03-14'])
  t.strictSame(versionOf(await get({ 'x-api-version': '1.0.0' })), ['1.0.0', '2026-02-13'])
})

await t.test('a version that does not exist is a 400 that names those that do', async (t) => {
  for (const version of ['1.0', '1.0.2', '2', '', ' ', 'latest', '__proto__', 'toString']) {
    const answer = await get({ 'x-api-version': version })
    t.equal(answer.status, 400, version)
    has(t, answer.body, { error: 'unsupported_version', message: /1\.0\.0 and 1\.0\.1/ })
    t.strictSame(versionOf(answer), ['1.0.1', '2026-03-14'])
  }
})

await t.test('X-Request-ID is echoed, and stands in every error', async (t) => {
  const answer = await get({ 'x-request-id': 'order-7/A:b+c=d.e' }, '/api/v1/dispatches/none')
  t.equal(answer.headers.get('x-request-id'), 'order-7/A:b+c=d.e')
  t.equal(answer.body.requestId, 'order-7/A:b+c=d.e')
})

await t.test('without one, or with one that is no plain word, a new one is made', async (t) => {
  const ids = new Set<string | null>()
  for (const headers of [
    {},
    { 'x-request-id': '' },
    { 'x-request-id': 'a b' },
    { 'x-request-id': 'x'.repeat(129) },
    { 'x-request-id': '<script>' }
  ]) {
    const id = (await get(headers)).headers.get('x-request-id')
    contains(t, id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    ids.add(id)
  }
  t.equal(ids.size, 5)
})

await t.test('the headers are on every kind of answer', async (t) => {
  const answers = await Promise.all([
    service.send('GET', '/livez', {}, null),
    service.send('GET', '/nowhere'),
    service.send('GET', '/api/v1/credits', {}, null),
    service.send('POST', '/api/invoicing', { body: '{' }),
    service.send('GET', '/openapi.json', {}, null),
    service.send('GET', '/docs/', {}, null),
    service.send('DELETE', '/api/v1/my/providers/none')
  ])
  t.strictSame(answers.map(({ status }) => status), [204, 404, 401, 400, 200, 200, 404])
  for (const answer of answers) {
    t.strictSame(versionOf(answer), ['1.0.1', '2026-03-14'])
    t.ok(answer.headers.get('x-request-id'))
  }
})

await t.test('no answer allows another origin', async (t) => {
  for (const method of ['GET', 'OPTIONS']) {
    const { headers } = await service.send(method, '/api/v1/credits', {
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' }
    })
    t.notOk([...headers.keys()].some((name) => name.startsWith('access-control-')))
  }
})

await t.test('a page of another site makes no browser change anything, and may look', async (t) => {
  const requested = async (method: string, site: string): Promise<unknown> => {
    const sending = { headers: { 'sec-fetch-site': site }, ...method === 'POST' ? { body: { name: 'A key', mode: 'test' } } : {} }
    const { status, body } = await service.send(method, method === 'POST' ? '/api/v1/keys' : '/api/v1/credits', sending)
    return [status, body.error]
  }
  for (const site of ['cross-site', 'same-site']) {
    t.same(await requested('POST', site), [403, 'forbidden'], site)
    t.same(await requested('GET', site), [200, undefined], site)
  }
  for (const site of ['same-origin', 'none']) t.same(await requested('POST', site), [201, undefined], site)
})

await t.test('an unknown path says which part of it is unknown', async (t) => {
  const cases: [string, string, string, RegExp][] = [
    ['POST', '/api/invoicng', 'unknown_service', /did you mean "invoicing"/],
    ['POST', '/api/fax/validate', 'unknown_service', /there are: invoicing/],
    ['POST', '/api/invoicing/fax', 'unknown_service', /"fax"/],
    [
      'POST',
      '/api/invoicing/invoicing',
      'unknown_chain',
      /"invoicing" cannot follow "invoicing": there may follow esign, postal, sms, email, upload\./
    ],
    ['POST', '/api/sms/email', 'unknown_chain', /nothing may follow it; a chain begins with invoicing, esign, postal, file/],
    ['POST', '/api/file/upload/email/validate', 'unknown_chain', /"email" cannot follow "file\/upload"/],
    ['POST', '/api/file/sms/email/postal/upload', 'unknown_chain', /4 services at most/],
    ['POST', '/api/file/emial/upload', 'unknown_service', /did you mean "email"/],
    ['POST', '/api/upload/validate', 'not_found', /There is no POST \/api\/upload\/validate/],
    ['GET', '/api/invoicing', 'not_found', /GET \/api\/invoicing/],
    ['GET', '/api/v1/nothing', 'not_found', /docs/],
    ['POST', '/api/v1/credits', 'not_found', /POST/]
  ]
  for (const [method, path, error, message] of cases) {
    has(t, await service.send(method, path, method === 'POST' ? { body: {} } : {}), { status: 404, body: { error, message } }, path)
  }
})
