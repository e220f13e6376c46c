import type { ErrorWord } from '@dispatch/contract'
import t from 'tap'
import { contains, lacks } from '../support/matching.ts'
import { invoiceRequest, type Sending, startService } from '../support/service.ts'
import { hasNoFault, isError, traces } from './support.ts'

const service = await startService(t)
const { send, app } = service

/** A body that would be dispatched, as text, with `field` in place of its metadata. */
const withField = (field: string): string => JSON.stringify(invoiceRequest()).replace(/\}$/, `,${field}}`)
const data = (changes: Record<string, unknown>): object => invoiceRequest(changes)
const fields = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${String(index)}`, 1]))
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`
const typed = (type: string): Sending => ({ body: JSON.stringify(invoiceRequest()), headers: { 'content-type': type } })
const megabytes = (count: number): string => 'x'.repeat(count * 1024 * 1024)

/** What is sent to a dispatch and to its validation, and the word of the answer. */
const bodies: Record<string, [ErrorWord, Sending]> = {
  'a body that ends too early': ['validation_error', { body: '{"template":' }],
  'a body that is a text': ['validation_error', { body: '"template"' }],
  'a body that is null': ['validation_error', { body: 'null' }],
  'a body of nothing': ['validation_error', { body: '' }],
  'a body of blanks': ['validation_error', { body: '   ' }],
  'no body at all': ['validation_error', {}],
  'JSON with comments': ['validation_error', { body: '{} // all' }],
  'two byte order marks': ['validation_error', { body: `\uFEFF\uFEFF${JSON.stringify(invoiceRequest())}` }],
  'bytes that are not UTF-8': ['validation_error', { body: Buffer.from(JSON.stringify(data({ notes: 'é' })), 'latin1') }],
  'UTF-16': ['validation_error', { body: Buffer.from(JSON.stringify(invoiceRequest()), 'utf16le') }],
  'compressed JSON': [
    'validation_error',
    { body: Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0]), headers: { 'content-encoding': 'gzip' } }
  ],
  'a body of 10 MB': ['payload_too_large', { body: JSON.stringify({ notes: megabytes(10) }) }],
  'a body of 10 MB that is no JSON': ['payload_too_large', { body: megabytes(10) }],
  'text/plain': ['unsupported_media_type', typed('text/plain')],
  'a form': ['unsupported_media_type', typed('application/x-www-form-urlencoded')],
  'a type that begins alike': ['unsupported_media_type', typed('application/jsonp')],
  'another kind of JSON': ['unsupported_media_type', typed('application/problem+json')],
  'a type that is none': ['unsupported_media_type', typed(';;;')],
  'objects 1,000 deep': ['validation_error', { body: withField(`"metadata":${nested('{"a":', '}', 1000)}`) }],
  'arrays 1,000 deep': ['validation_error', { body: withField(`"metadata":${nested('[', ']', 1000)}`) }],
  'arrays 1,000 deep in the data': ['validation_error', { body: `{"template":{"id":1,"data":{"x":${nested('[', ']', 1000)}}}}` }],
  'arrays 500,000 deep, twice': ['validation_error', { body: withField(`"invoicing":{"documentType":${nested('[', ']', 500_000)}}`) }],
  '100,000 unknown fields': ['validation_error', { body: { ...invoiceRequest(), ...fields(100_000) } }],
  '900 unknown fields': ['validation_error', { body: { ...invoiceRequest(), ...fields(900) } }],
  '100,000 fields in the data': ['validation_error', { body: data(fields(100_000)) }],
  '100,000 lines': ['validation_error', { body: data({ lines: Array(100_000).fill({}) }) }],
  '10,000 wrong lines': ['validation_failed', { body: data({ lines: Array(10_000).fill({ quantity: {} }) }) }],
  '10,000 lines with wrong totals': [
    'validation_failed',
    { body: data({ lines: Array(10_000).fill({ description: 'a', quantity: 1, unitPrice: 1, total: 2 }) }) }
  ],
  'a field with a name of 4 MB': ['validation_error', { body: { ...invoiceRequest(), [megabytes(4)]: 1 } }],
  'a key of 4 MB in the metadata': ['validation_error', { body: invoiceRequest({}, { metadata: { [megabytes(4)]: 1 } }) }],
  'faults below a name of 4 MB': ['validation_error', { body: data({ [megabytes(4)]: Array(30).fill('\0') }) }],
  'a currency of 4 MB': ['validation_failed', { body: data({ currency: megabytes(4) }) }],
  'a country of 4 MB': [
    'validation_failed',
    { body: data({ customer: { name: 'Ada', country: megabytes(4), postalCode: megabytes(0.5) } }) }
  ],
  'NUL in a text': ['validation_error', { body: data({ notes: 'a\0b' }) }],
  'NUL in a key': ['validation_error', { body: data({ 'a\0b': 1 }) }],
  'NUL in the metadata': ['validation_error', { body: invoiceRequest({}, { metadata: { 'a\0': 'b' } }) }],
  'NUL in the settings': ['validation_error', { body: invoiceRequest({}, { settings: { paymentCollectionLabel: '\0' } }) }],
  'half a surrogate pair': ['validation_error', { body: withField('"metadata":{"a":"\\ud800"}') }],
  'half a surrogate pair in a key': ['validation_error', { body: withField('"metadata":{"\\udc00":"a"}') }],
  'a number beyond doubles': ['validation_error', { body: '{"documentType":"INVOICE","template":{"id":1,"data":{"total":1e999}}}' }],
  'a number of 100,000 digits': [
    'validation_error',
    { body: `{"documentType":"INVOICE","template":{"id":1,"data":{"total":${'9'.repeat(100_000)}}}}` }
  ],
  'the largest double': [
    'validation_failed',
    {
      body: data({
        total: Number.MAX_VALUE,
        lines: [{ description: 'a', quantity: Number.MAX_VALUE, unitPrice: Number.MAX_VALUE, total: Number.MIN_VALUE }]
      })
    }
  ],
  'a template id beyond integers': ['validation_error', { body: invoiceRequest({}, { template: { id: 2 ** 31, data: {} } }) }],
  'a template id with a fraction': ['validation_error', { body: invoiceRequest({}, { template: { id: 1.5, data: {} } }) }],
  'a template id as text': ['validation_error', { body: invoiceRequest({}, { template: { id: '1', data: {} } }) }],
  'a template that is not there': ['template_not_found', { body: invoiceRequest({}, { template: { id: 999, data: {} } }) }],
  'the data of another template': [
    'validation_failed',
    { body: invoiceRequest({}, { template: { id: 1, data: { subject: 'A letter', body: 'Dear Ada' } } }) }
  ],
  'a provider code that is none': ['validation_error', { body: invoiceRequest({}, { providerName: '../simulator' }) }],
  'a provider that is not there': ['configuration_missing', { body: invoiceRequest({}, { providerName: 'constructor' }) }],
  'metadata inside metadata': ['validation_error', { body: invoiceRequest({}, { metadata: { a: { b: 'c' } } }) }],
  'a leap second': ['validation_failed', { body: data({ date: '2016-12-31T23:59:60Z' }) }],
  'an offset that is none': ['validation_error', { body: invoiceRequest({}, { invoicing: { dueDate: '2026-03-14T09:30:00+25' } }) }],
  'a day that is none': ['validation_failed', { body: data({ date: '2026-02-30' }) }],
  'a year of six digits': ['validation_failed', { body: data({ date: '+275760-09-13' }) }],
  '__proto__ in the metadata': ['validation_error', { body: withField('"metadata":{"__proto__":"a"}') }],
  ...Object.fromEntries(['__proto__', 'constructor', 'prototype'].flatMap((key): [string, [ErrorWord, Sending]][] => [
    [`${key} in the body`, ['validation_error', { body: withField(`"${key}":{"template":1}`) }]],
    [
      `${key} in the settings`,
      [key === '__proto__' ? 'validation_error' : 'validation_failed', { body: withField(`"settings":{"${key}":{}}`) }]
    ],
    [`${key} in the service's object`, ['validation_error', { body: withField(`"invoicing":{"${key}":{}}`) }]],
    [
      `${key} deep in the data`,
      [
        key === '__proto__' ? 'validation_error' : 'validation_failed',
        { body: `{"documentType":"INVOICE","template":{"id":1,"data":{"lines":[{"${key}":{"polluted":true}}]}}}` }
      ]
    ]
  ]))
}

await t.test('a bad request has its error, costs nothing and leaves nothing behind', async (t) => {
  const before = await traces(app)
  for (const [name, [word, sending]] of Object.entries(bodies)) {
    const validated = await send('POST', '/api/invoicing/validate', sending)
    isError(t, validated, word, `${name}, to be validated`)
    t.equal(validated.body.result, 'error')
    isError(t,
      await send('POST', '/api/invoicing', { ...sending, headers: { 'x-idempotency-key': name.slice(0, 50), ...sending.headers } }), word,
      name)
  }
  t.same(await traces(app), before)
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})

await t.test('an unknown field is refused with the nearest known name, at every level', async (t) => {
  const { body } = await send('POST', '/api/invoicing/validate', {
    body: { ...invoiceRequest(), metdata: {}, invoicing: { dueDat: '2026-03-14' }, e: 1 }
  })
  const messages = Object.fromEntries((body.details as { path: string, message: string }[]).map(({ path, message }) => [path, message]))
  t.same(messages, {
    '/metdata': 'Unknown field "metdata" (did you mean "metadata"?).',
    '/invoicing/dueDat': 'Unknown field "dueDat" (did you mean "dueDate"?).',
    '/e': 'Unknown field "e".'
  })
})

await t.test('a body beyond the bounds is not looked at any further', async (t) => {
  for (const [body, code] of [
    [{ ...invoiceRequest(), ...fields(1001) }, 'too_many'],
    [
      { ...invoiceRequest(), metadata: JSON.parse(nested('[', ']', 40)) as unknown },
      'too_deep'
    ]
  ] as const) {
    const answer = await send('POST', '/api/invoicing/validate', { body })
    t.same((answer.body.details as { code: string }[]).map((problem) => problem.code), [code])
  }
})

await t.test('of a key that is given twice, the last counts', async (t) => {
  const { status, body } = await send('POST', '/api/invoicing/validate', { body: withField('"metadata":{"a":"1"},"metadata":{"a":"2"}') })
  t.equal(status, 200)
  t.same(body.metadata, { a: '2' })
})

await t.test('a fault of the parser is told without quoting the body', async (t) => {
  for (const text of ['{"username":"ada","password":"s3cret" x}', '{"password":s3cret}', '"s3cret', '{"password":"s3cret\n"}']) {
    const answer = await send('POST', '/auth', { body: text }, null)
    isError(t, answer, 'validation_error', text)
    lacks(t, JSON.stringify(answer.body), 's3cret')
  }
})

const uuid = '01960000-0000-7000-8000-000000000001'

const queries: Record<string, Record<string, string[]>> = {
  '/api/v1/dispatches': {
    refused: [
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=1.5',
      'limit=',
      'limit=NaN',
      'limit=Infinity',
      'limit=1&limit=2',
      'limit=%D9%A3',
      'limit=99999999999999999999',
      'cursor=',
      'cursor=x',
      `cursor=urn:uuid:${uuid}`,
      `cursor={${uuid}}`,
      `cursor=${uuid.replaceAll('-', '')}`,
      'from=',
      'from=275760-09-13',
      'from=-271821-04-20',
      'from=10000-01-01',
      'from=2026-02-30',
      'from=2016-12-31T23:59:60Z',
      'from=2026-03-14T09:30:00%2B05',
      'from=yesterday',
      'to=2026-03-14T24:00:00Z',
      'to=1e9',
      'status=Succeeded',
      'invoiceNumber=%00',
      'recipient=a%00b',
      'service=%00',
      `recipient=${'x'.repeat(201)}`,
      'recipient=a&recipient=b',
      'metadata=1',
      'metadata[a]=%00',
      'metadata[%00]=1',
      'metadata[]=1',
      'metadata[a][b]=1',
      'metadata[a]=1&metadata[a]=2',
      'metadata[__proto__]=1',
      `metadata[a]=${'x'.repeat(501)}`,
      Array.from({ length: 21 }, (_, index) => `metadata[k${String(index)}]=1`).join('&'),
      '__proto__=1',
      '__proto__[limit]=1',
      'constructor=1',
      'constructor[prototype]=1',
      'toString=1',
      'invoiceNumer=1',
      '%',
      '=',
      '%00=1'
    ],
    answered: [
      '',
      '&&',
      'limit=100',
      'from=0000-01-01',
      'from=0001-01-01',
      'to=9999-12-31',
      'recipient=%FF%FE',
      'recipient=%ED%A0%80',
      'service=x',
      `cursor=${uuid.toUpperCase()}`,
      'metadata[a]=\'%3B--',
      'metadata[a]=%22%7D',
      'recipient=%25',
      'recipient=\\'
    ]
  },
  '/api/v1/templates': {
    refused: ['cursor=-1', 'cursor=1e3', 'cursor=9999999999999999999', 'service=%00', 'documentType=%00', 'page=2'],
    answered: ['cursor=0', 'cursor=2147483648', 'cursor=99999999999', 'cursor=999999999999999999', 'service=x']
  },
  '/api/v1/credits': {
    refused: ['cursor=-1', 'cursor=9223372036854775808', 'limit=101', 'from=2026-03-14'],
    answered: ['cursor=0', 'cursor=999999999999999999']
  },
  [`/api/v1/dispatches/${uuid}/events`]: { refused: ['cursor=x', 'limit=0', 'status=1'], answered: [] }
}

await t.test('a query that does not fit is refused, whatever is in it', async (t) => {
  for (const [path, { refused = [], answered = [] }] of Object.entries(queries)) {
    for (const query of refused) isError(t, await send('GET', `${path}?${query}`), 'validation_error', `${path}?${query.slice(0, 60)}`)
    for (const query of answered) t.equal((await send('GET', `${path}?${query}`)).status, 200, `${path}?${query}`)
  }
})

const names = [
  '0',
  '-1',
  '01',
  '1.0',
  '1e0',
  '2147483648',
  '99999999999999999999',
  '%D9%A1',
  '1%20',
  '%00',
  '1%00',
  '%2e%2e%2f',
  '..%5c',
  '%25',
  '%C0%AF',
  '%ff',
  '%',
  '%zz',
  '\'',
  '*',
  'null',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  `urn:uuid:${uuid}`,
  `{${uuid}}`,
  uuid.replaceAll('-', ''),
  `${uuid}%00`,
  'a'.repeat(101),
  'a'.repeat(10_000)
]

await t.test('nothing has a name that no thing can have', async (t) => {
  const before = await traces(app)
  for (const name of names) {
    for (const [method, path, word, body] of [
      ['GET', `/api/v1/templates/${name}`, 'template_not_found'],
      ['GET', `/api/v1/dispatches/${name}`, 'not_found'],
      ['GET', `/api/v1/dispatches/${name}/events`, 'not_found'],
      ['GET', `/api/v1/documents/${name}`, 'not_found'],
      ['GET', `/d/${name}`, 'not_found'],
      ['PUT', `/api/v1/my/config/${name}`, 'unknown_service', { providerName: null }],
      ['PUT', `/api/v1/my/providers/${name}`, 'not_found', { settings: {} }],
      ['DELETE', `/api/v1/my/providers/${name}`, 'not_found'],
      ['PUT', `/api/v1/company/defaults/${name}`, 'unknown_service', { providerName: null }],
      ['PUT', `/api/v1/company/providers/${name}`, 'not_found', { settings: {} }],
      ['DELETE', `/api/v1/company/providers/${name}`, 'not_found']
    ] as const) {
      const answer = await send(method, path, body === undefined ? {} : { body })
      // What cannot even be decoded, or is too long for any name, is nothing at all.
      isError(t, answer, name.length > 100 || /%(?:$|zz|ff|C0)/.test(name) ? 'not_found' : word, `${method} ${path.slice(0, 60)}`)
    }
  }
  t.same(await traces(app), before)
})

await t.test('files beside the pages are not served', async (t) => {
  for (const path of ['%2e%2e/%2e%2e/package.json', '..%2f..%2fpackage.json', '..%5c..%5cpackage.json', '%00', 'index.html%00.png', '.env',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd'])
  {
    isError(t, await send('GET', `/docs/static/${path}`), 'not_found', path)
  }
})

await t.test('a header that does not fit is refused, or replaced where that harms nobody', async (t) => {
  for (const key of ['', 'k'.repeat(256)]) {
    isError(t, await send('POST', '/api/invoicing', { body: invoiceRequest(), headers: { 'x-idempotency-key': key } }), 'validation_error',
      `a key of ${String(key.length)} characters`)
  }
  for (const version of ['2', '1.0', '1.0.0, 1.0.1', '__proto__', 'x'.repeat(5000)]) {
    isError(t, await send('GET', '/healthz', { headers: { 'x-api-version': version } }), 'unsupported_version', version.slice(0, 20))
  }
  for (const id of ['x'.repeat(129), 'a b', 'é', '"', '<script>', '']) {
    contains(t, (await send('GET', '/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id'), /^[0-9a-f-]{36}$/,
      id.slice(0, 20))
  }
  t.equal((await send('GET', '/healthz', { headers: { 'x-request-id': 'client:A-1/7' } })).headers.get('x-request-id'), 'client:A-1/7')
})

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
