import t, { type Test } from 'tap'
import { hasNoFault, isError } from '../../../../../test/hostile/support.ts'
import { letter, letterYaml } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, lacks, type Pattern } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { createTemplateWorkers } from '../../../documents/threads/template-workers.ts'
import { tablesIn } from '../store/tables.ts'

const templateWorkers = createTemplateWorkers({
  timeLimits: {
    inspect: 3,
    inspectPartial: 3,
    check: 2,
    subject: 2,
    refuse: 2,
    render: 3,
    profiles: 3,
    read: 3,
    address: 3,
    pages: 3,
    join: 3,
    flatten: 3
  }
})
const service = await startService(t, { replacements: { templateWorkers } })
const { admin, companyId } = await service.company('hostile')
const { admin: other } = await service.company('peaceful')
const send = (method: string, path: string, body?: unknown, login: Login = admin): Promise<Answer> =>
  service.send(method, path, body === undefined ? {} : { body }, login)
const create = (changes: object): Promise<Answer> => send('POST', '/api/v1/templates', { ...letter(), ...changes })

/** Another company asks for the same, and is served. */
async function whileOthersWork (t: Test, hostile: Promise<Answer>): Promise<Answer> {
  const { status } = await send('POST', '/api/v1/templates/preview', letter({ name: 'Mine' }), other)
  t.equal(status, 200, 'another company is served')
  return hostile
}

const schemaOf = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties: { name: { type: 'string' }, ...properties },
  ...more
})
const doubling = (depth: number): object => ({
  ...Object.fromEntries(
    Array.from({ length: depth }, (
      _,
      index
    ) => [`d${String(index)}`, { allOf: [{ $ref: `#/$defs/d${String(index + 1)}` }, { $ref: `#/$defs/d${String(index + 1)}` }] }])
  ),
  [`d${String(depth)}`]: { type: 'string' }
})

const endless: [rule: string, code: 'too_slow' | 'too_large', changes: object][] = [
  [
    'a pattern that backtracks without end',
    'too_slow',
    { schema: schemaOf({ a: { type: 'string', pattern: '^(a+)+$' } }), sample: { name: 'Ada', a: `${'a'.repeat(50)}!` } }
  ],
  [
    'a schema that doubles itself',
    'too_slow',
    { schema: schemaOf({ a: { $ref: '#/$defs/d0' } }, { $defs: doubling(40) }), sample: { name: 'Ada', a: 'x' } }
  ],
  [
    'loops of text without end',
    'too_large',
    {
      source: `${letterYaml('Endless').replace(/\]\n$/, '')}${
        Array.from({ length: 900 }, (_, index) =>
          `, { paragraph: "{% for a in (1..2000) %}{% for b in (1..40) %}{% endfor %}{% endfor %}${String(index)}" }`).join(
            ''
          )
      }]\n`
    }
  ]
]

for (const [rule, code, changes] of endless) {
  await t.test(`${rule} ends at its limit, and nobody else waits for it`, async (t) => {
    const { status, body } = await whileOthersWork(t, create(changes))
    has(t, { status, body }, { status: 422, body: { error: 'validation_failed', details: [{ code }] } })
  })
}

await t.test('data that a published schema never comes to an end with are refused, and nobody else waits for them', async (t) => {
  const { body: { id } } = await create({ schema: schemaOf({ a: { type: 'string', pattern: '^(a+)+$' } }), source: letterYaml('Patient') })
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })
  const { status, body } = await whileOthersWork(t,
    send('POST', '/api/file', { template: { id, data: { name: 'Ada', a: `${'a'.repeat(50)}!` } } }))
  has(t, { status, body }, { status: 422, body: { error: 'validation_failed', details: [{ path: '/template/data', code: 'too_slow' }] } })
  t.equal((await send('POST', '/api/file', { template: { id, data: { name: 'Ada', a: 'aaa' } } })).status, 200)
})

const refused: [rule: string, changes: object, details: Pattern[]][] = [
  [
    'a schema that leads back to itself',
    { schema: { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } } },
    [{ path: '/schema', code: 'bad_schema', message: /without end/ }]
  ],
  [
    'a schema that leads back to itself below a field',
    { schema: schemaOf({ a: { allOf: [{ $ref: '#/properties/a' }] } }), sample: { name: 'Ada', a: 1 } },
    [{ code: 'bad_schema', message: /without end/ }]
  ],
  ['a schema that answers later', { schema: { $async: true, type: 'object' } }, [{ path: '/schema/$async', code: 'unknown_keyword' }]],
  [
    'a schema of another dialect',
    { schema: { $schema: 'http://json-schema.org/draft-07/schema#' } },
    [{ path: '/schema/$schema', code: 'unknown_dialect' }]
  ],
  [
    'a schema of code',
    { schema: schemaOf({ 'a"]);process.exit(1)//': { type: 'string', pattern: '`${process.exit()}`(' } }) },
    [{ code: 'bad_pattern' }]
  ],
  [
    'an alias of YAML that stands in itself',
    { source: 'name: x\nservice: file\nlocale: en\nbody: &a\n  - columns: { items: [{ do: *a }] }\n' },
    [{ path: '/source' }]
  ],
  [
    'aliases of YAML that multiply',
    {
      source: 'name: x\nservice: file\nlocale: en\na0: &a0 ' +
        `[x]\n${
          Array.from({ length: 20 }, (_, index) =>
            `a${String(index + 1)}: &a${String(index + 1)} [${
              Array.from({ length: 10 }, () => `*a${String(index)}`).join(', ')
            }]\n`).join(
              ''
            )
        }body: ` +
        '[{ paragraph: x }]\n'
    },
    [{ path: '/source', message: /alias/i }]
  ],
  ['YAML that is nested without end', { source: `name: x\nbody: ${'['.repeat(50_000)}` }, [{ path: '/source' }]],
  [
    'YAML that is nested without end, and closed',
    { source: `name: x\nbody: ${'['.repeat(3000)}${']'.repeat(3000)}\n` },
    [{ path: '/source', code: 'too_deep' }]
  ],
  [
    'a text that no database can hold',
    { source: 'name: x\nservice: file\nlocale: en\nbody:\n  - paragraph: "a\\0b"\n' },
    [{ path: '/source', line: 5, code: 'forbidden_character' }]
  ],
  [
    'a key that reaches a prototype',
    { source: 'name: x\nservice: file\nlocale: en\n__proto__: { a: 1 }\nbody: [{ paragraph: x }]\n' },
    [{ path: '/source', code: 'forbidden_key' }]
  ],
  [
    'a schema that is too large',
    {
      schema: schemaOf(
        Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`a${String(index)}`, { description: 'x'.repeat(300) }]))
      )
    },
    [{ path: '/schema', code: 'too_large' }]
  ],
  ['a sample that is too large', { sample: { name: 'x'.repeat(200_001) } }, [{ path: '/sample', code: 'too_large' }]],
  [
    'a picture that is a bomb',
    { source: `${letterYaml('x')}assets: { logo: "data:image/png;base64,${'A'.repeat(1000)}" }\n` },
    [{ path: '/source', line: 5, message: /not a readable PNG/ }]
  ]
]

for (const [rule, changes, details] of refused) {
  await t.test(`${rule} is refused`, async (t) => {
    const answer = await create(changes)
    isError(t, answer, 'validation_failed', JSON.stringify(answer.body))
    has(t, answer.body, { details })
  })
}

await t.test('a source that is too long is no source', async (t) =>
  isError(t, await create({ source: 'x'.repeat(200_001) }), 'validation_error'))

await t.test('a schema knows nothing of the schemas of others', async (t) => {
  const named = { $id: 'https://example.com/name', type: 'string', pattern: '^secret$' }
  t.equal((await create({ source: letterYaml('Naming'), schema: schemaOf({ a: named }) })).status, 201)
  t.equal(
    (await send('POST', '/api/v1/templates', {
      ...letter(),
      schema: schemaOf({ a: { $id: 'https://example.com/name', type: 'number' } }),
      sample: { name: 'Ada', a: 1 }
    }, other)).status,
    201
  )
  isError(t, await send('POST', '/api/v1/templates', { ...letter(), schema: schemaOf({ a: { $ref: 'https://example.com/name' } }) }, other),
    'validation_failed')
})

await t.test('a template has no names of the service: neither its environment nor its prototypes', async (t) => {
  for (const path of ['process.env', 'constructor', 'name.constructor', 'toString', '__proto__.a']) {
    isError(t, await create({ source: `name: x\nservice: file\nlocale: en\nbody: [{ paragraph: "{{ ${path} }}" }]\n` }),
      'validation_failed', path)
  }
})

await t.test('a preview runs nothing in a browser', async (t) => {
  const evil = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
  const { headers, body } = await send('POST', '/api/v1/templates/preview', { ...letter(), data: { name: evil }, format: 'HTML' })
  lacks(t, body, /<script|<img/)
  contains(t, headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  contains(t, headers.get('content-disposition'), /^attachment/)
})

await t.test('of the drafts of a template the last 20 are kept, and everything that was published', async (t) => {
  const { body: { id } } = await create({ source: letterYaml('Rewritten') })
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })
  for (let version = 1; version <= 23; version++) {
    t.equal(
      (await send('PUT', `/api/v1/templates/${id}`, {
        baseVersion: version,
        ...letter({ name: 'Rewritten', greeting: `Dear ${String(version)}` })
      })).status,
      200
    )
  }
  const { body } = await send('GET', `/api/v1/templates/${id}/versions?limit=100`)
  t.strictSame(body.data.map(({ version }: any) => version), [...Array.from({ length: 20 }, (_, index) => 24 - index), 1])
})

await t.test('what a company may store has bounds', async (t) => {
  const owner = tablesIn(service.app.get('database').owner)
  await owner.updateTable('template_versions').set({ size: 100 * 1024 * 1024 }).where('company_id', '=', companyId).where('version', '=', 1)
    .execute()
  has(t, await create({ source: letterYaml('Too much') }), { status: 409, body: { error: 'conflict', message: /take up more/ } })
  await owner.updateTable('template_versions').set({ size: 1 }).where('company_id', '=', companyId).execute()
  const now = new Date()
  await owner.insertInto('templates').values(
    Array.from({ length: 200 }, (_, index) => ({
      template_id: 5000 + index,
      company_id: companyId,
      name: `t${String(index)}`,
      version: null,
      updated_at: now,
      removed_at: null
    }))
  ).execute()
  has(t, await create({ source: letterYaml('Too many') }), { status: 409, body: { message: /200 templates/ } })
})

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
