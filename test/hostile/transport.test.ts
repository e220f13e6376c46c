import type { ErrorWord } from '@dispatch/contract'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { contains, has } from '../support/matching.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { hasNoFault, isError, traces } from './support.ts'

const service = await startService(t)
const { send, app } = service
const port = Number(new URL(service.url).port)
const authorization = `Authorization: Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`

function open (): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  return once(socket, 'connect').then(() => socket)
}

type Received = { status: number, headers: Headers, body: any }

/** The answers in what a connection has received, each with the length that it says. */
function answersIn (text: string): Received[] {
  const [, status, head = '', rest = ''] = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n((?:[^\r]+\r\n)*)\r\n(.*)$/s.exec(text) ?? []
  if (status === undefined) return []
  const headers = new Headers(
    head.split('\r\n').filter((line) => line !== '').map(
      (line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]
    )
  )
  const bytes = Buffer.from(rest)
  const length = Number(headers.get('content-length') ?? 0)
  const body = bytes.subarray(0, length).toString()
  return [
    { status: Number(status), headers, body: body === '' ? '' : JSON.parse(body) as unknown },
    ...answersIn(bytes.subarray(length).toString())
  ]
}

/** Sends the parts one after the other, and resolves with the answers when there are as many, or the connection ends. */
async function exchange (parts: readonly (string | Buffer)[], expected = 1): Promise<Received[]> {
  const socket = await open()
  let text = ''
  const done = Promise.withResolvers<unknown>()
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (answersIn(text).filter(({ status }) => status >= 200).length >= expected) done.resolve(true)
  }).on('close', done.resolve)
  for (const part of parts) {
    socket.write(part)
    await pause(20)
  }
  await done.promise
  socket.destroy()
  return answersIn(text)
}

const head = (line: string, ...headers: string[]): string => `${[line, 'Host: localhost', authorization, ...headers].join('\r\n')}\r\n\r\n`
const post = (body: string, ...headers: string[]): string =>
  head('POST /api/invoicing HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${String(Buffer.byteLength(body))}`, ...headers) +
  body
const json = (...headers: string[]): string => head('POST /api/invoicing HTTP/1.1', 'Content-Type: application/json', ...headers)
const invoice = (more = {}): string => JSON.stringify(invoiceRequest({}, more))

/** What arrives, the word of the answer, and the status where it is not the word's. */
const broken: Record<string, [string | Buffer, (ErrorWord)?, number?]> = {
  'a greeting': ['hello\r\n\r\n'],
  'TLS': [Buffer.from('16030100c8010000c40303', 'hex')],
  'HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'a path without a slash': [head('GET healthz HTTP/1.1')],
  'a path in Latin-1': [Buffer.from(head('GET /\xe9 HTTP/1.1'), 'latin1')],
  'a method that is none': [head('GRAB /healthz HTTP/1.1')],
  'no Host': [`GET /healthz HTTP/1.1\r\n${authorization}\r\n\r\n`],
  'two Hosts': [head('GET /healthz HTTP/1.1', 'Host: localhost')],
  'two Hosts, where no credentials are needed': ['GET /livez HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n'],
  'a header of 20 KB': [head('GET /healthz HTTP/1.1', `X-Request-ID: ${'a'.repeat(20_000)}`), 'validation_error', 431],
  'a control character in a header': [head('GET /healthz HTTP/1.1', 'X-Idempotency-Key: a\x01b')],
  'NUL in a header': [head('GET /healthz HTTP/1.1', 'X-Idempotency-Key: a\0b')],
  'a folded header': [head('GET /healthz HTTP/1.1', 'X-Idempotency-Key: a\r\n b')],
  'a length and chunks': [json('Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n'],
  'two lengths': [json('Content-Length: 2', 'Content-Length: 3') + '{}'],
  'a negative length': [json('Content-Length: -1') + '{}'],
  'a length of 20 digits': [json('Content-Length: 99999999999999999999') + '{}'],
  'a length of 5 GB': [json('Content-Length: 5000000000') + '{}', 'payload_too_large'],
  'a chunk without a length': [json('Transfer-Encoding: chunked') + 'zz\r\n{}'],
  'chunks of 6 MB': [json('Transfer-Encoding: chunked') + `600000\r\n${'x'.repeat(0x600000)}\r\n0\r\n\r\n`, 'payload_too_large'],
  'another encoding than chunks': [json('Transfer-Encoding: gzip') + '{}'],
  'a path that cannot be decoded': [head('GET /api/v1/templates/%zz HTTP/1.1'), 'not_found'],
  'OPTIONS for the whole server': [head('OPTIONS * HTTP/1.1'), 'not_found'],
  'TRACE': [head('TRACE /healthz HTTP/1.1'), 'not_found'],
  'OPTIONS as before a cross-origin request': [
    head('OPTIONS /api/invoicing HTTP/1.1', 'Origin: https://example.com', 'Access-Control-Request-Method: POST'),
    'not_found'
  ],
  'PATCH': [head('PATCH /api/invoicing HTTP/1.1'), 'not_found'],
  'QUERY without a body': [head('QUERY /api/v1/dispatches HTTP/1.1'), 'unsupported_media_type'],
  'an expectation that nobody knows': [json('Expect: tea', 'Content-Length: 2') + '{}', 'validation_error'],
  'an offer to upgrade': [json('Connection: Upgrade', 'Upgrade: websocket', 'Content-Length: 2') + '{}', 'validation_error'],
  'two types': [json('Content-Type: text/plain', 'Content-Length: 2') + '{}', 'validation_error']
}

await t.test('what is not a request gets an answer in the documented form, and leaves nothing behind', async (t) => {
  const before = await traces(app)
  for (const [name, [sent, word = 'validation_error', status]] of Object.entries(broken)) {
    const [answer = { status: 0, headers: new Headers(), body: {} }] = await exchange([sent])
    t.equal(answer.status, status ?? answer.status, name)
    isError(t, status === undefined ? answer : { ...answer, status: 400 }, word, name)
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff')
  }
  t.same(await traces(app), before)
})

await t.test('a body that does not come whole is not dispatched', async (t) => {
  const before = await traces(app)
  for (const part of [
    json('Content-Length: 5000') + invoice().slice(0, 100),
    json('Transfer-Encoding: chunked') + `10\r\n${invoice().slice(0, 16)}\r\n`
  ]) {
    const socket = await open()
    socket.write(part)
    await pause(50)
    socket.resetAndDestroy()
  }
  await pause(50)
  t.same(await traces(app), before)
})

await t.test('a client that goes away does not stop its dispatch', async (t) => {
  await send('PUT', '/api/v1/my/providers/simulator', { body: { settings: { slowSeconds: 0.3 } } })
  const find = async (): Promise<any> => (await send('GET', '/api/v1/dispatches?metadata[client]=gone')).body.data[0]
  const socket = await open()
  socket.write(post(invoice({ metadata: { client: 'gone' }, invoicing: { reference: 'slow' } })))
  while (await find() === undefined) await pause(10)
  socket.resetAndDestroy()
  await app.get('pipeline').drain()
  has(t, await find(), { status: 'succeeded', creditsCharged: 1 })
})

await t.test('requests sent together are answered in their order', async (t) => {
  const answers = await exchange([
    post(invoice({ metadata: { turn: '1' } })) + head('GET /healthz HTTP/1.1') + post(invoice({ metadata: { turn: '3' } })) +
    head('GET /nowhere HTTP/1.1')
  ], 4)
  has(t, answers.map(({ status, body }) => [status, body.metadata?.turn ?? body.status ?? body.error]), [
    [200, '1'],
    [200, 'ok'],
    [
      200,
      '3'
    ],
    [404, 'not_found']
  ])
})

await t.test('nonsense after a dispatch does not take its answer\'s place', async (t) => {
  for (const nonsense of [
    'nonsense\r\n\r\n',
    head('GET /healthz HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'),
    head('POST /api/invoicing HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked') + 'zz\r\n'
  ]) {
    const answers = await exchange([post(invoice({ invoicing: { reference: 'slow' } })), nonsense, nonsense], 2)
    has(t, answers, [{ status: 200, body: { success: true } }])
    t.equal(answers.length, 1, 'and the connection ends')
  }
})

await t.test('a body is asked for with 100 Continue', async (t) => {
  const body = invoice()
  const answers = await exchange([json('Expect: 100-continue', `Content-Length: ${String(Buffer.byteLength(body))}`), body])
  has(t, answers.map(({ status }) => status), [100, 200])
})

await t.test('HTTP/1.0 and absolute URLs are served; the host that a request names is never used', async (t) => {
  const [old] = await exchange([`GET /healthz HTTP/1.0\r\n${authorization}\r\n\r\n`])
  has(t, old, { status: 200, body: { status: 'ok' } })
  const body = invoice()
  const [answer] = await exchange(['POST http://evil.example/api/invoicing HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: ' +
    `evil.example\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: ` +
    `${String(Buffer.byteLength(body))}\r\n\r\n${body}`])
  has(t, answer?.body, { success: true, generatedDocument: { url: /^https:\/\/dispatch\.example\.com\/d\// } })
})

await t.test('of a header that comes twice: credentials count once, an idempotency key is one key, an id is our own', async (t) => {
  const [answer] = await exchange([head('GET /healthz HTTP/1.1', 'Authorization: Basic eA==', 'X-Request-ID: a', 'X-Request-ID: b')])
  has(t, answer, { status: 200 })
  contains(t, answer?.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  const body = invoice()
  const twice = post(body, 'X-Idempotency-Key: a', 'X-Idempotency-Key: b')
  const [first, second] = [...await exchange([twice]), ...await exchange([twice])]
  t.equal(second?.body.dispatchId, first?.body.dispatchId)
  t.equal(second?.headers.get('idempotency-replayed'), 'true')
})

await t.test('HEAD is GET without the body, and never without credentials', async (t) => {
  for (const [path, status] of [['/openapi.json', 200], ['/healthz', 401], ['/nowhere', 401]] as const) {
    const response = await fetch(service.url + path, { method: 'HEAD' })
    t.same([response.status, await response.text()], [status, ''], path)
  }
})

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
