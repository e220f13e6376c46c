import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import t from 'tap'
import { has } from '../../support/matching.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t)
const basic = `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}`

/** Sends bytes as they are: `fetch` would add headers of its own. */
function raw (method: string, path: string, bytes: string | Buffer, headers: Record<string, string> = {}): Promise<any> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(service.url + path, { method, headers: { authorization: basic, ...headers } }, (answer) => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece)).on('end', () => {
        resolve({ status: answer.statusCode, headers: answer.headers, body: JSON.parse(Buffer.concat(pieces).toString() || 'null') })
      })
    }).on('error', reject)
    request.end(bytes)
  })
}

const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ sms: { phoneNumber: '+33612345678', message: 'Hi' } })
const validate = (bytes: string | Buffer, headers: Record<string, string> = {}): Promise<any> =>
  raw('POST', '/api/sms/validate', bytes, { ...json, ...headers })

await t.test('a byte order mark before the JSON is skipped; one alone is no JSON', async (t) => {
  has(t, await validate(`\ufeff${body}`), { status: 200 })
  has(t, await validate('\ufeff'), { status: 400 })
  has(t, await validate(`\ufeff\ufeff${body}`), { status: 400, body: { details: [{ code: 'unreadable' }] } })
})

await t.test('a compressed body is read, within the limit of a body', async (t) => {
  for (const [coding, compress] of [['gzip', gzipSync], ['deflate', deflateSync], ['br', brotliCompressSync], ['zstd', zstdCompressSync], [
    'GZIP',
    gzipSync
  ]] as const) has(t, await validate(compress(body), { 'content-encoding': coding }), { status: 200 }, coding)
  has(t, await validate(deflateRawSync(body), { 'content-encoding': 'deflate' }), { status: 200 }, 'without the format of zlib')
  has(t, await validate(body, { 'content-encoding': 'identity' }), { status: 200 })
  has(t, await validate(gzipSync(`${' '.repeat(6 * 1024 * 1024)}${body}`), { 'content-encoding': 'gzip' }), {
    status: 413,
    body: { error: 'payload_too_large', message: /5120 KiB once it is decoded/ }
  })
})

await t.test('a body that is not what its encoding says is refused; an unknown encoding too, with those that are known', async (t) => {
  has(t, await validate(body, { 'content-encoding': 'gzip' }), {
    status: 400,
    body: { details: [{ code: 'unreadable', message: /no gzip/ }] }
  })
  has(t, await validate(gzipSync(body).subarray(0, 20), { 'content-encoding': 'gzip' }), { status: 400 })
  for (const coding of ['compress', 'gzip, gzip', 'constructor']) {
    has(t, await validate(body, { 'content-encoding': coding }), {
      status: 415,
      headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
      body: { error: 'unsupported_media_type', message: /gzip, deflate, br, zstd/ }
    }, coding)
  }
})

await t.test('null for what may be left out is absence, in the request and in the data of a template', async (t) => {
  const sms = { phoneNumber: '+33612345678', message: 'Hi', sender: null }
  has(t, await service.send('POST', '/api/sms', { body: { sms, metadata: null, template: null, providerName: null } }), { status: 200 })
  const sample = JSON.parse(await readFile(new URL('../../../templates/invoice/sample.json', import.meta.url), 'utf8'))
  const data = { ...sample, number: 'N-1', notes: null, customer: { ...sample.customer, vatId: null, email: null } }
  const sent = await service.send('POST', '/api/invoicing', { body: { documentType: 'INVOICE', template: { id: 1, data } } })
  has(t, sent, { status: 200 })
  const { body: { data: outbox } } = await service.send('GET', '/api/v1/simulator/outbox')
  t.notOk('notes' in outbox[0].data, 'a provider gets the data without it')
  t.notOk('email' in outbox[0].data.customer)
})

await t.test('null is absence for what only other requests have, at the top and in the object of a service', async (t) => {
  const others = ['invoicing', 'esign', 'email', 'postal', 'file', 'documentType', 'sendByEmail', 'signers', 'fileContent', 'deferred',
    'from']
  const unset = Object.fromEntries(others.map((name) => [name, null]))
  const sms = { phoneNumber: '+33612345678', message: 'Hi', template: null, providerName: null, settings: null }
  for (const path of ['/api/sms/validate', '/api/sms']) {
    has(t, await service.send('POST', path, { body: { ...unset, sms } }), { status: 200 }, path)
  }
  const { body: { details } } = await service.send('POST', '/api/sms', { body: { invoice: null, sms: { ...sms, text: null } } })
  t.same(details.map(({ path, code }: { path: string, code: string }) => `${path} ${code}`).sort(), [
    '/invoice unknown_field',
    '/sms/text unknown_field'
  ], 'a name that no request has stays a mistake')
})

await t.test('null is absence in the settings of a provider, and in those of a request', async (t) => {
  const configure = (settings: object): Promise<any> =>
    service.send('PUT', '/api/v1/company/providers/stripe', { body: { settings, sandbox: null } })
  const taxRates = [{ percent: 20, id: 'txr_20' }]
  has(t, await configure({ secretKey: 'sk_live_0123456789', webhookSecret: 'whsec_0123456789', taxRates, timezone: null }), {
    status: 200,
    body: { settings: { webhookSecret: { set: true }, timezone: undefined } }
  })
  has(t, await configure({ webhookSecret: null, taxRates }), {
    status: 200,
    body: { settings: { secretKey: { set: true }, webhookSecret: undefined } }
  }, 'of a secret it is its end')
  has(t, await configure({ secretKey: null, taxRates }), {
    status: 422,
    body: { details: [{ path: '/settings/secretKey', code: 'required' }] }
  })
  const sample = JSON.parse(await readFile(new URL('../../../templates/invoice/sample.json', import.meta.url), 'utf8'))
  const settings = { includePaymentCollectionLink: null, paymentCollectionLabel: null }
  has(t, await service.send('POST', '/api/invoicing/validate', {
    body: { documentType: 'INVOICE', providerName: 'stripe', settings, template: { id: 1, data: { ...sample, dueDate: '2099-01-01' } } }
  }), { status: 200 })
})

await t.test('who may send is an address or a domain, from which mails can come', async (t) => {
  const save = (sender: string): Promise<any> =>
    service.send('PUT', '/api/v1/company/providers/smtp', {
      body: { settings: { host: 'mail.example.com', user: 'me', password: 'secret', allowedSenders: [sender] } }
    })
  for (const sender of ['@example.com', ' Ada@Example.com\n', '@bücher.example', '"a..b"@docomo.ne.jp', '@xn--bcher-kva.example',
    'a+b@mail.example.com'])
  {
    has(t, await save(sender), { status: 200 }, sender)
  }
  for (const sender of ['example.com', '*@example.com', '@*.example.com', '@', 'ada@', '@localhost', 'mailto:ada@example.com',
    '<ada@example.com>', 'Ada <ada@example.com>', 'a..b@example.com', 'ada@[192.0.2.1]', '@192.0.2.1', '@my_shop.example', '@example.com.',
    'ada@a@example.com', '@@example.com'])
  {
    has(t, await save(sender), {
      status: 422,
      body: { details: [{ path: '/settings/allowedSenders/0', code: 'format', message: /@example\.com for everybody there/ }] }
    }, sender)
  }
})

await t.test('a wrong field has one problem', async (t) => {
  const { body: { details } } = await service.send('POST', '/api/email', {
    body: { from: 7, to: [], subject: '', body: null, metadata: 'x' }
  })
  const paths = details.map(({ path }: { path: string }) => path)
  t.equal(new Set(paths).size, paths.length, paths.join(' '))
  const sample = JSON.parse(await readFile(new URL('../../../templates/invoice/sample.json', import.meta.url), 'utf8'))
  const wrong = { documentType: 'INVOICE', template: { id: 1, data: { ...sample, currency: 'eur' } } }
  const { body: { details: found } } = await service.send('POST', '/api/invoicing/validate', { body: wrong })
  t.same(found.map(({ path }: { path: string }) => path), ['/template/data/currency'], 'a schema and a rule refuse it')
})

await t.test('a plus in a query is a plus where there can be no space', async (t) => {
  const phoneNumber = '+33698765432'
  await service.send('POST', '/api/sms', { body: { sms: { phoneNumber, message: 'Hi' } } })
  await service.send('POST', '/api/email', { body: { from: 'demo@example.com', to: 'ada+news@example.com', subject: 's', body: 'b' } })
  for (const query of [`recipient=${phoneNumber}`, 'recipient=ada+news@example.com', `recipient=%2B33698765432`,
    `recipient=${phoneNumber}&from=2020-01-01T00:00:00+01:00`])
  {
    const { status, body: { data } } = await raw('GET', `/api/v1/dispatches?${query}`, '')
    has(t, { status, count: data.length }, { status: 200, count: 1 }, query)
  }
  has(t, await raw('GET', '/api/v1/dispatches?search=ada+lovelace', ''), { status: 200 })
})

await t.test('a POST without a body may name any type; one with a body must be JSON', async (t) => {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/json',
    'nothing'])
  {
    has(t, await raw('POST', '/api/v1/company/callback-secret', '', { 'content-type': type, 'content-length': '0' }), { status: 200 }, type)
  }
  for (const more of [{}, { 'content-type': 'text/plain' }, { 'content-type': 'application/json' }] as Record<string, string>[]) {
    has(t, await raw('POST', '/api/v1/company/callback-secret', '', { 'transfer-encoding': 'chunked', ...more }), { status: 200 },
      'its end alone says that it is empty')
    has(t, await raw('POST', '/api/sms', 'Hi', { 'transfer-encoding': 'chunked', ...more }), {
      status: more['content-type'] === json['content-type'] ? 400 : 415
    })
  }
  for (const type of ['text/plain', 'nothing']) has(t, await raw('POST', '/api/sms', body, { 'content-type': type }), { status: 415 }, type)
})

/** A form as its bytes: a list of parts, each with its header lines and its content. */
function upload (parts: readonly (readonly [headers: readonly string[], content: string])[]): Promise<any> {
  const boundary = 'x1y2z3'
  const bytes = parts.map(([headers, content]) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`).join('')
  return raw('POST', '/api/upload', `${bytes}--${boundary}--\r\n`, { 'content-type': `multipart/form-data; boundary=${boundary}` })
}

const file = (name: string): readonly [readonly string[], string] => [
  [`Content-Disposition: form-data; name="file"; ${name}`, 'Content-Type: application/pdf'],
  '%PDF-1.4\n'
]

await t.test('the name of a file is read as .NET, PowerShell and browsers write it', async (t) => {
  for (const [name, expected] of [
    // Its two names differ: the second one counts.
    [
      'filename="=?utf-8?B?5paw5bu65paH5pys5paH5qGjLnR4dA==?="; filename*=utf-8\'\'%E6%96%B0%E5%BB%BA%E6%96%87%E6%9C%AC%E6%96%87.txt',
      '新建文本文.txt'
    ],
    ['filename="Kuendigung.pdf"; filename*=UTF-8\'\'K%C3%BCndigung.pdf', 'Kündigung.pdf'],
    ['filename*=UTF-8\'de\'K%C3%BCndigung.pdf; filename="Kuendigung.pdf"', 'Kündigung.pdf'],
    ['filename=Kuendigung.pdf; FileName*=iso-8859-1\'\'K%FCndigung.pdf', 'Kündigung.pdf'],
    ['filename="a; filename*=b.pdf"', 'a; filename-=b.pdf'],
    ['filename="plain.pdf"; filename*=UTF-8\'\'%FF.pdf', 'plain.pdf'],
    ['filename="=?utf-8?Q?K=C3=BCndigung.pdf?="', 'Kündigung.pdf'],
    ['filename="=?iso-8859-1?Q?K=FCndigung?= =?utf-8?Q?_2.pdf?="', 'Kündigung 2.pdf'],
    ['filename*=UTF-8\'\'K%C3%BCndigung.pdf', 'Kündigung.pdf'],
    ['filename="Kündigung.pdf"', 'Kündigung.pdf'],
    ['filename="=?utf-8?B?w7/Dv8O/LnBkZg==?="', 'ÿÿÿ.pdf'],
    ['filename="C:\\scans\\a.pdf"', 'a.pdf'],
    ['filename="C:\\\\scans\\\\a.pdf"', 'a.pdf'],
    ['filename="../../etc/a.pdf"', 'a.pdf'],
    ['filename="a%22b.pdf"', 'a-b.pdf'],
    ['filename*=windows-1252\'\'%80.pdf', 'file.pdf'],
    ['filename="a\\"b.pdf"', 'a-b.pdf'],
    ['filename="=?utf-8?Q?=FF?=.pdf"', '=-utf-8-Q-=FF-=.pdf']
  ] as const) has(t, await upload([file(name)]), { status: 200, body: { generatedDocument: { filename: expected } } }, name)
})

await t.test('a form is not compressed: it is read while it comes', async (t) => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x1y2z3', 'content-encoding': 'gzip' }
  has(t, await raw('POST', '/api/upload', gzipSync('--x1y2z3--'), headers), { status: 415, headers: { 'accept-encoding': 'identity' } })
})

await t.test('a text of a form has the characters that its part says', async (t) => {
  const metadata = (charset: string): readonly [readonly string[], string] => [
    ['Content-Disposition: form-data; name="metadata"', `Content-Type: text/plain; charset=${charset}`],
    '{"city":"K\u00f6ln"}'
  ]
  has(t, await upload([file('filename="a.pdf"'), metadata('UTF-8')]), { status: 200, body: { metadata: { city: 'Köln' } } })
  has(t, await upload([metadata('"utf-16le"'), file('filename="a.pdf"')]), { status: 400, body: { details: [{ path: '/metadata' }] } })
  has(t, await upload([metadata('klingon'), file('filename="a.pdf"')]), {
    status: 400,
    body: { details: [{ path: '/metadata', code: 'charset', message: /UTF-8/ }] }
  })
})

await t.test('a file is not named like a device of Windows', async (t) => {
  for (const [name, expected] of [['CON.pdf', 'CON-.pdf'], ['nul.txt', 'nul-.txt'], ['COM1.pdf', 'COM1-.pdf'], ['aux.tar.pdf',
    'aux-.tar.pdf'], ['Contract.pdf', 'Contract.pdf'], ['COM10.pdf', 'COM10.pdf']] as const)
  {
    has(t, await upload([file(`filename="${name}"`)]), { status: 200, body: { generatedDocument: { filename: expected } } }, name)
  }
})

await t.test('the metadata of an upload may be a part with a type, and with a file name', async (t) => {
  for (const name of ['name="metadata"; filename="blob"', 'name="metadata"']) {
    const metadata = [[`Content-Disposition: form-data; ${name}`, 'Content-Type: application/json'], '{"a":"b"}'] as const
    has(t, await upload([file('filename="a.pdf"'), metadata]), { status: 200, body: { metadata: { a: 'b' } } }, name)
  }
  const big = [['Content-Disposition: form-data; name="metadata"; filename="blob"', 'Content-Type: application/json'],
    JSON.stringify({ a: 'b'.repeat(70_000) })] as const
  has(t, await upload([file('filename="a.pdf"'), big]), { status: 413 })
})
