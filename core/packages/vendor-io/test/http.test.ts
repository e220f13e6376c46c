import type { DocumentHandle } from '@dispatch/common'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { memoryLog, outside } from '../../../../test/fixtures/providers/call.ts'
import { has, lacks, matches } from '../../../../test/support/matching.ts'
import { httpOf, vendorOf } from '../../../../test/support/vendor.ts'
import { createAuthority } from '../../conformance/vendor/certificates.ts'
import type { VendorBehaviour } from '../../conformance/vendor/vendor.ts'
import { Type } from '../../host/provider.ts'
import type { HttpCall } from '../http/call.ts'
import { chosenHosts } from '../http/target.ts'
import { createNetwork } from '../network.ts'
import { type Failure, failureOf } from '../outcome/failure.ts'
import { createProgress } from '../outcome/request-outcome.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/messages'
const Sent = Type.Object({ id: Type.String() })
const pdf: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: 8,
  sha256: 'c'.repeat(64)
}
const documents = { ...outside().documents, read: () => Promise.resolve(Readable.from([Buffer.from('%PDF'), Buffer.from('-2.0')])) }

/** The body of the answer has a test of its own. */
function withoutBody (failure: Failure | undefined): Failure | undefined {
  const { body: _, ...others } = failure ?? {}
  return failure === undefined ? undefined : { ...others, message: failure.message }
}

/** What the failure of a request is for its provider. */
const failed = (request: Promise<unknown>): Promise<Failure | undefined> =>
  request.then(() => undefined, (error: unknown) => withoutBody(failureOf(error)) ?? Promise.reject(error as Error))
/** The last request that the vendor got. */
const last = () => vendor.requests.at(-1)!

await t.test('a request carries what the call says, and the reply is checked', async (t) => {
  vendor.answer({ json: { id: 'SM1', more: true } })
  t.strictSame(await httpOf(network).post(url, { json: { a: [1, null], left: undefined } }, Sent), { id: 'SM1', more: true })
  has(t, last(), {
    method: 'POST',
    host: 'api.acme.test',
    path: '/v1/messages',
    json: { a: [1, null] },
    headers: { 'content-type': 'application/json', 'content-length': '14', accept: 'application/json', 'user-agent': 'document-dispatch' }
  })
  t.notOk('left' in (last().json as object))
})

await t.test('every method is its own', async (t) => {
  vendor.answer({ json: { id: '1' } })
  const http = httpOf(network)
  for (const method of ['get', 'post', 'put', 'patch', 'delete'] as const) {
    await http[method](url, {}, Sent)
    has(t, last(), { method: method.toUpperCase(), body: Buffer.alloc(0) })
  }
})

const pairs: [what: string, call: HttpCall, pairs: [string, string][]][] = [
  [
    'texts, numbers and truth',
    { form: { To: '+33 6', n: 1.5, yes: true, not: undefined, empty: '' } },
    [
      ['To', '+33 6'],
      ['n', '1.5'],
      ['yes', 'true'],
      ['empty', '']
    ]
  ],
  ['objects', { form: { address: { city: 'Paris', geo: { lat: 1 } } } }, [['address[city]', 'Paris'], ['address[geo][lat]', '1']]],
  ['lists', { form: { a: [1, 2] } }, [['a', '1'], ['a', '2']]],
  ['lists with brackets', { form: { a: [1, 2] }, arrays: 'brackets' }, [['a[]', '1'], ['a[]', '2']]],
  ['lists with indices', { form: { a: ['x', 'y'], o: { l: [1] } }, arrays: 'indexed' }, [['a[0]', 'x'], ['a[1]', 'y'], ['o[l][0]', '1']]],
  [
    'lists of objects, always with indices',
    { form: { lines: [{ n: 1 }, { n: 2, tags: ['t', 'u'] }] } },
    [
      ['lines[0][n]', '1'],
      ['lines[1][n]', '2'],
      ['lines[1][tags]', 't'],
      ['lines[1][tags]', 'u']
    ]
  ]
]

for (const [what, call, expected] of pairs) {
  await t.test(`a form: ${what}`, async (t) => {
    vendor.answer({ json: { id: '1' } })
    await httpOf(network).post(url, call, Sent)
    t.strictSame(last().pairs, expected)
    t.equal(last().headers['content-type'], 'application/x-www-form-urlencoded')
  })
}

await t.test('a query is added to that of the URL, and a header is sent', async (t) => {
  vendor.answer({ json: { id: '1' } })
  await httpOf(network).get(`${url}?a=1`, {
    query: { b: 'x&y', c: undefined, d: { e: 2 } },
    headers: { 'Idempotency-Key': 'k', Accept: 'application/vnd.acme+json' }
  }, Sent)
  has(t, last(), { query: { a: '1', b: 'x&y', 'd[e]': '2' }, headers: { 'idempotency-key': 'k', accept: 'application/vnd.acme+json' } })
})

await t.test('multipart carries texts, JSON and documents in order, with the length known', async (t) => {
  vendor.answer({ json: { id: '1' } })
  await httpOf(network, { documents }).post(url, {
    multipart: {
      name: 'Zoë',
      n: 2,
      not: undefined,
      file: [pdf, { document: pdf, filename: 'a"b\r\n.pdf', contentType: 'text/plain' }],
      meta: { json: { priority: 1 } },
      note: { text: 'x', contentType: 'text/csv' }
    }
  }, Sent)
  t.strictSame(last().parts?.map(({ body, ...part }) => ({ ...part, body: body.toString() })), [
    { name: 'name', body: 'Zoë' },
    { name: 'n', body: '2' },
    { name: 'file', filename: 'F-1.pdf', contentType: 'application/pdf', body: '%PDF-2.0' },
    { name: 'file', filename: 'a%22b%0D%0A.pdf', contentType: 'text/plain', body: '%PDF-2.0' },
    { name: 'meta', contentType: 'application/json', body: '{"priority":1}' },
    { name: 'note', contentType: 'text/csv', body: 'x' }
  ])
  t.equal(last().headers['content-length'], String(last().body.byteLength))
})

await t.test('related parts have no names, and the body says the type of the first', async (t) => {
  vendor.answer({ json: { id: '1' } })
  await httpOf(network, { documents }).post(url, {
    related: [{ json: { name: 'F-1.pdf' } }, pdf, 'a note', { text: 'a;b', contentType: 'text/csv; header="absent"' }]
  }, Sent)
  matches(t, last().headers['content-type'], /^multipart\/related; type="application\/json"; boundary=dispatch-[\w-]+$/)
  t.strictSame(last().parts?.map(({ body, ...part }) => ({ ...part, body: body.toString() })), [
    { name: '0', contentType: 'application/json', body: '{"name":"F-1.pdf"}' },
    { name: '1', contentType: 'application/pdf', body: '%PDF-2.0' },
    { name: '2', contentType: 'text/plain; charset=utf-8', body: 'a note' },
    { name: '3', contentType: 'text/csv; header="absent"', body: 'a;b' }
  ])
  t.equal(last().headers['content-length'], String(last().body.byteLength))
  await t.rejects(httpOf(network).post(url, { related: [] }, Sent), { message: '"related" needs a part.' })
})

await t.test('a document is streamed as the body', async (t) => {
  vendor.answer({})
  t.equal(await httpOf(network, { documents }).put(url, { document: pdf }, Type.Null()), null)
  has(t, last(), { headers: { 'content-type': 'application/pdf', 'content-length': '8' }, body: Buffer.from('%PDF-2.0') })
})

await t.test('a document that cannot be read, or is not as long as it says, leaves nothing accepted', async (t) => {
  vendor.answer({ json: { id: '1' } })
  const unreadable = { ...documents, read: () => Promise.reject(new Error('gone')) }
  const broken = {
    ...documents,
    read: () =>
      Promise.resolve(Readable.from((async function* () {
        yield Buffer.from('%P')
        await Promise.reject(new Error('disk'))
      })()))
  }
  const short = { ...documents, read: () => Promise.resolve(Readable.from([Buffer.from('%P')])) }
  const long = { ...documents, read: () => Promise.resolve(Readable.from([Buffer.alloc(20)])) }
  for (const documents of [unreadable, broken, short, long]) {
    has(t, await failed(httpOf(network, { documents }).post(url, { document: pdf }, Sent)), { word: 'provider_unavailable', ours: true })
    has(t, await failed(httpOf(network, { documents }).post(url, { multipart: { pdf } }, Sent)), {
      word: 'provider_unavailable',
      ours: true
    })
  }
})

await t.test('two bodies, two ways to sign in, a header that is none: the provider\'s mistake, and nothing is sent', async (t) => {
  const before = vendor.requests.length
  await t.rejects(httpOf(network).post(url, { json: 1, form: {} }, Sent), { message: 'A request has one body, not form and json.' })
  await t.rejects(httpOf(network).post(url, { text: 'a', xml: { a: 'b' } }, Sent), { message: 'A request has one body, not xml and text.' })
  await t.rejects(httpOf(network).post(url, { multipart: { a: 1 }, document: pdf }, Sent), {
    message: 'A request has one body, not multipart and document.'
  })
  await t.rejects(httpOf(network).post(url, { bearer: 'x', basic: ['a', 'b'] }, Sent), {
    message: 'A request signs in one way, not by basic and bearer.'
  })
  has(t, await failed(httpOf(network).post(url, { headers: { 'X-Bad': 'a\r\nX-Injected: 1' } }, Sent)), {
    word: 'provider_unavailable',
    ours: true
  })
  t.equal(vendor.requests.length, before)
})

await t.test('replies', async (t) => {
  const Anything = Type.Unknown()
  const read = async (answer: VendorBehaviour): Promise<unknown> => {
    vendor.answer(answer)
    return await httpOf(network).get(url, {}, Anything)
  }

  await t.test('an empty one is null, one that is not JSON is a text', async (t) => {
    t.equal(await read({ status: 204 }), null)
    t.equal(await read({ text: ' \n' }), null)
    t.equal(await read({ text: '<ok/>' }), '<ok/>')
    t.strictSame(await read({ text: '[1]', headers: { 'content-type': 'text/html' } }), [1])
  })

  await t.test('gzip is read', async (t) => {
    t.strictSame(await read({ body: gzipSync('{"id":"1"}'), headers: { 'content-encoding': 'gzip' } }), { id: '1' })
    t.equal(last().headers['accept-encoding'], 'gzip')
  })

  const unreadable: [string, VendorBehaviour, RegExp][] = [
    ['too large', { body: Buffer.alloc(5 * 1024 * 1024 + 1, ' ') }, /larger than 5242880 bytes/],
    [
      'too large once unzipped',
      { body: gzipSync(Buffer.alloc(6 * 1024 * 1024, ' ')), headers: { 'content-encoding': 'gzip' } },
      /larger than 5242880 bytes/
    ],
    ['not gzip although it says so', { text: 'plain', headers: { 'content-encoding': 'gzip' } }, /sent an answer that is not HTTP/],
    ['cut off', { cut: 'in-reply' }, /it cut the connection/],
    ['of another shape', { json: { ID: '1' } }, /The field "id" is required/],
    ['garbage', { text: '<html>' }, /Expected object, got string/]
  ]
  for (const [what, answer, why] of unreadable) {
    await t.test(`one that is ${what} is unknown after a POST at the point of no return, unavailable ` +
      'before it and after a GET', async (t) => {
      vendor.answer(answer)
      has(t, await failed(httpOf(network).post(url, {}, Sent)), { word: 'outcome_unknown', message: why })
      has(t, await failed(httpOf(network, { progress: createProgress({ passed: false }) }).post(url, {}, Sent)), {
        word: 'provider_unavailable'
      })
      has(t, await failed(httpOf(network).get(url, {}, Sent)), { word: 'provider_unavailable' })
    })
  }

  await t.test('a redirect is not followed', async (t) => {
    vendor.answer({ status: 307, headers: { location: 'https://api.acme.test/other' } })
    const before = vendor.requests.length
    has(t, await failed(httpOf(network).post(url, {}, Sent)), { word: 'outcome_unknown', status: 307 })
    t.equal(vendor.requests.length, before + 1)
  })
})

const errors = {
  at: ['/code', '/error/code'],
  message: ['/message', '/error/message'],
  map: { 20003: 'authentication_error', busy: 'provider_unavailable' }
} as const
const statuses: [what: string, answer: VendorBehaviour, failure: Failure][] = [
  [
    '400 with a code and words',
    { status: 400, json: { code: 21211, message: 'No such number.' } },
    { word: 'provider_error', code: '21211', status: 400, message: 'No such number.' }
  ],
  [
    '400 with its code elsewhere',
    { status: 400, json: { error: { code: 'E1', message: 'Bad.' } } },
    { word: 'provider_error', code: 'E1', status: 400, message: 'Bad.' }
  ],
  [
    '400 with a code of the map',
    { status: 400, json: { code: 20003, message: 'Authenticate' } },
    { word: 'authentication_error', code: '20003', status: 400, message: 'Authenticate' }
  ],
  [
    '400 with a code that means a pause',
    { status: 400, json: { code: 'busy', message: 'Later.' } },
    { word: 'provider_unavailable', code: 'busy', status: 400, message: 'Later.' }
  ],
  [
    '400 with a code that every object has',
    { status: 400, json: { code: 'constructor' } },
    { word: 'provider_error', code: 'constructor', status: 400, message: '"api.acme.test" answered 400: {"code":"constructor"}.' }
  ],
  [
    '400 with words at no place that is known',
    { status: 400, json: { reason: 'No such person.' } },
    { word: 'provider_error', status: 400, message: '"api.acme.test" answered 400: {"reason":"No such person."}.' }
  ],
  [
    '400 with a text',
    { status: 400, text: ` ${'No such person. '.repeat(100)}` },
    { word: 'provider_error', status: 400, message: `"api.acme.test" answered 400: ${'No such person. '.repeat(100).slice(0, 500)}.` }
  ],
  [
    '400 that is not JSON',
    { status: 400, text: '<html>' },
    { word: 'provider_error', status: 400, message: '"api.acme.test" answered 400.' }
  ],
  ['401', { status: 401 }, { word: 'authentication_error', status: 401, message: '"api.acme.test" answered 401.' }],
  ['403', { status: 403 }, { word: 'authentication_error', status: 403, message: '"api.acme.test" answered 403.' }],
  [
    '403 with a page of a proxy',
    { status: 403, headers: { 'content-type': 'text/html' }, text: '<!doctype html><title>Access denied</title>' },
    {
      word: 'provider_error',
      status: 403,
      message: '"api.acme.test" answered 403 with a page for people: a proxy or firewall may stand before the vendor.'
    }
  ],
  ['404', { status: 404 }, { word: 'provider_error', status: 404, message: '"api.acme.test" answered 404.' }],
  ['409', { status: 409 }, { word: 'provider_error', status: 409, message: '"api.acme.test" answered 409.' }],
  [
    '429',
    { status: 429, json: { code: 20003 } },
    { word: 'provider_unavailable', code: '20003', status: 429, message: '"api.acme.test" answered 429: {"code":20003}.' }
  ],
  [
    '429 that says in how many seconds',
    { status: 429, headers: { 'retry-after': '7' } },
    { word: 'provider_unavailable', status: 429, message: '"api.acme.test" answered 429.', retryAfter: 7 }
  ],
  [
    '429 that says when',
    { status: 429, headers: { 'retry-after': 'Sat, 14 Mar 2026 09:31:00 GMT' } },
    { word: 'provider_unavailable', status: 429, message: '"api.acme.test" answered 429.', retryAfter: 60 }
  ],
  [
    '429 that says a time that is over',
    { status: 429, headers: { 'retry-after': 'Sat, 14 Mar 2026 09:00:00 GMT' } },
    { word: 'provider_unavailable', status: 429, message: '"api.acme.test" answered 429.', retryAfter: 1 }
  ],
  [
    '429 that asks for more than a day',
    { status: 429, headers: { 'retry-after': '9999999' } },
    { word: 'provider_unavailable', status: 429, message: '"api.acme.test" answered 429.', retryAfter: 86400 }
  ],
  [
    '429 that says nothing that could be read',
    { status: 429, headers: { 'retry-after': 'soon' } },
    { word: 'provider_unavailable', status: 429, message: '"api.acme.test" answered 429.' }
  ],
  [
    'a status that the service declares as not processed',
    { status: 503 },
    { word: 'provider_unavailable', status: 503, message: '"api.acme.test" answered 503.' }
  ],
  ['500', { status: 500 }, { word: 'outcome_unknown', status: 500, message: '"api.acme.test" answered 500.' }],
  ['502', { status: 502 }, { word: 'outcome_unknown', status: 502, message: '"api.acme.test" answered 502.' }]
]

for (const [what, answer, failure] of statuses) {
  await t.test(`answered: ${what}`, async (t) => {
    vendor.answer(answer)
    t.strictSame(await failed(httpOf(network, { errors, notProcessed: [503] }).post(url, {}, Sent)), failure)
  })
}

await t.test('a 409 to a request under an idempotency key may come of an earlier one that is still at work', async (t) => {
  const keyed = (more: Parameters<typeof httpOf>[1] = {}) =>
    httpOf(network, { errors: { ...errors, map: { duplicate: 'provider_error' } }, keyed: true, ...more })
  vendor.answer({ status: 409, json: { code: 'conflict', message: 'At work.' } })
  t.strictSame(await failed(keyed().post(url, {}, Sent)), { word: 'outcome_unknown', code: 'conflict', status: 409, message: 'At work.' })
  has(t, await failed(keyed({ progress: createProgress({ passed: false }) }).post(url, {}, Sent)), { word: 'provider_unavailable' })
  vendor.answer({ status: 409, json: { code: 'duplicate', message: 'F-1 is booked already.' } })
  has(t, await failed(keyed().post(url, {}, Sent)), { word: 'provider_error', code: 'duplicate' })
  vendor.answer({ status: 422, json: { code: 'conflict', message: 'Another request has this key.' } })
  has(t, await failed(keyed().post(url, {}, Sent)), { word: 'provider_error', status: 422 })
})

await t.test('an answer without a code is mapped by its status', async (t) => {
  const mapped = (map: Record<string, 'provider_error' | 'authentication_error'>) =>
    httpOf(network, { errors: { ...errors, map }, keyed: true })
  vendor.answer({ status: 409, text: '<h1>Conflict</h1>' })
  t.strictSame(await failed(mapped({ 409: 'provider_error' }).post(url, {}, Sent)), {
    word: 'provider_error',
    status: 409,
    message: '"api.acme.test" answered 409.'
  })
  vendor.answer({ status: 404 })
  has(t, await failed(mapped({ 404: 'authentication_error' }).post(url, {}, Sent)), { word: 'authentication_error', status: 404 })
  vendor.answer({ status: 409, json: { code: 'busy' } })
  has(t, await failed(mapped({ 409: 'provider_error' }).post(url, {}, Sent)), { word: 'outcome_unknown' }, 'a code comes first')
})

await t.test('a cut after the request left is unknown for what changes something, and only there', async (t) => {
  for (const cut of ['before-body', 'after-body'] as const) {
    vendor.answer({ cut })
    t.strictSame(await failed(httpOf(network).post(url, { json: 1 }, Sent)), {
      word: 'outcome_unknown',
      message: '"api.acme.test" cut the connection.'
    })
    has(t, await failed(httpOf(network).get(url, {}, Sent)), { word: 'provider_unavailable' })
  }
})

await t.test('an answer that does not come in time is unknown', async (t) => {
  vendor.answer({ delay: 60_000, json: { id: '1' } })
  t.strictSame(await failed(httpOf(network, { limit: 20 }).post(url, {}, Sent)), {
    word: 'outcome_unknown',
    message: '"api.acme.test" did not answer in time.'
  })
})

await t.test('nothing is sent', async (t) => {
  const missing = (more: Parameters<typeof createNetwork>[0]) => {
    const other = createNetwork({ loopback: 'allowed', ca: [vendor.ca], ...more })
    t.teardown(() => other.close())
    return failed(httpOf(other).post(url, { json: 1 }, Sent))
  }

  await t.test('to a host that refuses the connection', async (t) => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as { port: number }
    gone.close()
    t.strictSame(await missing({ route: () => ({ host: '127.0.0.1', port }) }), {
      word: 'provider_unavailable',
      message: '"api.acme.test" refused the connection.'
    })
  })

  await t.test('to a host that has no address', async (t) => {
    has(t, await missing({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) }), {
      word: 'provider_unavailable',
      message: '"api.acme.test" cannot be found, or has no permitted address.'
    })
  })

  await t.test('to a host whose certificate is not trusted, or of another name', async (t) => {
    has(t, await missing({ route: vendor.route, ca: [(await createAuthority()).ca] }), {
      word: 'provider_unavailable',
      message: /has no valid TLS certificate/
    })
    has(t, await missing({ route: () => ({ host: 'localhost', port: vendor.port }), ca: [] }), { word: 'provider_unavailable' })
  })

  await t.test('to a host that speaks no TLS, or hangs up first', async (t) => {
    for (const greet of ['HTTP/1.1 200 OK\r\n\r\n', '']) {
      const plain = createServer((socket) => socket.end(greet)).listen(0, '127.0.0.1')
      await once(plain, 'listening')
      t.teardown(() => plain.close())
      const { port } = plain.address() as { port: number }
      has(t, await missing({ route: () => ({ host: '127.0.0.1', port }) }), { word: 'provider_unavailable' })
    }
  })

  await t.test('to an address that is not public', async (t) => {
    const before = vendor.requests.length
    const guarded = createNetwork({ ca: [vendor.ca], resolve: () => Promise.resolve(['127.0.0.1']) })
    t.teardown(() => guarded.close())
    const chosen = ['127.0.0.1', '[::1]', 'api.acme.test', '169.254.169.254']
    const http = httpOf(guarded, { targets: { provider: 'acme', declared: [], chosen } })
    for (const host of [...chosen, '2130706433', '0x7f000001', '0177.1', '１２７.0.0.1']) {
      const literal = { word: 'provider_unavailable', message: /may not be called: its address is not public/, ours: true }
      const name = {
        word: 'provider_unavailable',
        message: '"api.acme.test" cannot be found, or has no permitted address.',
        ours: undefined
      }
      has(t, await failed(http.post(`https://${host}:${vendor.port}/`, {}, Sent)), host === 'api.acme.test' ? name : literal, host)
    }
    const real = createNetwork({ ca: [vendor.ca] })
    t.teardown(() => real.close())
    const localhost = httpOf(real, { targets: { provider: 'acme', declared: [], chosen: ['localhost'] } }).post(
      `https://localhost:${vendor.port}/`,
      {},
      Sent
    )
    has(t, await failed(localhost), { message: /^"localhost" cannot be found, or has no permitted address/ },
      'a name that the system\'s resolver knows')
    t.equal(vendor.requests.length, before)
  })

  await t.test('to a host that is neither declared nor chosen, without TLS, or with a user name', async (t) => {
    const before = vendor.requests.length
    const http = httpOf(network, { targets: { provider: 'acme', declared: ['api.acme.test', '*.files.acme.test'], chosen: ['mine.test'] } })
    const wrong = ['https://evil.test/', 'https://acme.test/', 'https://xapi.acme.test/', 'https://api.acme.test.evil.test/',
      'https://files.acme.test/', 'https://evilfiles.acme.test/', 'https://a.mine.test/', 'http://api.acme.test/', 'ftp://api.acme.test/',
      'https://user@api.acme.test/', 'https://u:p@api.acme.test/', '/v1', 'https://']
    for (const url of wrong) {
      has(t, await failed(http.post(url, {}, Sent)), { word: 'provider_unavailable', message: /^The provider "acme" /, ours: true }, url)
    }
    t.equal(vendor.requests.length, before)
    vendor.answer({ json: { id: '1' } })
    for (const url of ['https://a.files.acme.test/', 'https://a.b.files.acme.test/', 'https://mine.test:8443/', 'https://API.acme.test/']) {
      t.strictSame(await http.post(url, {}, Sent), { id: '1' }, url)
    }
  })

  await t.test('once the call has ended', async (t) => {
    const before = vendor.requests.length
    has(t, await failed(httpOf(network, { ended: AbortSignal.abort() }).post(url, {}, Sent)), {
      word: 'provider_unavailable',
      message: 'The provider "acme" sent a request after its call had ended.'
    })
    t.equal(vendor.requests.length, before)
  })
})

await t.test('nothing leaves for a caller that has lost what it calls for', async (t) => {
  const lost = { word: 'provider_unavailable', ours: true, message: /was suspended for too long/ }
  const before = vendor.requests.length

  await t.test('when it begins', async (t) => {
    has(t, await failed(httpOf(network, { holds: () => false }).post(url, { json: {} }, Sent)), lost)
    t.equal(vendor.requests.length, before)
  })

  await t.test('when it loses that during the handshake', async (t) => {
    const [handshake, goOn] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
    const slow = createServer((client) => {
      handshake.resolve(undefined)
      void goOn.promise.then(() => {
        const behind = connect(vendor.route('api.acme.test', 443)?.port ?? 0, '127.0.0.1')
        client.pipe(behind).pipe(client)
        for (const socket of [client, behind]) socket.on('error', () => undefined)
      })
    }).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    t.teardown(() => slow.close())
    const network = createNetwork({
      ca: [vendor.ca],
      loopback: 'allowed',
      route: () => ({ host: '127.0.0.1', port: (slow.address() as AddressInfo).port })
    })
    t.teardown(() => network.close())
    let holds = true
    const sent = failed(httpOf(network, { holds: () => holds }).post(url, { json: {} }, Sent))
    await handshake.promise
    holds = false
    goOn.resolve(undefined)
    has(t, await sent, lost)
    t.equal(vendor.requests.length, before, 'the vendor was reached and got no request')
    holds = true
    vendor.answer({ json: { id: '1' } })
    t.strictSame(await httpOf(network, { holds: () => holds }).post(url, { json: {} }, Sent), { id: '1' }, 'the connection is still good')
  })

  await t.test('when it loses that in the middle of a document', async (t) => {
    const requests = vendor.requests.length
    let pieces = 0
    const read = (): Promise<Readable> => Promise.resolve(Readable.from([Buffer.from('%PDF'), Buffer.from('-2.0')]))
    has(t,
      await failed(httpOf(network, { documents: { ...documents, read }, holds: () => pieces++ < 2 }).post(url, { document: pdf }, Sent)),
      lost)
    t.equal(vendor.requests.length, requests)
  })
})

await t.test('settings name hosts as URLs, with a port or alone', (t) => {
  t.strictSame(
    chosenHosts(['https://Platform.example/api', 'smtp.example.com', 'smtp.example.com:587', '::1', '127.1', 'not a host', '', 7,
      undefined]),
    ['platform.example', 'smtp.example.com', 'smtp.example.com', '[::1]', '127.0.0.1']
  )
  t.end()
})

await t.test('how far a call has come decides', async (t) => {
  const outcome = async (passed: boolean, ...answers: VendorBehaviour[]): Promise<(string | undefined)[]> => {
    const progress = createProgress({ passed })
    const http = httpOf(network, { progress })
    const words: (string | undefined)[] = []
    for (const answer of answers) {
      vendor.answer(answer)
      words.push((await failed(http.post(url, {}, Sent)))?.word)
    }
    return [...words, progress.uncertain?.word]
  }
  const good: VendorBehaviour = { json: { id: '1' } }

  await t.test('before the point of no return everything may be repeated', async (t) => {
    t.strictSame(await outcome(false, good, { status: 500 }, { cut: 'after-body' }, { status: 400 }), [
      undefined,
      'provider_unavailable',
      'provider_unavailable',
      'provider_error',
      undefined
    ])
  })

  await t.test('a refusal or a pause at it leaves nothing accepted', async (t) => {
    t.strictSame(await outcome(true, { status: 400 }, { status: 429 }), ['provider_error', 'provider_unavailable', undefined])
  })

  await t.test('after an accepted request no failure is harmless', async (t) => {
    t.strictSame(await outcome(true, good, { status: 400 }), [undefined, 'outcome_unknown', 'outcome_unknown'])
    t.strictSame(await outcome(true, good, { status: 429 }), [undefined, 'outcome_unknown', 'outcome_unknown'])
  })

  await t.test('a doubt stays, whatever comes after it', async (t) => {
    t.strictSame(await outcome(true, { status: 500 }, { status: 400 }), ['outcome_unknown', 'provider_error', 'outcome_unknown'])
  })
})

await t.test('a download is kept, with its type', async (t) => {
  vendor.answer({ body: Buffer.from('%PDF-2.0'), headers: { 'content-type': 'application/pdf' } })
  const keep = async (bytes: Readable, about: { filename: string, contentType: string }): Promise<DocumentHandle> => ({
    ...pdf,
    ...about,
    size: (await buffer(bytes)).byteLength
  })
  t.strictSame(await httpOf(network, { documents: { ...documents, keep } }).download(url, { filename: 'signed.pdf' }), {
    ...pdf,
    filename: 'signed.pdf'
  })
  has(t, last(), { method: 'GET', headers: { accept: '*/*' } })
  vendor.answer({ cut: 'in-reply' })
  has(t, await failed(httpOf(network, { documents: { ...documents, keep } }).download(url, { filename: 'x' })), {
    word: 'provider_unavailable',
    message: /cannot be kept: it cut the connection/
  })
})

await t.test('a call is one line of the log: where, how long, and nothing that was said', async (t) => {
  vendor.answer({ json: { id: 'canary-reply' } })
  const log = memoryLog()
  await httpOf(network, { log }).post(`${url}?token=canary-query`, {
    basic: ['canary-user', 'canary-password'],
    json: 'canary-body',
    headers: { 'x-key': 'canary-header' }
  }, Sent)
  has(t, log.lines, [{
    level: 'debug',
    message: 'vendor called',
    facts: { method: 'POST', host: 'api.acme.test', path: '/v1/messages', status: 200, ms: Number }
  }])
  lacks(t, JSON.stringify(log.lines), /canary/)
})
