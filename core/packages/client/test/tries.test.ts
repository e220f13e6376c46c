import { errorTable } from '@dispatch/contract'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import type { Server } from 'node:net'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { createAuthority } from '../../conformance/vendor/certificates.ts'
import { errorOf } from '../errors.ts'
import { clientFor, cut, errorOfCall, html, json, refusal, serve, type Turn } from './server.ts'

/** An answer whose end a proxy has left out without a word. */
const short: Turn = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'x-api-version': '1.1.0' }).end('{"success":tr')
}

const gone: Turn = (response) => {
  response.socket?.destroy()
}

void t.test('every word of the service has a class of its own error, which says whether something was sent', (t) => {
  for (const [word, { status }] of Object.entries(errorTable)) {
    const error = errorOf(word, 'It is so.', { httpStatus: status })
    t.equal(error.error, word)
    t.equal(error.message, 'It is so.')
    // What may have been sent is 5xx, or goes on, or is done in part.
    const isSure = !['internal_error', 'timeout', 'recording_unknown', 'outcome_unknown', 'idempotency_in_progress', 'partially_dispatched']
      .includes(word)
    t.equal(error.surelyNotSent, isSure, word)
    t.equal(error.outcomeUnknown, !isSure && word !== 'partially_dispatched', word)
  }
  has(t, errorOf('brand_new', 'It is new.', {}), {
    error: 'unknown_error',
    outcomeUnknown: true,
    message: 'It is new. (The service calls this "brand_new", which this version of @dispatch/client does not know: update the package.)'
  })
  t.end()
})

void t.test('what is busy is asked again when it says so, under the same key', async (t) => {
  const server = await serve(t, refusal(429, 'rate_limited', {}, { 'retry-after': '7' }), refusal(503, 'provider_unavailable', {}, {
    'retry-after': '10'
  }), refusal(409, 'idempotency_in_progress', {}, { 'retry-after': '1' }), json(200, { success: true }))
  const client = clientFor(server.url)
  const result = await client.things.send({ a: 1 })
  t.strictSame(client.pauses, [7, 10, 1])
  t.equal(server.seen.length, 4)
  t.equal(new Set(server.seen.map(({ key }) => key)).size, 1)
  t.equal(result['idempotencyKey'], server.seen[0]?.key)
  t.equal(result['replayed'], false)
})

void t.test('a pause that is longer than the client may wait is an error that names it', async (t) => {
  const server = await serve(t, refusal(429, 'rate_limited', {}, { 'retry-after': '3600' }))
  const client = clientFor(server.url)
  has(t, await errorOfCall(client.things.send({})), { error: 'rate_limited', retryAfter: 3600, surelyNotSent: true })
  t.strictSame([server.seen.length, client.pauses], [1, []])
})

void t.test('a time of Retry-After is compared with the clock of who answers, not with that of this machine', async (t) => {
  const server = await serve(t,
    refusal(503, 'service_unavailable', {}, { date: 'Fri, 02 Jan 2015 10:00:00 GMT', 'retry-after': 'Fri, 02 Jan 2015 10:00:09 GMT' }),
    json(200, {}))
  const client = clientFor(server.url)
  await client.things.send({})
  t.strictSame(client.pauses, [9])
})

void t.test('504 is repeated with its key, and never without', async (t) => {
  const unknown = refusal(504, 'outcome_unknown', { dispatchId: 'd-1' })
  const server = await serve(t, unknown, json(200, { success: true }, { 'idempotency-replayed': 'true' }))
  has(t, await clientFor(server.url).things.send({}, { idempotencyKey: 'mine' }), { replayed: true, idempotencyKey: 'mine' })
  t.strictSame(server.seen.map(({ key }) => key), ['mine', 'mine'])
  const other = await serve(t, unknown)
  has(t, await errorOfCall(clientFor(other.url).things.change('1', {})), {
    error: 'outcome_unknown',
    dispatchId: 'd-1',
    outcomeUnknown: true
  })
  t.equal(other.seen.length, 1)
})

for (const [name, turn] of Object.entries({ 'is lost': gone, 'is cut': cut, 'has lost its end': short })) {
  void t.test(`an answer that ${name} is asked for again with the key, and what has none is never repeated`, async (t) => {
    const server = await serve(t, turn, json(200, { success: true }))
    has(t, await clientFor(server.url).things.send({}), { success: true })
    t.equal(server.seen.length, 2)
    t.equal(server.seen[0]?.key, server.seen[1]?.key)
    const other = await serve(t, turn)
    const error = await errorOfCall(clientFor(other.url).things.change('1', {}))
    has(t, error, { outcomeUnknown: true, surelyNotSent: false })
    contains(t, error.message, 'Look whether it was done before you ask again.')
    t.equal(other.seen.length, 1, 'sent once')
  })
}

void t.test('after the last try, the error has the key under which the request may be repeated', async (t) => {
  const server = await serve(t, gone)
  const error = await errorOfCall(clientFor(server.url).things.send({}, { retries: 1 }))
  has(t, error, { error: 'connection_lost', idempotencyKey: server.seen[0]?.key, outcomeUnknown: true })
  contains(t, error.message, `only under it`)
  t.equal(server.seen.length, 2)
})

const cases: Readonly<Record<string, [first: Turn, then: Turn, says: RegExp, error?: string]>> = {
  'an answer that is lost, then a server that is full': [gone, refusal(503, 'service_unavailable', {}, { 'retry-after': '600' }), /Then: /],
  'an answer that is lost, then a page of something else': [gone, html(404), /Then: .* answered 404 with text\/html/],
  'an answer that is lost, then a key that was revoked': [gone, refusal(401, 'unauthorized'), /Then: It is unauthorized/],
  'an unknown outcome, then too many requests': [refusal(504, 'outcome_unknown', { dispatchId: 'd-1' }), refusal(429, 'rate_limited', {}, {
    'retry-after': '600'
  }), /^It is outcome_unknown\. Then: It is rate_limited\.$/, 'outcome_unknown']
}
for (const [name, [first, then, says, word = 'connection_lost']] of Object.entries(cases)) {
  void t.test(`${name}: the outcome stays unknown, under its key`, async (t) => {
    const server = await serve(t, first, then)
    const error = await errorOfCall(clientFor(server.url).things.send({}))
    has(t, error, { error: word, outcomeUnknown: true, surelyNotSent: false, idempotencyKey: server.seen[0]?.key })
    contains(t, error.message, says)
    t.equal(error.retryAfter, /full|many/.test(name) ? 600 : undefined, 'of the last answer')
    t.equal(server.seen.length, 2)
  })
}

void t.test('an answer that is lost, then refused connections: the outcome stays unknown', async (t) => {
  const server = await serve(t, (response) => {
    void server.close()
    gone(response)
  })
  const error = await errorOfCall(clientFor(server.url).things.send({}))
  has(t, error, { error: 'connection_lost', outcomeUnknown: true, idempotencyKey: server.seen[0]?.key })
  contains(t, error.message, 'refuses connections')
})

void t.test('what the service answers under the key settles a try that was lost', async (t) => {
  const server = await serve(t, gone, refusal(422, 'provider_error'))
  has(t, await errorOfCall(clientFor(server.url).things.send({})), { error: 'provider_error', surelyNotSent: true })
})

void t.test('a call that is ended while its request is under way has its key, and the reason', async (t) => {
  const controller = new AbortController()
  const server = await serve(t, () => controller.abort(reason))
  const reason = new Error('Enough.')
  const error = await errorOfCall(clientFor(server.url).things.send({}, { signal: controller.signal }))
  has(t, error, { error: 'connection_lost', outcomeUnknown: true, idempotencyKey: server.seen[0]?.key })
  t.equal(error.cause, reason)
  const other = new AbortController()
  const reading = await serve(t, () => other.abort(reason))
  await t.rejects(clientFor(reading.url).things.read('1', { signal: other.signal }), reason, 'what reads has no outcome')
  const pausing = new AbortController()
  const lost = await serve(t, gone)
  const client = clientFor(lost.url, {}, (signal) => {
    pausing.abort(reason)
    return Promise.reject(signal?.reason as Error)
  })
  const paused = await errorOfCall(client.things.send({}, { signal: pausing.signal }))
  has(t, paused, { error: 'connection_lost', idempotencyKey: lost.seen[0]?.key })
  t.equal(paused.cause, reason)
})

void t.test('a refusal that is cut is no other address: its request is asked for again under the key', async (t) => {
  const part: Turn = (response) => {
    response.writeHead(409, { 'content-type': 'application/json' }).end('{"error":"idempotency_in_pr')
  }
  const server = await serve(t, part, json(200, { success: true }))
  has(t, await clientFor(server.url).things.send({}), { success: true })
  const other = await serve(t, part)
  has(t, await errorOfCall(clientFor(other.url).things.change('1', {})), { error: 'unreadable_answer', outcomeUnknown: true })
  t.equal(other.seen.length, 1)
})

void t.test('an error of a stranger in JSON is not the service\'s: nothing without a key is repeated on it', async (t) => {
  const foreign = (status: number, error: string): Turn => (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status, error }))
  }
  const gateway = await serve(t, foreign(503, 'Service Unavailable'))
  const error = await errorOfCall(clientFor(gateway.url).things.change('1', {}))
  has(t, error, { error: 'unreadable_answer', outcomeUnknown: true })
  t.equal(gateway.seen.length, 1)
  const other = await serve(t, foreign(404, 'Not Found'))
  has(t, await errorOfCall(clientFor(other.url).things.send({})), { error: 'wrong_address', surelyNotSent: true })
  const newer = await serve(t, refusal(503, 'brand_new'))
  has(t, await errorOfCall(clientFor(newer.url).things.change('1', {})), { error: 'unknown_error' })
  t.equal(newer.seen.length, 1)
})

void t.test('an idempotency key is an option, and what no header can hold is sent nowhere', async (t) => {
  const server = await serve(t, json(200, {}))
  for (const name of ['X-Idempotency-Key', 'idempotency-key']) {
    await t.rejects(clientFor(server.url).things.send({}, { headers: { [name]: 'order-1' } }), {
      message: /as the option "idempotencyKey"/
    })
  }
  await t.rejects(clientFor(server.url).things.send({}, { idempotencyKey: 'Auftrag 5 €' }), {
    message: '"idempotencyKey" has the character "€", which no header can hold. Nothing was sent.'
  })
  await t.rejects(clientFor(server.url, { key: 'dk_“' }).things.send({}), { message: /^"key" has the character "“"/ })
  t.equal(server.seen.length, 0)
  await clientFor(server.url).things.send({}, { headers: { 'X-API-Version': '1.0.1' }, idempotencyKey: 'Ærø' })
  t.equal(server.seen.length, 1)
})

void t.test('a page in the place of a file or of events, and nothing in the place of an answer, is no success', async (t) => {
  const page = await serve(t, html(200))
  const client = clientFor(page.url)
  has(t, await errorOfCall(client.things.download('1')), { error: 'unreadable_answer' })
  has(t, await errorOfCall(client.things.follow('1').next()), { error: 'unreadable_answer' })
  const own = await serve(t, html(200, { 'x-api-version': '1.1.0' }))
  contains(t, await (await clientFor(own.url).things.download('1')).text(), 'Hello')
  const stream = await serve(t, json(200, {}))
  has(t, await errorOfCall(clientFor(stream.url).things.follow('1').next()), { error: 'unreadable_answer' })
  const empty = await serve(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end()
  })
  has(t, await errorOfCall(clientFor(empty.url, { retries: 0 }).things.send({})), { error: 'unreadable_answer', outcomeUnknown: true })
  has(t, await errorOfCall(clientFor(empty.url, { retries: 0 }).things.list()), { error: 'unreadable_answer' })
  t.equal(await clientFor(empty.url).things.remove('1'), undefined)
})

void t.test('an error has the page that explains it, and which case of its word it is', async (t) => {
  const server = await serve(t, refusal(403, 'forbidden', { docs: '/docs/errors/forbidden', reason: 'needs_service' }))
  has(t, await errorOfCall(clientFor(server.url).things.send({})), { docs: `${server.url}/docs/errors/forbidden`, reason: 'needs_service' })
})

void t.test('a file that flows is not late, however long it takes', async (t) => {
  const server = await serve(t, json(200, { success: true }))
  async function* slow (): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < 8; part++) {
      await setTimeout(100)
      yield new Uint8Array(100)
    }
  }
  has(t, await clientFor(server.url, { timeout: 0.5, retries: 0 }).things.upload({ file: slow, filename: 'a' }), { success: true })
})

void t.test('a refused connection is tried again whatever the request is, because nothing was sent', async (t) => {
  const server = await serve(t)
  await server.close()
  const client = clientFor(server.url)
  const error = await errorOfCall(client.things.change('1', {}))
  has(t, error, { error: 'unreachable', surelyNotSent: true })
  contains(t, error.message, /refuses connections: is the service running there.*Nothing was sent\.$/)
  t.strictSame(client.pauses, [0.5, 1, 2])
})

void t.test('a name without an address', async (t) => {
  const error = await errorOfCall(clientFor('http://dispatch.invalid', { retries: 0 }).things.send({}))
  has(t, error, { error: 'unreachable', surelyNotSent: true })
  contains(t, error.message, 'http://dispatch.invalid has no address')
})

void t.test('a wrong base address: pages, redirects, something that is no address, credentials in it', async (t) => {
  const page = await serve(t, html(404))
  const error = await errorOfCall(clientFor(page.url).things.send({}))
  has(t, error, { error: 'wrong_address', surelyNotSent: true, httpStatus: 404 })
  t.equal(error.message, `${page.url}/api/things answered 404 with text/html, which Document Dispatch does not: check "baseUrl", and the ` +
    'proxies on the way.')
  t.equal(page.seen.length, 1)
  const elsewhere = await serve(t, html(301, { location: 'https://dispatch.example.com/api/things' }))
  const led = await errorOfCall(clientFor(elsewhere.url).things.send({}))
  has(t, led, { error: 'wrong_address' })
  contains(t, led.message, 'leads elsewhere, to https://dispatch.example.com/api/things: give the address of the service itself')
  t.equal(elsewhere.seen.length, 1, 'a redirect is not followed: it would make a GET of a POST')
  t.throws(() => clientFor('dispatch.example.com'), { message: /"baseUrl" is an address such as https/ })
  t.throws(() => clientFor('https://me:secret@example.com'), { message: /^(?!.*secret).*holds no credentials/ })
})

void t.test('a proxy that answers HTML while its service is away', async (t) => {
  const server = await serve(t, html(502), json(200, { success: true }))
  has(t, await clientFor(server.url).things.send({}), { success: true })
  t.equal(server.seen[0]?.key, server.seen[1]?.key)
  const other = await serve(t, html(502))
  const error = await errorOfCall(clientFor(other.url).things.change('1', {}))
  has(t, error, { error: 'unreadable_answer', outcomeUnknown: true, httpStatus: 502 })
  contains(t, error.message, 'answered 502 with text/html')
  t.equal(other.seen.length, 1, 'it may have been done')
})

void t.test('a server that never answers is given up, and a call ends when its signal says so', async (t) => {
  const server = await serve(t, () => undefined)
  const late = await errorOfCall(clientFor(server.url).things.send({}, { timeout: 0.3, retries: 1 }))
  has(t, late, { error: 'connection_lost', outcomeUnknown: true })
  contains(t, late.message, 'did not answer in time')
  t.equal(server.seen.length, 2)
  const reason = new Error('Enough.')
  await t.rejects(clientFor(server.url).things.send({}, { signal: AbortSignal.abort(reason) }), reason)
  const controller = new AbortController()
  const ended = t.rejects(clientFor(server.url).things.send({}, { signal: controller.signal }), reason)
  controller.abort(reason)
  await ended
})

void t.test('a certificate that is not trusted', async (t) => {
  const server = createTlsServer(await (await createAuthority()).issue('127.0.0.1'), (_, response) => response.end())
  const url = await opened(t, server)
  const error = await errorOfCall(clientFor(url).things.send({}))
  has(t, error, { error: 'unreachable', surelyNotSent: true })
  contains(t, error.message, 'is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE): check "baseUrl", and the authorities')
})

void t.test('an address that begins with https:// where nobody speaks TLS', async (t) => {
  const server = await serve(t, json(200, {}))
  const error = await errorOfCall(clientFor(server.url.replace('http:', 'https:'), { retries: 0 }).things.change('1', {}))
  has(t, error, { error: 'unreachable', surelyNotSent: true })
  contains(t, error.message, 'does not speak TLS')
})

void t.test('what is no HTTP', async (t) => {
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined).end('220 mail.example.com ESMTP\r\n')
  })
  const url = await opened(t, server)
  has(t, await errorOfCall(clientFor(url, { retries: 0 }).things.send({})), { error: 'connection_lost', outcomeUnknown: true })
})

void t.test('a request that meets a queued dispatch of its key waits for its end', async (t) => {
  const server = await serve(t, json(200, { dispatchId: 'd-1', status: 'queued' }), json(200, { dispatchId: 'd-1', status: 'succeeded' }))
  const client = clientFor(server.url)
  has(t, await client.things.send({}), { status: 'succeeded' })
  t.strictSame(client.pauses, [1])
  const other = await serve(t, json(200, { dispatchId: 'd-1', status: 'queued' }))
  has(t, await clientFor(other.url).things.send({}, { async: true }), { status: 'queued' })
})

void t.test('a list is its first page, and all items of all pages', async (t) => {
  const server = await serve(t, json(200, { data: [1, 2], nextCursor: 'c' }), json(200, { data: [1, 2], nextCursor: 'c' }), json(200, {
    data: [3],
    nextCursor: null
  }))
  const client = clientFor(server.url)
  t.strictSame(await client.things.list({ limit: 2 }), { data: [1, 2], nextCursor: 'c' })
  const items: unknown[] = []
  for await (const item of client.things.list({ limit: 2, metadata: { orderId: 'A 1' }, from: new Date(0) })) items.push(item)
  t.strictSame(items, [1, 2, 3])
  t.strictSame(server.seen.slice(1).map(({ url }) => url),
    ['', '&cursor=c'].map((more) => `/api/things?limit=2&metadata%5BorderId%5D=A+1&from=1970-01-01T00%3A00%3A00.000Z${more}`))
})

void t.test('what stands in a path is one segment, and must be there', async (t) => {
  const server = await serve(t, json(200, {}))
  await clientFor(server.url).things.read('a/../b?c')
  t.equal(server.seen[0]?.url, '/api/things/a%2F..%2Fb%3Fc')
  t.throws(() => clientFor(server.url).things.read(''), {
    message: '/api/things/{id} needs "id" as a text or a number: it got an empty text.'
  })
})

void t.test('a file is sent with its progress; opened anew it is sent again, and a stream is not', async (t) => {
  const server = await serve(t, refusal(503, 'service_unavailable', {}, { 'retry-after': '1' }), json(200, { success: true }))
  const sent: unknown[] = []
  const bytes = new Uint8Array(100_000).fill(97)
  await clientFor(server.url).things.upload({ file: bytes, filename: 'a"b.txt', metadata: { orderId: '1' } }, {
    onProgress: (progress: unknown) => sent.push(progress)
  })
  t.strictSame(sent, [...Array(2)].flatMap(() => [{ sent: 65_536, total: 100_000 }, { sent: 100_000, total: 100_000 }]))
  for (const { body } of server.seen) {
    contains(t, body, 'name="metadata"\r\n\r\n{"orderId":"1"}\r\n')
    contains(t, body, `name="file"; filename="a%22b.txt"\r\nContent-Type: application/octet-stream\r\n\r\n${'a'.repeat(100_000)}\r\n--`)
  }
  const stream = (): AsyncIterable<Uint8Array> => Readable.from([bytes])
  const other = await serve(t, refusal(503, 'service_unavailable', {}, { 'retry-after': '1' }))
  has(t, await errorOfCall(clientFor(other.url).things.upload({ file: stream(), filename: 'a' })), { error: 'service_unavailable' })
  t.equal(other.seen.length, 1)
  const away = await serve(t)
  await away.close()
  const client = clientFor(away.url)
  has(t, await errorOfCall(client.things.upload({ file: stream(), filename: 'a' })), { error: 'unreachable' })
  t.equal(client.pauses.length, 3, 'nothing of it was read yet')
})

/** A server that sends events, cut anywhere. */
const events = (...chunks: readonly string[]): Turn => (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of chunks) response.write(chunk)
  response.end()
}

void t.test('events are told as they come, until the end', async (t) => {
  const server = await serve(t,
    events('retry: 2000\n\n\nevent: dis', 'patch\nda', 'ta: {"a":\ndata: 1}\n', '\n: nothing\n\n', 'event: end\ndata: {}\n\n',
      'event: dispatch\ndata: {}\n\n'))
  const reported: unknown[] = []
  for await (const event of clientFor(server.url).things.follow('1')) reported.push(event)
  t.strictSame(reported, [{ event: 'dispatch', data: { a: 1 } }])
})

void t.test('a dispatch is followed by its events, and by asking where they do not come', async (t) => {
  const of = (status: string): Turn => json(200, { dispatchId: 'd-1', status })
  const server = await serve(t, of('queued'),
    events('event: dispatch\ndata: {"status":"running"}\n\n', 'event: dispatch\ndata: {"status":"succeeded"}\n\n'), of('succeeded'))
  const reported: unknown[] = []
  has(t, await clientFor(server.url).wait('d-1', { onChange: ({ status }: { status: string }) => reported.push(status) }), {
    status: 'succeeded'
  })
  t.strictSame(reported, ['queued', 'running', 'succeeded'])
  const proxy = await serve(t, of('queued'), html(502), of('running'), of('failed'))
  const client = clientFor(proxy.url)
  has(t, await client.wait('d-1'), { status: 'failed' })
  t.strictSame([proxy.seen.length, client.pauses], [4, [2]])
  const slow = await serve(t, of('queued'))
  has(t, await clientFor(slow.url).wait('d-1', { atMost: 0 }), { status: 'queued' })
})

async function opened (t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `${'setSecureContext' in server ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
}
