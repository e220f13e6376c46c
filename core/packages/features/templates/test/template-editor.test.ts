import { findDispatch } from '@dispatch/core'
import { createTemplateWorkers } from '@dispatch/documents'
import t from 'tap'
import { parse } from 'yaml'
import { invoiceYaml, letter, letterYaml } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, lacks, type Pattern } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { listAudit } from '../../../accounts/audit/audit.ts'
import { wordsOf } from '../../../documents/test/support.ts'

/** How many jobs of one company may wait for the one that runs. */
const waiting = 10
const templateWorkers = createTemplateWorkers({ waiting })
const service = await startService(t, { replacements: { templateWorkers } })
const company = await service.company('authors')
const { companyId, admin, member } = company
const send = (method: string, path: string, body?: unknown, login: Login = admin): Promise<Answer> =>
  service.send(method, path, body === undefined ? {} : { body }, login)
const create = async (changes: object = {}): Promise<any> => (await send('POST', '/api/v1/templates', letter(changes))).body
/** A template of which version 1 is published. */
const published = async (changes: object = {}): Promise<any> => {
  const { id } = await create(changes)
  return (await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })).body
}
const file = (template: number, data: unknown = { name: 'Ada' }): unknown => ({ template: { id: template, data } })
const bytesOf = async (path: string, body: unknown, login = admin): Promise<{ status: number, headers: Headers, bytes: Buffer }> => {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${login.email}:${login.password}`).toString('base64')}`,
      'content-type': 'application/json'
    },
    body: JSON.stringify(body)
  })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

await t.test('a new template is a draft: it is listed, read and previewed, and nothing can be dispatched with it', async (t) => {
  const { status, body } = await send('POST', '/api/v1/templates', letter({ name: 'First' }))
  t.equal(status, 201)
  has(t, body, {
    id: 1000,
    name: 'First',
    version: 1,
    status: 'draft',
    latestVersion: 1,
    service: 'file',
    companyId,
    locale: 'en',
    warnings: []
  })
  t.equal(body.source, letterYaml('First'))
  has(t, (await send('GET', '/api/v1/templates?status=draft', undefined, member)).body.data, [{ id: body.id, status: 'draft' }])
  has(t, (await send('GET', `/api/v1/templates/${body.id}`, undefined, member)).body, { id: body.id, source: body.source })
  t.equal((await bytesOf(`/api/v1/templates/${body.id}/preview`, {}, member)).status, 200)
  has(t, await send('POST', '/api/file', file(body.id)), { status: 404, body: { error: 'template_not_found' } })
  has(t, await send('POST', '/api/file/email/validate', {
    fileContent: { templateName: 'First', data: { name: 'Ada' } },
    email: { from: 'a@b.cc', to: ['a@b.cc'], subject: 'x', body: 'x' }
  }), { status: 404 })
})

await t.test('a version is not published that a process of an older release could not read', async (t) => {
  const { id } = await create({ name: 'Ahead' })
  const { owner } = service.app.get('database')
  const processId = '0198c5a0-0000-7000-8000-000000000001'
  await owner.insertInto('provider_processes')
    .values({ process_id: processId, machine: 'other', pid: 1, number: 0, providers: '[]', seen_at: new Date() }).execute()
  const publish = { body: { version: 1 }, headers: { 'x-api-version': '1.1.0' } }
  has(t, await service.send('POST', `/api/v1/templates/${id}/publish`, publish, admin), {
    status: 503,
    body: { error: 'service_unavailable', reason: 'upgrade_under_way', message: /cannot read version 1/ }
  })
  has(t, (await send('GET', `/api/v1/templates/${id}`)).body, { status: 'draft' })
  await owner.deleteFrom('provider_processes').where('process_id', '=', processId).execute()
  has(t, await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 }), { status: 200, body: { status: 'published' } })
})

await t.test('publishing a version makes it the one that dispatches use; another one takes its place; ' +
  'an old one can come back', async (t) => {
  const { id } = await create({ name: 'Second' })
  has(t, await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 }), {
    status: 200,
    body: { id, version: 1, status: 'published', latestVersion: 1 }
  })
  const first = await send('POST', '/api/file', file(id))
  t.equal(first.status, 200)

  const next = await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Second', greeting: 'Hello' }) })
  has(t, next, { status: 200, body: { id, version: 2, status: 'draft', latestVersion: 2 } })
  has(t, (await send('GET', `/api/v1/templates/${id}`)).body, { version: 1, status: 'published', latestVersion: 2 })
  const second = await send('POST', '/api/file', file(id))
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 2 })
  const third = await send('POST', '/api/file', file(id))
  const versions = await Promise.all(
    [first, second, third].map(async ({ body }) => (await send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body.template)
  )
  t.strictSame(versions, [{ id, version: 1 }, { id, version: 1 }, { id, version: 2 }], 'a dispatch tells which version it used')

  has(t, (await send('GET', `/api/v1/templates/${id}/versions`)).body, {
    data: [{ version: 2, status: 'published' }, { version: 1, status: 'retired' }],
    nextCursor: null
  })
  has(t, await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 }), { status: 200, body: { version: 1, status: 'published' } })
  has(t, (await send('GET', `/api/v1/templates/${id}/versions?limit=1`)).body, {
    data: [{ version: 2, status: 'retired' }],
    nextCursor: '2'
  })
  has(t, (await send('GET', `/api/v1/templates/${id}/versions?limit=1&cursor=2`)).body, {
    data: [{ version: 1, status: 'published', userId: Number }]
  })
})

await t.test('a change that was made from an older version is refused: nobody\'s work is lost', async (t) => {
  const { id } = await create({ name: 'Contended' })
  const put = (baseVersion: number): Promise<Answer> =>
    send('PUT', `/api/v1/templates/${id}`, { baseVersion, ...letter({ name: 'Contended' }) })
  const answers = await Promise.all([put(1), put(1), put(1)])
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 409, 409])
  has(t, answers.find(({ status }) => status === 409)?.body, { error: 'conflict', message: /newest version is 2/ })
  t.equal((await put(2)).body.version, 3)
  t.equal((await put(7)).status, 409)
})

await t.test('a version is read as it was written', async (t) => {
  const { id } = await create({ name: 'Kept' })
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Renamed' }) })
  has(t, (await send('GET', `/api/v1/templates/${id}?version=1`)).body, { version: 1, source: letterYaml('Kept') })
  has(t, (await send('GET', `/api/v1/templates/${id}?version=2`)).body, { version: 2, source: letterYaml('Renamed') })
  t.equal((await send('GET', `/api/v1/templates/${id}?version=3`)).status, 404)
  t.equal((await send('POST', `/api/v1/templates/${id}/publish`, { version: 3 })).status, 404)
})

await t.test('a name is the company\'s own once, and goes with the published version', async (t) => {
  const { id } = await published({ name: 'Unique' })
  has(t, await send('POST', '/api/v1/templates', letter({ name: 'Unique' })), {
    status: 409,
    body: { error: 'conflict', message: /"Unique" already/ }
  })
  t.equal((await service.send('POST', '/api/v1/templates', { body: letter({ name: 'Unique' }) })).status, 201,
    'that of another company is free')
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Unlike' }) })
  t.equal((await send('GET', `/api/v1/templates/${id}`)).body.name, 'Unique', 'a draft renames nothing that is in use')
  t.equal((await send('POST', '/api/v1/templates', letter({ name: 'Unlike' }))).status, 201)
  t.equal((await send('POST', `/api/v1/templates/${id}/publish`, { version: 2 })).status, 409, 'the name was taken meanwhile')
  has(t, (await send('GET', '/api/v1/templates?name=Unique')).body.data, [{ id }])
  has(t, (await send('GET', '/api/v1/templates?name=Unheard')).body.data, [])
})

await t.test('the own template of a name goes before the shared one', async (t) => {
  const own = await published({ name: 'Letter' })
  const chain = {
    fileContent: { templateName: 'Letter', data: { name: 'Ada' } },
    sms: { phoneNumber: '+33612345678', message: 'Hello' },
    providerName: 'simulator'
  }
  const { body } = await send('POST', '/api/file/sms', chain)
  has(t, await findDispatch(service.app.get('database'), companyId, body.dispatchId), { template_id: own.id, template_version: 1 })
})

await t.test('a check says how many of the latest dispatches a version would refuse, and why, for admins alone', async (t) => {
  const { id } = await published({ name: 'Stricter' })
  const other = await published({ name: 'Another' })
  const sent = async (template: number, name: string): Promise<string> =>
    (await send('POST', '/api/file', file(template, { name }))).body.dispatchId
  const ids: string[] = []
  for (const name of ['Ada', 'Bo', 'Cy', 'Di', 'Ed', 'Flo', 'Gus', 'Hal']) ids.unshift(await sent(id, name))
  await sent(other.id, 'Xi')
  const schema = { ...letter().schema, properties: { name: { type: 'string', minLength: 3 } } }
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Stricter', schema }) })
  const check = async (query = ''): Promise<Answer> => send('GET', `/api/v1/templates/${id}/check${query}`)
  has(t, (await check()).body, { version: 1, checked: 8, complete: true, refused: 0, examples: [] })
  const { body } = await check('?version=2')
  has(t, body, { version: 2, checked: 8, complete: true, refused: 4 })
  t.equal(Date.now() - Date.parse(body.since) >= 30 * 86_400_000, true)
  t.same(body.examples.map(({ dispatchId, problem: { path } }: any) => [dispatchId, path]),
    [3, 4, 5, 6].map((place) => [ids[place], '/data/name']), 'the newest first')
  t.equal((await check('?version=9')).status, 404)
  t.equal((await send('GET', `/api/v1/templates/${id}/check`, undefined, member)).status, 403)
  const longest = { ...letter().schema, properties: { name: { type: 'string', maxLength: 1 } } }
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 2, ...letter({ name: 'Stricter', schema: longest, sample: { name: 'A' } }) })
  const all = (await check('?version=3')).body
  t.same([all.refused, all.examples.length], [8, 5])
})

await t.test('a deleted template is gone; its dispatches keep it, and its name is free', async (t) => {
  const { id } = await published({ name: 'Passing' })
  const { body: { dispatchId } } = await send('POST', '/api/postal', {
    template: { id, data: { name: 'Ada' } },
    providerName: 'simulator',
    postal: { recipient: { name: 'unavailable', address: '12 rue de la Paix', city: 'Paris', postalCode: '75002', country: 'FR' } }
  })
  t.type(dispatchId, 'string')
  t.equal((await send('DELETE', `/api/v1/templates/${id}`)).status, 204)
  for (const [method, path, body] of [
    ['GET', ''],
    ['GET', '/versions'],
    ['GET', '/check'],
    ['DELETE', ''],
    ['PUT', '', { baseVersion: 1, ...letter() }],
    ['POST', '/publish', { version: 1 }],
    ['POST', '/preview', {}]
  ] as const) {
    has(t, await send(method, `/api/v1/templates/${id}${path}`, body), { status: 404, body: { error: 'template_not_found' } },
      `${method} ${path}`)
  }
  t.equal((await send('POST', '/api/file', file(id))).status, 404)
  has(t, (await send('GET', `/api/v1/dispatches/${dispatchId}`)).body.template, { id, version: 1 })
  has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { body: { dispatchId } }, 'a retry goes on with the version')
  t.equal((await send('POST', '/api/v1/templates', letter({ name: 'Passing' }))).status, 201)
})

await t.test('shared templates can be copied, and are nobody\'s to change', async (t) => {
  const { body: shared } = await send('GET', '/api/v1/templates/1')
  t.equal(parse(shared.source).name, 'Invoice')
  for (const [method, path, body] of [
    ['PUT', '', { baseVersion: 1, ...letter() }],
    ['DELETE', ''],
    [
      'POST',
      '/publish',
      { version: 1 }
    ]
  ] as const) {
    has(t, await send(method, `/api/v1/templates/1${path}`, body), {
      status: 403,
      body: { error: 'forbidden', message: /shared by all companies/ }
    }, `${method} ${path}`)
  }
  const { source, schema, sample } = shared
  const copied = await send('POST', '/api/v1/templates', { source, schema, sample })
  has(t, copied, {
    status: 201,
    body: { name: 'Invoice', documentType: 'INVOICE', schema, sample, warnings: [{ path: '/source', line: 1, code: 'ignored' }] }
  })
  await send('POST', `/api/v1/templates/${copied.body.id}/publish`, { version: 1 })
  t.equal(
    (await send('POST', '/api/invoicing', {
      documentType: 'INVOICE',
      template: { id: copied.body.id, data: { ...sample, number: 'COPY-1' } }
    })).status,
    200
  )
  t.equal((await bytesOf('/api/v1/templates/1/preview', {})).status, 200)
})

await t.test('only admins write; who may use a service previews its templates', async (t) => {
  const { id } = await create({ name: 'Guarded' })
  for (const [method, path, body] of [
    ['POST', '/api/v1/templates', letter()],
    [
      'PUT',
      `/api/v1/templates/${id}`,
      { baseVersion: 1, ...letter() }
    ],
    ['POST', `/api/v1/templates/${id}/publish`, { version: 1 }],
    ['DELETE', `/api/v1/templates/${id}`],
    [
      'POST',
      '/api/v1/templates/preview',
      letter()
    ]
  ] as const) {
    has(t, await send(method, path, body, member), { status: 403 }, `${method} ${path}`)
  }
  const texting = await service.company('texting', { services: ['sms'] })
  t.equal((await bytesOf('/api/v1/templates/20/preview', {}, texting.member)).status, 200)
  t.equal((await bytesOf('/api/v1/templates/1/preview', {}, texting.member)).status, 403)
})

await t.test('facts stand in the source or beside it; a contradiction is refused with its line', async (t) => {
  const source = 'service: file\nlocale: en\nbody:\n  - paragraph: Dear {{ name }}\n'
  has(t, await send('POST', '/api/v1/templates', { ...letter(), source, name: 'Beside' }), {
    status: 201,
    body: { name: 'Beside', source }
  })
  has(t, await send('POST', '/api/v1/templates', { ...letter(), source }), {
    status: 422,
    body: { details: [{ path: '/source', line: 1, column: 1, code: 'required', message: /"name" is missing/ }] }
  })
  has(t, await send('POST', '/api/v1/templates', { ...letter(), name: 'x', service: 'sms', documentType: 'INVOICE' }), {
    status: 422,
    body: {
      error: 'validation_failed',
      details: [
        { path: '/name', code: 'contradiction', message: /line 1 of the source says "Letter"/ },
        { path: '/service', code: 'contradiction' }
      ]
    }
  })
})

await t.test('every fault is told, with its line, its column and the nearest right word', async (t) => {
  const source = `name: Broken
service: file
locale: en
body:
  - paragraph: "{{ nmae }}"
  - paragraph: "{{ name | uppcase }}"
  - each: name
    as: letter
    do: []
  - table: { each: lines, as: line, columns: [{ header: a, value: line.descriptoin }] }
  - image: { asset: logo }
`
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      lines: { type: 'array', items: { type: 'object', properties: { description: { type: 'string' } } } }
    }
  }
  const { status, body } = await send('POST', '/api/v1/templates', { source, schema, sample: { name: 5 } })
  t.equal(status, 422)
  contains(t, body.message, /^\/source \(line 6, column 5\): Unknown filter "uppcase" \(did you mean "upcase"\?\)\. And 5 more/)
  t.strictSame(body.details.map(({ path, code, line, column }: any) => [path, code, line, column]), [
    ['/source', 'template_error', 6, 5],
    ['/source', 'template_error', 11, 14],
    ['/source', 'unknown_path', 5, 5],
    ['/source', 'not_a_list', 7, 5],
    ['/source', 'unknown_path', 10, 60],
    ['/sample/name', 'type', undefined, undefined]
  ])
  for (const word of ['did you mean "name"?', 'did you mean "description"?']) {
    t.ok(body.details.some(({ message }: any) => message.includes(word)), word)
  }
  t.equal((await send('GET', '/api/v1/templates?name=Broken')).body.data.length, 0)
})

const refusals: [rule: string, changes: object, details: Pattern[]][] = [
  ['text that is no YAML', { source: 'name: [' }, [{ path: '/source', line: 1 }]],
  [
    'an unknown block',
    { source: 'name: x\nservice: file\nlocale: en\nbody:\n  - paragaph: Dear\n' },
    [{ path: '/source', code: 'unknown_block', line: 5, column: 5, message: /did you mean "paragraph"/ }]
  ],
  [
    'a block of a wrong kind',
    { source: 'name: x\nservice: file\nlocale: en\nbody:\n  - columns: 5\n  - table: []\nheader: 7\n' },
    [
      { line: 5 },
      { line: 6 },
      { line: 7 }
    ]
  ],
  [
    'a schema that does not compile',
    { schema: { type: 'objekt' } },
    [{ path: '/schema/type', code: 'enum', message: /did you mean "object"/ }]
  ],
  [
    'an unknown keyword',
    { schema: { type: 'object', propertes: {} } },
    [{ path: '/schema/propertes', code: 'unknown_keyword', message: /did you mean "properties"/ }]
  ],
  [
    'a reference to elsewhere',
    { schema: { type: 'object', properties: { name: { $ref: 'https://example.com/name.json' } } } },
    [{ path: '/schema/properties/name/$ref', message: /nothing is fetched/ }]
  ],
  [
    'a sample that does not fit',
    { sample: { nam: 'Ada' } },
    [
      { path: '/sample/name', code: 'required' },
      { path: '/sample/nam', code: 'unknown_field', message: /did you mean "name"/ }
    ]
  ],
  ['a sample that cannot be rendered', { sample: { name: '日本' } }, [{ path: '/sample/name', code: 'unsupported_characters' }]],
  [
    'an asset that is not there',
    { source: `${letterYaml('x')}assets: { logo: asset:logo }\n` },
    [{ path: '/source', code: 'unknown_asset', line: 5, column: 11 }]
  ],
  [
    'an asset that is a file',
    { source: `${letterYaml('x')}assets: { logo: logo.png }\n` },
    [{ path: '/source', code: 'unknown_asset', message: /asset:<name>/ }]
  ]
]

for (const [rule, changes, details] of refusals) {
  await t.test(`${rule} is refused with its place`, async (t) => {
    const { status, body } = await send('POST', '/api/v1/templates', { ...letter(), ...changes })
    t.equal(status, 422, JSON.stringify(body))
    has(t, body, { error: 'validation_failed', details })
    t.equal((await send('POST', '/api/v1/templates/preview', { ...letter(), ...changes })).status, 422, 'by a preview too')
  })
}

await t.test('fields that no block shows, and pictures that none does, are warnings', async (t) => {
  const { schema } = letter()
  const more = {
    ...schema,
    properties: {
      ...schema.properties,
      nick: { type: 'string' },
      address: { type: 'object', additionalProperties: false, properties: { city: { type: 'string' } } }
    }
  }
  const point = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const { warnings } = await create({ schema: more, name: 'Wary', source: `${letterYaml('Wary')}assets: { unseen: "${point}" }\n` })
  has(t, warnings, [
    { path: '/source', code: 'unused_asset', line: 5, column: 11 },
    { path: '/schema/properties/nick', code: 'unused_field' },
    { path: '/schema/properties/address', code: 'unused_field' }
  ])
})

await t.test('a preview is the file itself, in every format, of the sample or other data, of any version', async (t) => {
  const { id } = await published({ name: 'Élan/vital' })
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Élan/vital', greeting: 'Hello' }) })
  const path = `/api/v1/templates/${id}/preview`
  const sample = await bytesOf(path, {})
  t.equal(sample.headers.get('content-type'), 'application/pdf')
  t.equal(sample.headers.get('content-disposition'), 'attachment; filename="_lan-vital.pdf"; filename*=UTF-8\'\'%C3%89lan-vital.pdf')
  t.equal(await wordsOf(sample), 'Dear Ada')
  t.equal(await wordsOf(await bytesOf(path, { data: { name: 'Bob' }, version: 2 })), 'Hello Bob')
  contains(t, (await bytesOf(path, { format: 'TEXT' })).bytes.toString(), 'Dear Ada')
  const html = await bytesOf(path, { format: 'HTML' })
  contains(t, html.bytes.toString(), /Dear Ada/)
  contains(t, html.headers.get('content-security-policy'), /sandbox/)
  for (const format of ['DOCX', 'XLSX']) t.equal((await bytesOf(path, { format })).bytes.toString('latin1', 0, 2), 'PK', format)
  has(t, await send('POST', path, { data: { name: 5 } }), { status: 422, body: { details: [{ path: '/data/name', code: 'type' }] } })
  has(t, await send('POST', path, { data: { name: '日本' } }), {
    status: 422,
    body: { details: [{ path: '/data/name', code: 'unsupported_characters' }] }
  })
  t.equal((await send('POST', path, { version: 3 })).status, 404)
  t.equal(
    (await fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}` }
    })).status,
    200,
    'without a body'
  )
})

await t.test('a preview of a text stores nothing and sends nothing', async (t) => {
  const before = (await send('GET', '/api/v1/templates?limit=100')).body
  t.equal(await wordsOf(await bytesOf('/api/v1/templates/preview', { ...letter({ name: 'Nowhere' }), data: { name: 'Eve' } })), 'Dear Eve')
  t.strictSame((await send('GET', '/api/v1/templates?limit=100')).body, before)
})

await t.test('a company that checks too many templates at once is refused, as the OpenAPI document says', async (t) => {
  const { id } = await create({ name: 'Refused' })
  let isBusy = true
  const job = { yaml: letterYaml('Busy'), schema: letter().schema, sample: letter().sample, assets: {}, services: ['file'] }
  // Where a job has ended, the next one waits before any request is read.
  const jobs = Array.from({ length: 1 + waiting }, async () => {
    while (isBusy) await templateWorkers.inspect(companyId, job)
  })
  try {
    for (const [method, path, body] of [
      ['POST', '', letter({ name: 'Another' })],
      ['PUT', `/${id}`, { baseVersion: 1, ...letter({ name: 'Refused' }) }],
      ['POST', `/${id}/preview`, {}],
      ['POST', '/preview', letter()]
    ] as const) {
      const { status, body: { error } } = await send(method, `/api/v1/templates${path}`, body)
      t.same({ status, error }, { status: 503, error: 'provider_unavailable' }, `${method} ${path}`)
    }
  } finally {
    isBusy = false
    await Promise.all(jobs)
  }
})

await t.test('every change stands in the audit log', async (t) => {
  const { id } = await published({ name: 'Audited' })
  await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...letter({ name: 'Audited' }) })
  await send('DELETE', `/api/v1/templates/${id}`)
  const rows = await listAudit(service.app.get('database'), companyId, { object: `template/${id}` }, { limit: 10 })
  has(t, rows.map(({ action, facts }) => [action, facts]), [
    ['template.deleted', { name: 'Audited' }],
    ['template.changed', { name: 'Audited', version: 2 }],
    ['template.published', { name: 'Audited', version: 1 }],
    ['template.created', { name: 'Audited', version: 1 }]
  ])
})

await t.test('an invoice in the company\'s own words keeps the business rules', async (t) => {
  const { body: { schema, sample } } = await send('GET', '/api/v1/templates/1')
  const { body } = await send('POST', '/api/v1/templates', { source: invoiceYaml, schema, sample })
  await send('POST', `/api/v1/templates/${body.id}/publish`, { version: 1 })
  has(t, await send('POST', '/api/invoicing/validate', {
    documentType: 'INVOICE',
    template: { id: body.id, data: { ...sample, number: 5, total: 1 } }
  }), {
    status: 422,
    body: { details: [{ path: '/template/data/number', code: 'type' }, { path: '/template/data/total', code: 'total' }] }
  })
  const { status, body: { result, warnings: [due, ...others] } } = await send('POST', '/api/invoicing/validate', {
    documentType: 'INVOICE',
    template: { id: body.id, data: sample }
  })
  has(t, [status, result, due], [200, 'warning', { path: '/template/data/dueDate', code: 'due_date_in_the_past' }])
  t.same(others.filter(({ code }: { code: string }) => code !== 'unused_field'), [])
  has(t, others[0], { path: '/template/data/date' })
})

await t.test('the sample of an e-invoice, or data, are shown in every profile with the rules that they break and pass', async (t) => {
  const path = '/api/v1/templates/4/e-invoices'
  const { status, body } = await send('POST', path, undefined, member)
  t.equal(status, 200)
  t.equal(body.data.length, 17, 'each profile in each of its formats')
  const [plain] = body.data
  has(t, plain, { profile: 'EN16931', format: 'FACTUR_X', fits: true, xml: /^<\?xml.*CrossIndustryInvoice/s })
  t.strictSame(plain.passed.filter(({ code }: any) => code === 'BR-CO-15'), [{ code: 'BR-CO-15', severity: 'error' }])
  t.ok(body.data.every((one: any) => one.fits === !one.broken.some(({ severity }: any) => severity === 'error')))

  const { body: { sample } } = await send('GET', '/api/v1/templates/4')
  const { buyerReference: _, ...data } = { ...sample, total: '1.00' }
  const wrong = (await send('POST', path, { data, profile: 'XRECHNUNG', format: 'UBL' })).body.data
  has(t, wrong, [{ profile: 'XRECHNUNG', format: 'UBL', fits: false, xml: null }])
  t.strictSame(
    wrong[0].broken.filter(({ severity }: any) => severity === 'error').map(({ code, path }: any) => `${code} ${path}`).sort(),
    ['BR-CO-15 /data/total', 'BR-DE-15 /data/buyerReference']
  )
  t.notOk(wrong[0].passed.some(({ code }: any) => code === 'BR-CO-15'))
  t.notOk(wrong[0].passed.some(({ code }: any) => code === 'PEPPOL-EN16931-R120'), 'what applies to others is not passed')

  const unfit = { ...sample, lines: 'none' }
  has(t, await send('POST', path, { data: unfit }), { status: 422, body: { details: [{ path: '/data/lines' }] } })
  has(t, await send('POST', `/api/v1/templates/${(await create({ name: 'No invoice' })).id}/e-invoices`), {
    status: 422,
    body: { details: [{ code: 'not_supported' }] }
  })
  has(t, await send('POST', path, { profile: 'NONE' }), { status: 400 })
})

await t.test('what a request says beside the data is in every profile: its terms, and what it repeats of its invoice', async (t) => {
  const path = '/api/v1/templates/4/e-invoices'
  const { body: { sample } } = await send('GET', '/api/v1/templates/4')
  const { dueDate: _, paymentTerms: _paymentTerms, buyerReference, ...rest } = sample
  const [original] = (await send('POST', path, { profile: 'EN16931', format: 'CII' })).body.data
  const document = Buffer.from(original.xml).toString('base64')
  const requested = { data: { ...rest, number: 'C-1', type: 381 }, profile: 'EN16931', format: 'CII' }
  const reported = { dueDate: '2020-01-01', paymentTerms: 'Within a fortnight', from: { document } }
  const [credit] = (await send('POST', path, { ...requested, terms: reported }, member)).body.data
  has(t, credit, { fits: true })
  for (const said of ['Within a fortnight', buyerReference, `<ram:IssuerAssignedID>${sample.number}</ram:IssuerAssignedID>`]) {
    contains(t, credit.xml, said)
  }

  const leftOut = { ...requested, data: { ...requested.data, paymentTerms: null } }
  const [said] = (await send('POST', path, { ...leftOut, terms: { paymentTerms: 'Within a fortnight' } })).body.data
  contains(t, said.xml, 'Within a fortnight', 'null leaves it out')
  const [late] = (await send('POST', path, { ...requested, terms: { dueDate: '2020-01-01' } })).body.data
  lacks(t, late.xml, 'Within a fortnight')
  const [wrong] = (await send('POST', path, { ...requested, profile: 'MINIMUM', terms: reported })).body.data
  t.ok(wrong.broken.some((one: any) => one.path === '/terms/dueDate' && one.code === 'not_in_profile'))
  for (
    const [from, at, code] of [
      [{ document: Buffer.from('<a/>').toString('base64') }, 'document', 'not_an_invoice'],
      [{ dispatchId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90' }, 'dispatchId', 'not_found']
    ] as const
  ) {
    has(t, await send('POST', path, { ...requested, terms: { from } }), {
      status: 422,
      body: { details: [{ path: `/terms/from/${at}`, code }] }
    })
  }
})

await t.test('the XML of all profiles together is bounded, and one of them is whole', async (t) => {
  const path = '/api/v1/templates/4/e-invoices'
  const { body: { sample } } = await send('GET', '/api/v1/templates/4')
  const data = {
    number: 'F-1',
    date: '2026-03-14',
    seller: sample.seller,
    customer: sample.customer,
    buyerReference: 'B',
    lines: [] as any[]
  }
  data.lines = Array.from({ length: 1_000 },
    (_, index) => ({ description: `${index} `.repeat(150), quantity: 1, unitPrice: '1.00', taxRate: 20 }))
  const all = (await send('POST', path, { data })).body.data
  t.ok(all.some(({ fits }: any) => fits === true))
  t.ok(all.every(({ xml }: any) => xml === null))
  const [one] = (await send('POST', path, { data, profile: 'EN16931', format: 'CII' })).body.data
  has(t, one, { fits: true, xml: /^<\?xml/ })
})
