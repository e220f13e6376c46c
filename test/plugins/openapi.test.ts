import { callbackTypes, errorTable, type ErrorWord, eventKinds, testType } from '@dispatch/contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import fastify from 'fastify'
import { type IncomingMessage, request } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { appPlugin } from '../../plugins/app.ts'
import { until } from '../core/work/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { type Operation, operationsOf, resolved, schemasOf } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, operator, startService } from '../support/service.ts'
import { receiveInvoice } from './support/received-invoice.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { status, body: document } = await service.send('GET', '/openapi.json', {}, null)

const follow = (part: any): any => resolved(document, part)
const compiled = schemasOf(document)

const operations = operationsOf(document)

/** The schema of a JSON answer, as the document has it. */
const answerOf = ({ operation }: Operation, code: string): any => follow(operation.responses[code].content['application/json'].schema)

await t.test('GET /openapi.json is a valid OpenAPI 3.1 document, for everybody', async (t) => {
  t.equal(status, 200)
  t.equal(document.openapi, '3.1.0')
  has(t, document.info, { title: 'Document Dispatch', version: '1.0.1' })
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  t.ok(valid, JSON.stringify(errors))
})

await t.test('the document is that of the version that serves requests without one, and each version has its own', async (t) => {
  const { headers } = await service.send('GET', '/openapi.json', {}, null)
  t.equal(headers.get('x-api-version'), document.info.version)
  for (const version of ['1.0.0', '1.0.1', '1.1.0']) {
    const answer = await service.send('GET', `/openapi/${version}.json`, {}, null)
    has(t, answer, { status: 200, body: { openapi: '3.1.0', info: { version } } })
    contains(t, document.info.description, `/openapi/${version}.json`)
    t.ok((await new Validator().validate(structuredClone(answer.body))).valid)
    for (const type of ['email.delivered', 'company.endpoint_failing', 'company.endpoint_disabled', 'company.budget_reached',
      'alert.began'])
    {
      t.equal(type in answer.body.webhooks, version === '1.1.0', `it has the callbacks of its version alone: ${type}`)
    }
    t.ok('dispatch.succeeded' in answer.body.webhooks)
    const text = JSON.stringify(answer.body)
    t.equal(text.includes('"email.delivered"'), version === '1.1.0', 'and lists no others')
    t.ok(text.includes('"dispatch.succeeded",'))
  }
  t.same((await service.send('GET', '/openapi/1.0.1.json', {}, null)).body, document)
  t.equal((await service.send('GET', '/openapi/9.0.0.json', {}, null)).status, 401)
})

await t.test('every route of the server is in it, and nothing else', async (t) => {
  const server = fastify()
  const routes = new Set<string>()
  server.addHook('onRoute', ({ method, url, schema }) => {
    for (const name of [method].flat()) {
      if (name !== 'HEAD' && schema?.hide !== true) routes.add(`${name} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
    }
  })
  await server.register(appPlugin, service.app)
  await server.ready()
  await server.close()
  const own = [...routes].filter((route) => !/^\w+ \/(docs|console|openapi\.json)/.test(route))
  t.strictSame(operations.map(({ method, path }) => `${method} ${path}`).sort(), own.sort())
})

await t.test('every operation says in words what it does, and what it answers', (t) => {
  for (const { method, path, operation } of operations) {
    has(t, operation, { summary: /\w/, tags: [String] }, `${method} ${path}`)
    for (const [code, answer] of Object.entries<any>(operation.responses)) t.ok(answer.description, `${method} ${path} ${code}`)
  }
  t.end()
})

await t.test('every operation has a name of its own, which generated clients call it by', (t) => {
  const names = operations.map(({ operation }) => operation.operationId as string)
  for (const [index, name] of names.entries()) {
    contains(t, name, /^[a-z][A-Za-z0-9]+$/, `${operations[index]?.method} ${operations[index]?.path}`)
  }
  t.strictSame([...new Set(names)].sort(), [...names].sort())
  t.ok(
    ['dispatchInvoicing', 'validateInvoicing', 'dispatchUpload', 'readDispatch', 'listDispatches', 'login'].every((name) =>
      names.includes(name)
    )
  )
  t.end()
})

await t.test('its patterns have nothing that generators cannot read: no look-around, no classes of Unicode', (t) => {
  const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, pattern = '']) =>
    JSON.parse(pattern) as string
  )
  t.ok(patterns.length > 10)
  for (const pattern of patterns) {
    lacks(t, pattern, /\(\?[=!<]|\\[pP]\{/)
    t.doesNotThrow(() => new RegExp(pattern), 'nor do they need the flag "u"')
  }
  t.end()
})

await t.test('the kinds of entries in a timeline are told', (t) => {
  const timeline = operations.find(({ path }) => path === '/api/v1/dispatches/{id}/events')!
  t.strictSame(follow(answerOf(timeline, '200').properties.data.items).properties.kind.enum, eventKinds)
  t.end()
})

await t.test('every type of callback is among the webhooks, signed and without credentials', async (t) => {
  const { body: latest } = await service.send('GET', '/openapi/1.1.0.json', {}, null)
  const { webhooks } = latest
  t.strictSame(Object.keys(webhooks), [...callbackTypes, testType])
  const named = Object.entries<any>(webhooks).map(([type, webhook]) => {
    contains(t, webhook.summary, /\w/, type)
    const { post } = resolved(latest, webhook)
    has(t, post, { summary: /\w/, tags: ['Callbacks'], security: [] }, type)
    t.strictSame(post.parameters.map((parameter: unknown) => resolved(latest, parameter as object).name), [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature'
    ])
    t.strictSame(Object.keys(post.responses), ['410', '2XX'])
    t.ok(resolved(latest, resolved(latest, post.requestBody).content['application/json'].schema).properties.type)
    return post.operationId as string
  })
  const kinds = new Set(named)
  t.ok(kinds.has('onDispatchCallback') && kinds.has('onCompanyCallback'), 'types with the same body are one operation')
  t.equal(new Set([...kinds, ...operations.map(({ operation }) => operation.operationId as string)]).size, kinds.size + operations.length)
})

await t.test('it is sent compressed to whoever takes that, and not again to who has it', async (t) => {
  const get = (headers: Record<string, string>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => request(`${service.url}/openapi.json`, { headers }, resolve).on('error', reject).end())
  const read = async (answer: IncomingMessage): Promise<Buffer> => Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>))
  const plain = await get({})
  const bytes = await read(plain)
  t.notOk('content-encoding' in plain.headers)
  has(t, plain.headers, { vary: 'accept-encoding', 'cache-control': 'no-cache', etag: /^W\/"[\w-]{22}"$/ })
  const codings = {
    gzip: ['gzip', 'br;q=0.2, GZIP;q=0.5', 'br;q=0, *', 'identity;q=0, x-gzip'],
    br: ['br', 'gzip, deflate, br, zstd', 'GZIP;q=0.5, BR', '*', 'gzip;q=0, *']
  } as const
  const decode = { gzip: gunzipSync, br: brotliDecompressSync } as const
  for (const [name, coding] of Object.entries(codings).flatMap(([name, all]) =>
    all.map((one) => [name as keyof typeof codings, one] as const)
  )) {
    const answer = await get({ 'accept-encoding': coding })
    has(t, answer.headers, {
      'content-encoding': name,
      vary: 'accept-encoding',
      'content-type': 'application/json; charset=utf-8',
      etag: plain.headers.etag
    }, coding)
    t.ok(decode[name](await read(answer)).equals(bytes), coding)
  }
  for (const coding of ['identity', 'zstd', 'gzip;q=0', '*;q=0', 'br;q=0, gzip;q=0, *']) {
    const answer = await get({ 'accept-encoding': coding })
    t.notOk('content-encoding' in answer.headers, coding)
    t.ok((await read(answer)).equals(bytes), coding)
  }
  const { etag = '' } = plain.headers
  for (const kept of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
    const answer = await get({ 'if-none-match': kept, 'accept-encoding': 'gzip' })
    t.equal(answer.statusCode, 304, kept)
    has(t, answer.headers, { etag, vary: 'accept-encoding' })
    t.equal((await read(answer)).length, 0)
  }
  const changed = await get({ 'if-none-match': '"other"' })
  t.equal(changed.statusCode, 200)
  t.ok((await read(changed)).equals(bytes))
})

await t.test('routes need credentials, by Basic, Bearer or a key, but for the open ones', (t) => {
  t.strictSame(document.security, [{ basic: [] }, { bearer: [] }, { key: [] }])
  has(t, document.components.securitySchemes, { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } })
  const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ method, path }) => `${method} ${path}`)
  t.strictSame(open.sort(), ['GET /.well-known/security.txt', 'GET /api/connect/{code}/callback', 'GET /auth/password-links',
    'GET /auth/refresh', 'GET /d/{token}', 'GET /livez', 'GET /readyz', 'GET /unsubscribe',
    'POST /api/webhooks/{service}/providers/{provider}/endpoint.json', 'POST /auth', 'POST /auth/device', 'POST /auth/device/token',
    'POST /auth/links/read', 'POST /auth/links/use', 'POST /auth/password-links', 'POST /unsubscribe'])
  t.end()
})

await t.test('every operation says in a description who may ask for it, every callback who gets it', (t) => {
  for (const { method, path, operation } of operations) contains(t, operation.description, /\w/, `${method} ${path}`)
  for (const [type, webhook] of Object.entries<any>(document.webhooks)) contains(t, follow(webhook).post.description, /\w/, type)
  const description = (method: string, path: string): unknown =>
    operations.find((operation) => operation.method === method && operation.path === path)?.operation.description
  t.equal(description('GET', '/api/v1/users'), 'Admins and operators. Keys with `audit`.')
  t.equal(description('POST', '/api/v1/users'), 'Admins and operators. No key. Needs a login of the last 5 minutes.')
  t.equal(description('GET', '/livez'), 'Without credentials.')
  t.end()
})

await t.test('every documented body and answer has an example that fits its schema; only bytes have none', (t) => {
  let examples = 0
  const look = (content: Record<string, any> = {}, place: string): void => {
    for (const [type, { schema, example, examples: several }] of Object.entries(content)) {
      const isOfBytes = schema.format === 'binary'
      const values = several === undefined ? [example] : Object.values<any>(several).map((one) => follow(one).value)
      t.equal(values.every((value) => value === undefined), isOfBytes, `${place} ${type}`)
      if (isOfBytes) continue
      for (const value of values) has(t, compiled(schema)(value), { ok: true }, `${place} ${type} ${JSON.stringify(value)}`)
      examples += values.length
    }
  }
  for (const { method, path, operation } of operations) {
    look(operation.requestBody?.content, `${method} ${path}`)
    for (const [status, answer] of Object.entries<any>(operation.responses)) look(answer.content, `${method} ${path} ${status}`)
  }
  for (const [type, webhook] of Object.entries<any>(document.webhooks)) look(follow(follow(webhook).post.requestBody).content, type)
  t.ok(examples > 1000, String(examples))
  t.end()
})

/** Characters that each document may have: a little more than it has. What stands in several places stands in it once. */
const limits = {
  '1.0.1': { whole: 579_000, send: 323_500, manage: 230_700, operate: 78_200 },
  '1.1.0': { whole: 597_500, send: 342_500, manage: 230_700, operate: 78_200 }
} as const

await t.test('it is no larger than needed, and there in parts for whoever needs less', async (t) => {
  for (const [version, { whole: max, ...parts }] of Object.entries(limits)) {
    const { body: whole } = await service.send('GET', `/openapi/${version}.json`, {}, null)
    t.ok(JSON.stringify(whole).length < max, `${version}: ${JSON.stringify(whole).length} characters`)
    const found: string[] = []
    for (const [part, maxOfPart] of Object.entries(parts)) {
      const { body } = await service.send('GET', `/openapi/${version}/${part}.json`, {}, null)
      t.ok(JSON.stringify(body).length < maxOfPart, `${version} ${part}: ${JSON.stringify(body).length} characters`)
      t.ok((await new Validator().validate(structuredClone(body))).valid)
      contains(t, whole.info.description, `/openapi/1.0.1/${part}.json`)
      found.push(...operationsOf(body).map(({ operation }) => operation.operationId as string))
    }
    t.strictSame(found.sort(), operationsOf(whole).map(({ operation }) => operation.operationId as string).sort(), 'each operation in one')
  }
})

await t.test('no example stands twice: a schema leaves out what the example of a body or of an answer shows', (t) => {
  t.notOk('examples' in document.components.schemas.NewAlert.properties.name)
  t.strictSame(document.components.requestBodies.NewAlert.content['application/json'].example.name, 'Invoices fail')
  t.end()
})

await t.test('what may be null says so in its type, and what every request may say stands once', (t) => {
  const list = operations.find(({ method, path }) => method === 'GET' && path === '/api/v1/dispatches')!
  t.strictSame(answerOf(list, '200').properties.nextCursor, { type: ['string', 'null'] })
  t.strictSame(document.components.schemas.InvoicingRequest.allOf[0], { $ref: '#/components/schemas/RequestOptions' })
  t.end()
})

await t.test('every operation says that plain HTTP is refused', (t) => {
  for (const { method, path, operation } of operations) {
    contains(t, operation.responses.default.description, '`https_required` (403)', `${method} ${path}`)
  }
  t.end()
})

/** What operations answer whatever they do. */
const common = ['validation_error', 'unsupported_version', 'unauthorized', 'forbidden', 'https_required', 'payload_too_large',
  'unsupported_media_type', 'rate_limited', 'internal_error', 'service_unavailable'] as const

await t.test('every error word is in the one schema of errors, and each that a route can answer stands at its status; what any operation ' +
  'answers, once', async (t) => {
  const { enum: all, description: meanings } = follow(document.components.schemas.Error.properties.error)
  t.strictSame(all, Object.keys(errorTable))
  t.equal(meanings, Object.entries(errorTable).map(([word, { when }]) => `- \`${word}\`: ${when}`).join('\n'), 'and what each means')
  for (const { method, path, operation } of operations) {
    const { default: others, ...answers } = operation.responses
    const reported = [...others.description.matchAll(/`(\w+)` \((\d+)\): \w/g)].map(
      ([, word, code]: RegExpMatchArray) => [word, Number(code)]
    )
    t.strictSame(reported, common.map((word) => [word, errorTable[word].status]), `${method} ${path}`)
    t.strictSame(others.content['application/json'].schema, { $ref: '#/components/schemas/Error' })
    for (const [code, answer] of Object.entries<any>(answers)) {
      const words = [...answer.description.matchAll(/`(\w+)`(?::| \((\d+)\)[,:])/g)].map(([, word, status = code]: RegExpMatchArray) => {
        t.equal(String(errorTable[word as ErrorWord].status), status, `${method} ${path}: ${word}`)
        contains(t, status, new RegExp(`^${code.replace('XX', '\\d\\d')}$`), `${method} ${path}: ${word}`)
        return word as ErrorWord
      })
      if (words.length > 0) {
        t.strictSame(answer.content['application/json'].schema, { $ref: '#/components/schemas/Error' })
        const { examples } = answer.content['application/json']
        const [word] = words as [ErrorWord]
        t.strictSame(Object.keys(examples), [word], 'one of them is shown')
        has(t, follow(examples[word]), { summary: `${word} (${errorTable[word].status})`, value: { error: word } })
        if (code.endsWith('XX')) contains(t, answer.description, /, and the errors of `default`\.$/)
      }
    }
  }
  const dispatching = operations.find(({ method, path }) => method === 'POST' && path === '/api/invoicing')
  t.strictSame(Object.keys(dispatching?.operation.responses), ['200', '4XX', '5XX', 'default'], 'an answer of 1.1.0 is not told')
  const { body: later } = await service.send('GET', '/openapi/1.1.0.json', {}, null)
  t.strictSame(Object.keys(later.paths['/api/invoicing'].post.responses), ['200', '202', '4XX', '5XX', 'default'])
  const login = operations.find(({ path }) => path === '/auth')?.operation
  t.strictSame(Object.keys(login.responses), ['200', '403', 'default'])
})

await t.test('headers of requests and answers are told', (t) => {
  for (const { method, path, operation } of operations) {
    const everywhere = ['X-Request-ID', 'X-API-Version', 'X-API-Released', 'RateLimit-Policy', 'RateLimit', 'Retry-After']
    t.strictSame(Object.keys(operation.responses.default.headers).slice(0, 6), everywhere, `${method} ${path}`)
  }
  for (const name of ['X-Request-ID', 'X-API-Version']) contains(t, document.info.description, `\`${name}\``)
  const dispatching = operations.find(({ path }) => path === '/api/invoicing')?.operation
  t.strictSame(Object.keys(dispatching.responses['200'].headers), ['Idempotency-Replayed'])
  const { NotFound: missing, Conflict: conflict } = document.components.responses
  const comesBack = ({ headers = {} }: { headers?: object }): boolean => Object.hasOwn(headers, 'Retry-After')
  t.same([dispatching.responses['4XX'], dispatching.responses['5XX'], missing, conflict].map(comesBack), [true, true, false, false])
  has(t, follow(dispatching.responses.default.headers['Retry-After']), { schema: { type: 'integer' } })
  t.strictSame(dispatching.parameters.map(({ name }: { name: string }) => name), [
    'async',
    'sandbox',
    'strict',
    'x-idempotency-key'
  ])
  t.end()
})

await t.test('how an object is written into a query is told', (t) => {
  const list = operations.find(({ path }) => path === '/api/v1/dispatches')?.operation
  has(t, list.parameters.find(({ name }: { name: string }) => name === 'metadata'), { in: 'query', style: 'deepObject', explode: true })
  t.end()
})

await t.test('every example of a request is a valid one', async (t) => {
  for (const { method, path, operation } of operations) {
    const { schema, example, examples = example === undefined ? {} : { example: { value: example } } } =
      operation.requestBody?.content['application/json'] ?? {}
    for (const [name, { value }] of Object.entries<{ value: unknown }>(examples)) {
      has(t, compiled(schema)(value), { ok: true }, `${method} ${path} ${name}`)
      // The body of a chain is made of its schema alone: it lacks the data of a template.
      if (!operation.tags.includes('Dispatch') || (example !== undefined && !/^\/api\/\w+(\/validate)?$/.test(path))) continue
      const real = (operation.parameters as { in: string, name: string, example: string }[]).filter((parameter) => parameter.in === 'path')
        .reduce((text, { name, example }) => text.replace(`{${name}}`, example), path)
      const validation = real.endsWith('/validate') ? real : `${real}/validate`
      const answer: Answer = await service.send(method, validation, { body: value })
      t.equal(answer.status, 200, `${path} ${name}: ${JSON.stringify(answer.body)}`)
      // The data of an example are the sample of its template, which is of an earlier day and made out to somebody else.
      const ofSamples = ['due_date_in_the_past', 'sample_data', 'other_recipient']
      t.strictSame(answer.body.warnings.filter(({ code }: { code: string }) => !ofSamples.includes(code)), [])
    }
  }
  const dispatching = operations.find(({ path }) => path === '/api/invoicing')?.operation
  t.equal(Object.keys(dispatching.requestBody.content['application/json']?.examples).length, 2)
})

await t.test('the answers fit their schemas', async (t) => {
  const sent = await service.send('POST', '/api/invoicing', {
    body: Object.values<any>(
      operations.find(({ path }) => path === '/api/invoicing')?.operation.requestBody.content['application/json']?.examples
    )[0].value
  })
  const endpoint = await service.send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'A', url: 'https://a.acme.test/' } },
    admin)
  const { body: draft } = await service.send('POST', '/api/v1/drafts', { body: { service: 'sms', request: {} } }, admin)
  const { body: contact } = await service.send('POST', '/api/v1/contacts', { body: { name: 'Ada' } }, admin)
  const { step_id: stepId } = await service.app.get('database').owner.selectFrom('steps').select('step_id')
    .where('dispatch_id', '=', String(sent.body.dispatchId)).executeTakeFirstOrThrow()
  const { body: batch } = await service.send('POST', '/api/v1/batches?service=sms', {
    body: '{}\n',
    headers: { 'content-type': 'application/x-ndjson' }
  }, admin)
  const text = { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  const { body: proposal } = await service.send('POST', '/api/v1/proposals', { body: { service: 'sms', request: text } }, admin)
  await service.send('POST', '/api/v1/company/approval-rules', { body: { name: 'All', services: ['sms'] } }, admin)
  const { body: waiting } = await service.send('POST', '/api/sms', { headers: { 'x-api-version': '1.1.0' }, body: text }, admin)
  const { body: file } = await service.send('POST', '/api/v1/files', { body: 'Hello', headers: { 'content-type': 'text/plain' } }, admin)
  const { body: suppression } = await service.send('POST', '/api/v1/suppressions', {
    body: { channel: 'email', address: 'ada@example.com' }
  }, admin)
  const { body: alert } = await service.send('POST', '/api/v1/alerts', {
    body: { name: 'Doubts', kind: 'doubt', minutes: 60, callback: true }
  }, admin)
  await service.send('PUT', '/api/v1/e-reports/settings', {
    body: {
      siren: '732829320',
      name: 'Acme Tea',
      platform: { id: '0042', name: 'The platform' },
      regime: 'SIMPLIFIED',
      providerName: 'simulator'
    }
  }, admin)
  const { body: report } = await service.send('POST', '/api/v1/e-reports', { body: { kind: 'transactions', day: '2026-03-14' } }, admin)
  const { company_id: companyId } = await service.app.get('database').owner.selectFrom('users').select('company_id')
    .where('email', '=', admin.email).executeTakeFirstOrThrow()
  const receivedId = await receiveInvoice(service, companyId)
  const { body: erasure } = await service.send('POST', '/api/v1/privacy/erasures', { body: { reference: 'C-1042' } }, admin)
  await until('the erasure is finished',
    async () => (await service.send('GET', `/api/v1/privacy/erasures/${String(erasure.id)}`, {}, admin)).body.status === 'finished')
  const paths: Record<string, string> = {
    '{id}': sent.body.dispatchId,
    '/holds/{id}': `/holds/${stepId}`,
    '/callback-endpoints/{id}': `/callback-endpoints/${String(endpoint.body.id)}`,
    '/batches/{id}': `/batches/${String(batch.batchId)}`,
    '/approvals/{id}': `/approvals/${String(waiting.approvalId)}`,
    '/proposals/{id}': `/proposals/${String(proposal.id)}`,
    '/contacts/{id}': `/contacts/${String(contact.id)}`,
    '/files/{id}': `/files/${String(file.id)}`,
    '/received/{id}': `/received/${receivedId}`,
    '/received/{id}/file': `/received/${receivedId}/file?format=json`,
    '/erasures/{id}': `/erasures/${String(erasure.id)}`,
    '/suppressions/{id}': `/suppressions/${String(suppression.id)}`,
    '/alerts/{id}': `/alerts/${String(alert.id)}`,
    '/e-reports/{id}': `/e-reports/${String(report.id)}`,
    '/drafts/{id}': `/drafts/${String(draft.id)}`,
    '/templates/{id}': '/templates/1',
    '/users/{id}': '/users/2',
    '/companies/{id}': '/companies/2',
    '{userId}': '2',
    '/e-invoices/recipients': '/e-invoices/recipients?scheme=0225&id=732829320',
    '/platform/dispatches': '/platform/dispatches?search=Ada%20Lovelace'
  }
  for (const found of operations.filter(({ method, path }) =>
    method === 'GET' &&
    !/\{token\}|\{name\}|\{code\}|documents|security|livez|readyz|refresh|changes|stream|results|export|unsubscribe|comparison/.test(path)
  )) {
    const path = Object.entries(paths).reverse().reduce((text, [from, to]) => text.replace(from, to), found.path)
    const isForOperators = /^\/api\/v1\/(queue|companies|company-deletions|oauth-apps|platform|providers\/processes)/.test(path)
    const { status, body } = await service.send('GET', path, {}, isForOperators ? operator : admin)
    t.equal(status, 200, path)
    t.strictSame(compiled(answerOf(found, '200'))(body), { ok: true, value: body }, path)
  }
})

await t.test('the pages at /docs/try are readable without credentials and load nothing from elsewhere', async (t) => {
  const page = await service.send('GET', '/docs/try/', {}, null)
  t.equal(page.status, 200)
  contains(t, page.headers.get('content-security-policy'), /default-src 'none'.*script-src 'self'/)
  const sources = [...(page.body as string).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source = '']) => source)
  t.ok(sources.length > 0)
  for (const source of sources) {
    lacks(t, source, /^(https?:)?\/\//)
    const { pathname } = new URL(source, 'http://x/docs/try/')
    const headers = { 'accept-encoding': 'br' }
    const { status, headers: reported } = await service.send('GET', pathname, { headers }, null)
    t.equal(status, 200, source)
    if (!/swagger-ui[-.a-z]*\.(?:js|css)$/.test(source)) continue
    t.same([reported.get('content-encoding'), reported.get('vary')], ['br', 'accept-encoding'], source)
    const kept = await service.send('GET', pathname, { headers: { ...headers, 'if-none-match': reported.get('etag') ?? '' } }, null)
    t.equal(kept.status, 304, `${source} is not sent again`)
  }
})
