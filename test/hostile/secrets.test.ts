import { createCompanies, hashPassword } from '@dispatch/accounts'
import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import { sql } from 'kysely'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { type Handler, testProviders } from '../plugins/support/providers.ts'
import { contains, has } from '../support/matching.ts'
import { type Answer, invoiceRequest, type Sending, startService } from '../support/service.ts'
import { dump } from './support.ts'

/** What must stay where it was put. */
const secret = 'canary+secret/4711'
const canaries = {
  password: 'canary-password',
  token: 'canary-token',
  data: 'canary-data',
  metadata: 'canary-metadata',
  query: 'canary-query',
  short: 'k4n4r1'
}
const basic = Buffer.from(`user:${secret}`).toString('base64')

const providers = await testProviders(t)
const service = await startService(t, { config: { providerDirectories: providers.directories, logLevel: 'trace' } })
const company = await service.company('canary')
const { app, log } = service

/** The ways in which a vendor's code gives away what it was given, by name. */
const leaks: Record<string, (token: string) => unknown> = {
  'throws an error': (token) => {
    throw new Error(`401 for ${token}`)
  },
  'throws an error with a cause': (token) => {
    throw new Error('failed', { cause: new Error(`401 for ${token}`) })
  },
  'throws an error with fields': (token) => {
    throw Object.assign(new TypeError('failed'), { request: { headers: { authorization: `Bearer ${token}` } }, code: token })
  },
  'throws several errors': (token) => {
    throw new AggregateError([new Error(token)], token)
  },
  'throws a text': (token) => rejection(token),
  'throws an object': (token) => rejection({ name: token, message: token, stack: token, [token]: token }),
  'throws an error with a secret name': (token) => {
    throw Object.assign(new Error('failed'), { name: token })
  },
  'refuses': (token) => {
    throw refused(token, `The key ${token} is not good.`)
  },
  'is unavailable': (token) => {
    throw unavailable(`No answer to Basic ${Buffer.from(`user:${token}`).toString('base64')}.`)
  },
  'does not know': (token) => {
    throw outcomeUnknown(`GET /?key=${encodeURIComponent(token)} was cut off`)
  },
  'answers with it': (token) => ({
    id: '1',
    status: token,
    url: `https://vendor.example/?key=${encodeURIComponent(token)}`,
    echo: { headers: [`Bearer ${token}`], [token]: 1 }
  }),
  'answers with nonsense': (token) => ({ [token]: token }),
  'answers with what is no JSON': (token) => ({ id: '1', status: 'sent', at: new Date(), token: () => token })
}

/** Plain JavaScript throws anything. */
function rejection (reason: unknown): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  reject(reason)
  return promise
}

const handler: Handler = async ({ invoicing }, { settings, log }) => {
  const token = settings['token'] as string
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    log[level]({
      token,
      nested: { list: [token, { url: `https://user:${encodeURIComponent(token)}@vendor.example` }] },
      err: new Error(token, { cause: token })
    }, `Calling with ${token}.`)
  }
  return Promise.resolve(leaks[invoicing.reference ?? '']?.(token))
}
await providers.add('vendor', {
  settings: '{ token: Secret(), region: Type.Optional(Type.String()) }',
  requestSettings: '{ label: Type.Optional(Type.String()) }'
}, handler)
const backwards = (text: string): string => Array.from(text).toReversed().join('')

/** What a provider remembers of its calls: where it runs in this process, its check may tell it. */
let remembered = ''
const objections: Record<string, () => unknown> = {
  objects: () => [{ at: `/data/${remembered}`, code: remembered, message: `Not with ${remembered}.` }],
  refuses: () => {
    throw refused(remembered, `Not with Basic ${Buffer.from(`user:${remembered}`).toString('base64')}.`)
  },
  'is away': () => {
    throw unavailable(`No answer for ${backwards(remembered)}, ${remembered}.`)
  },
  breaks: () => {
    throw new Error(`401 for ${remembered}`, { cause: new Error(remembered) })
  }
}
await providers.add('objector', { settings: '{ token: Secret() }' }, (_request, { settings, reference }) => {
  remembered = settings['token'] as string
  return Promise.resolve({ id: reference, status: 'sent' })
}, { check: (asked) => (objections[asked.invoicing.reference ?? ''] ?? (() => []))() as Promise<unknown> })
await service.send('POST', '/api/v1/providers/reload', {}, { email: 'operator@example.com', password: 'operator-password' })

const put = (scope: string, body: unknown): Promise<Answer> => service.send('PUT', `/api/v1/${scope}`, { body }, company.admin)

/** Neither the text, nor what it looks like inside a URL or a Basic header. */
function lacks (t: Test, where: unknown, text: string, what: string): void {
  const all = typeof where === 'string' ? where : JSON.stringify(where)
  for (const form of [text, encodeURIComponent(text), basic.slice(8, -4)]) t.notOk(all.includes(form), what)
}

const shown = ({ headers, body }: Answer): string => JSON.stringify([[...headers], body])

await t.test('a secret that is stored never comes back', async (t) => {
  for (const scope of ['company', 'my']) {
    const stored = await put(`${scope}/providers/vendor`, { settings: { token: secret, region: 'eu' } })
    t.strictSame([stored.status, stored.body.settings], [
      200,
      { region: 'eu', token: { set: true, updatedAt: stored.body.settings.token.updatedAt } }
    ], 'not even sealed')
    contains(t, stored.body.settings.token.updatedAt, /^\d{4}-.*Z$/)
    lacks(t, shown(stored), secret, `${scope}: when it is stored`)
    lacks(t, shown(await put(`${scope}/providers/vendor`, { settings: { region: 7 } })), secret, `${scope}: when what is given is wrong`)
    lacks(t, shown(await put(`${scope}/providers/vendor`, { settings: { token: { value: secret } } })), secret,
      `${scope}: when it is itself wrong`)
  }
  for (const path of ['/api/v1/my/config', '/api/v1/providers']) {
    lacks(t, shown(await service.send('GET', path, {}, company.admin)), secret, path)
  }
})

await t.test('a vendor\'s code cannot give a secret away by what it throws, answers or logs', async (t) => {
  for (const reference of Object.keys(leaks)) {
    const answer = await service.send('POST', '/api/invoicing', {
      body: invoiceRequest({}, { providerName: 'vendor', invoicing: { reference } })
    }, company.admin)
    t.not(answer.status, 500, reference)
    lacks(t, shown(answer), secret, reference)
    const id = String(answer.body.dispatchId)
    for (const path of ['', '/events']) {
      lacks(t, shown(await service.send('GET', `/api/v1/dispatches/${id}${path}`, {}, company.admin)), secret, `${reference}${path}`)
    }
  }
  lacks(t, log.join(''), secret, 'the log')
})

await t.test('nor by what it objects to before anything is made', async (t) => {
  await put('company/providers/objector', { settings: { token: secret } })
  const asking = (reference?: string): Promise<Answer> =>
    service.send('POST', '/api/invoicing', {
      body: invoiceRequest({}, { providerName: 'objector', ...reference === undefined ? {} : { invoicing: { reference } } })
    }, company.admin)
  t.equal((await asking()).status, 200)
  t.equal(remembered, secret)
  for (const [reference, status] of [['objects', 422], ['refuses', 422], ['is away', 503], ['breaks', 500]] as const) {
    const answer = await asking(reference)
    t.equal(answer.status, status, reference)
    lacks(t, shown(answer), secret, reference)
    t.notOk(shown(answer).includes(backwards(secret)), reference)
  }
  lacks(t, log.join(''), secret, 'the log')
})

await t.test('what a vendor\'s code threw is logged all the same', (t) => {
  const failures = log.map((line) => JSON.parse(line) as { msg: string, err?: { message?: string, cause?: { message?: string } } }).filter(
    ({ msg }) => msg === 'provider failed unexpectedly'
  )
  t.ok(failures.some(({ err }) => err?.message === '401 for [redacted]'))
  t.ok(failures.some(({ err }) => err?.cause?.message === '401 for [redacted]'))
  t.end()
})

await t.test('the database holds no secret and no password in the clear', async (t) => {
  const rows = JSON.stringify(await dump(app))
  contains(t, rows, '"region\\": \\"eu\\"', 'what is no secret is there')
  for (const hidden of [secret, 'demo-password', 'operator-password']) lacks(t, rows, hidden, hidden)
})

/** Requests that carry canaries, and come to nothing in different ways. */
const failing: Record<string, [string, string, Sending]> = {
  'a login': ['POST', '/auth', { body: { username: 'demo@example.com', password: canaries.password } }],
  'a login with a field too many': [
    'POST',
    '/auth',
    { body: { username: 'demo@example.com', password: canaries.password, otp: canaries.token } }
  ],
  'a login of the wrong type': ['POST', '/auth', { body: { username: 'demo@example.com', password: [canaries.password] } }],
  'a login that is no JSON': ['POST', '/auth', { body: `{"password": "${canaries.password}", x}` }],
  'a login that a parser would quote': ['POST', '/auth', { body: `{"password":${canaries.short}}` }],
  'a login cut short': ['POST', '/auth', { body: `{"password": ${canaries.password}` }],
  'Basic': [
    'GET',
    '/healthz',
    { headers: { authorization: `Basic ${Buffer.from(`demo@example.com:${canaries.password}`).toString('base64')}` } }
  ],
  'Basic that is none': ['GET', '/healthz', { headers: { authorization: `Basic ${canaries.password}` } }],
  'Bearer': ['GET', '/healthz', { headers: { authorization: `Bearer ${canaries.token}` } }],
  'a refresh': ['GET', '/auth/refresh', { headers: { authorization: `Bearer ${canaries.token}` } }],
  'a cookie': ['GET', '/nowhere', { headers: { cookie: canaries.token, 'x-api-key': canaries.token } }],
  'a query': ['GET', `/api/v1/dispatches?recipient=${canaries.query}`, {}],
  'a wrong query': ['GET', `/api/v1/dispatches?status=${canaries.query}&limit=${canaries.query}`, {}],
  'a link': ['GET', `/d/${canaries.token}`, {}],
  'wrong data': [
    'POST',
    '/api/invoicing',
    {
      body: invoiceRequest({
        date: canaries.data,
        currency: canaries.data,
        customer: { name: 'Ada', email: canaries.data, country: canaries.data, postalCode: canaries.data },
        total: canaries.data,
        notes: [canaries.data]
      })
    }
  ],
  'wrong fields': [
    'POST',
    '/api/invoicing',
    {
      body: invoiceRequest({}, {
        documentType: canaries.data,
        sendByEmail: canaries.data,
        callbackUrl: canaries.data,
        invoicing: { dueDate: canaries.data },
        metadata: { a: [canaries.metadata] },
        settings: canaries.data
      })
    }
  ],
  'settings of a request that do not fit': [
    'POST',
    '/api/invoicing',
    { body: invoiceRequest({}, { providerName: 'vendor', settings: { label: [canaries.data] } }) }
  ],
  'data that cannot be shown': [
    'POST',
    '/api/invoicing',
    {
      body: invoiceRequest({ notes: `${canaries.data} \uE000`, customer: { name: canaries.data } }, { metadata: { a: canaries.metadata } })
    }
  ],
  'a body that is too large': ['POST', '/api/invoicing', { body: { notes: canaries.data.repeat(500_000) } }],
  'a body of another type': ['POST', '/api/invoicing', { body: canaries.data, headers: { 'content-type': 'text/plain' } }],
  'a vendor that fails': [
    'POST',
    '/api/invoicing',
    {
      body: invoiceRequest({ notes: canaries.data }, {
        providerName: 'vendor',
        invoicing: { reference: 'throws an error' },
        metadata: { a: canaries.metadata },
        settings: { label: canaries.data }
      })
    }
  ]
}

await t.test('an error never repeats what was sent as a password, a token, data or metadata', async (t) => {
  for (const [name, [method, path, sending]] of Object.entries(failing)) {
    const answer = await service.send(method, path, sending, sending.headers?.['authorization'] === undefined ? company.admin : null)
    for (const canary of Object.values(canaries)) if (path !== `/d/${canary}`) lacks(t, shown(answer), canary, `${name}: ${canary}`)
  }
})

await t.test('metadata comes back where it is meant to, and data only where they are what is asked for', async (t) => {
  const answer = await service.send('POST', '/api/invoicing', {
    body: invoiceRequest({ notes: canaries.data }, { metadata: { note: canaries.metadata } })
  }, company.admin)
  t.same(answer.body.metadata, { note: canaries.metadata })
  for (const path of ['', '/events']) {
    lacks(t, shown(await service.send('GET', `/api/v1/dispatches/${String(answer.body.dispatchId)}${path}`, {}, company.admin)),
      canaries.data, path)
  }
})

/** What the service itself gave out or was given, and took: by name. */
const used: Record<string, string> = {}

await t.test('passwords, tokens and secrets that are good are used, and stay where they were put', async (t) => {
  const login = { email: 'ada@canaries.example', password: 'canary-of-a-good-password' }
  await createCompanies(app.get('database'), [{
    name: 'Canaries',
    credits: 5,
    users: [{ email: login.email, role: 'admin', services: ['*'], passwordHash: await hashPassword(login.password) }],
    defaultProvider: { code: 'simulator', services: ['invoicing'] }
  }], new Date())
  const { body: { data } } = await service.send('POST', '/auth', { body: { username: login.email, password: login.password } }, null)
  const bearer = { authorization: `Bearer ${String(data.token)}` }
  const refreshed = await service.send('GET', '/auth/refresh', { headers: bearer }, null)
  const rotated = await service.send('POST', '/api/v1/company/callback-secret', {}, login)
  has(t, [refreshed.status, rotated.status], [200, 200])
  has(t, await service.send('POST', '/api/invoicing', { body: invoiceRequest(), headers: bearer }, null), { status: 200 })
  has(t, await service.send('POST', '/api/invoicing', { body: invoiceRequest() }, login), { status: 200 })
  has(t, await service.send('PUT', '/api/v1/my/providers/vendor', { body: { settings: { token: 'canary-of-a-good-setting' } } }, login), {
    status: 200
  })
  const event = {
    body: { id: '1' },
    headers: {
      authorization: `Basic ${Buffer.from('vendor:canary-of-a-vendor').toString('base64')}`,
      'x-jws-signature': 'canary-of-a-signature'
    }
  }
  for (const path of ['esign/providers/simulator', 'postal/providers/simulator', 'esign/providers/canary-of-a-vendor']) {
    await service.send('POST', `/api/webhooks/${path}/endpoint.json?account=canary-of-a-vendor`, event, null)
  }
  Object.assign(used, {
    'a password': login.password,
    'the credentials of Basic': Buffer.from(`${login.email}:${login.password}`).toString('base64').slice(0, -4),
    'a token': String(data.token),
    'the signature of a token': String(data.token).split('.')[2],
    'a refreshed token': String(refreshed.body.data.token),
    'a callback secret': String(rotated.body.secret).slice('whsec_'.length),
    'a setting': 'canary-of-a-good-setting',
    'a vendor\'s password': 'canary-of-a-vendor',
    'a vendor\'s signature': 'canary-of-a-signature',
    'the master key': app.get('config').masterKey
  })
})

await t.test('no table of any schema, no file below the data directory and no line of the log has them in the clear', async (t) => {
  const tables = await everyTable()
  t.ok(tables.some((text) => text.includes('canary-metadata')), 'what is no secret is there')
  const files = await everyFile()
  for (const [name, hidden] of Object.entries(used)) {
    const forms = [
      hidden,
      Buffer.from(hidden).toString('hex'),
      Buffer.from(hidden).toString('base64').replace(/.{4}$/, ''),
      Buffer.from(hidden, 'base64').toString('hex')
    ]
    for (const form of forms.filter(({ length }) => length > 8)) {
      t.notOk(tables.some((text) => text.includes(form)), `${name}: the database`)
      t.notOk(files.some((text) => text.includes(form)), `${name}: the files`)
      t.notOk(log.join('').includes(form), `${name}: the log`)
    }
  }
})

/** Every table, those of the queue too, as `COPY … TO STDOUT` has them: bytes in hexadecimal, JSON as it stands. */
async function everyTable (): Promise<string[]> {
  const { owner } = app.get('database')
  const { rows } = await sql<
    { schema: string, name: string }
  >`select schemaname as schema, tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`.execute(
    owner
  )
  return Promise.all(rows.map(async ({ schema, name }) => {
    const { rows } = await sql<{ text: string }>`select string_agg(rows::text, chr(10)) as text
      from ${sql.table(`${schema}.${name}`)} as rows`.execute(owner)
    return rows[0]?.text ?? ''
  }))
}

async function everyFile (): Promise<string[]> {
  const folder = app.get('config').dataDirectory
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')))
}

await t.test('of what stands beside the words of an error, and of headers, the log has nothing', (t) => {
  const lines: string[] = []
  const log = createLogger('trace', {
    write: (line) => {
      lines.push(line)
    }
  })
  const fields = { detail: `Key (token)=(${secret})`, parameters: [secret], request: { headers: { authorization: secret } } }
  log.error({ err: Object.assign(new Error('outer', { cause: Object.assign(new Error('inner'), fields) }), fields) }, 'failed')
  log.info({
    req: { method: 'GET', url: `/?key=${secret}`, headers: { cookie: secret } },
    res: { statusCode: 200, headers: { 'set-cookie': secret } }
  }, 'answered')
  log.info({ deep: [{ authorization: secret, password: `"${secret}`, token: secret }] }, 'the backstop')
  for (const word of ['outer', 'inner', 'answered', 'the backstop']) t.ok(lines.join('').includes(word), word)
  lacks(t, lines.join(''), secret, 'the log')
  t.end()
})

await t.test('no line of the log has any of it, at any level', (t) => {
  const lines = log.join('')
  t.ok(log.length > 50)
  for (const canary of [secret, ...Object.values(canaries), 'authorization', '@canary.example.com']) lacks(t, lines, canary, canary)
  t.end()
})
