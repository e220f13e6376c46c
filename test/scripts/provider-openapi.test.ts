import { runConformance } from '@dispatch/conformance'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { scaffoldProvider } from '../../scripts/provider/scaffold.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, lacks, matches } from '../support/matching.ts'

/** What a vendor writes of its API. */
const answers = {
  201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Message' } } } },
  '4XX': { content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } }
}
const description = {
  openapi: '3.1.0',
  info: { title: 'Pigeon Post API', version: '1' },
  externalDocs: { url: 'https://docs.pigeon.example.com/' },
  servers: [{ url: 'https://{region}.pigeon.example.com/v2', variables: { region: { default: 'eu' } } }],
  security: [{ token: [] }],
  paths: {
    '/accounts/{accountId}/messages': {
      parameters: [{ in: 'header', name: 'X-Version', required: true, schema: { const: '2026-01-01' } }],
      post: {
        operationId: 'createMessage',
        parameters: [{ in: 'header', name: 'Idempotency-Key', schema: { type: 'string' } }],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/NewMessage' } } } },
        responses: answers
      }
    },
    '/messages/search': { post: { operationId: 'searchMessages', requestBody: { content: { 'application/json': {} } }, responses: {} } }
  },
  webhooks: {
    delivery: {
      post: {
        parameters: [{ in: 'header', name: 'X-Pigeon-Signature', schema: { type: 'string' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: { id: { type: 'string' }, type: { type: 'string' }, message: { $ref: '#/components/schemas/Message' } }
              }
            }
          }
        }
      }
    }
  },
  components: {
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    schemas: {
      NewMessage: {
        allOf: [
          { type: 'object', properties: { to: { type: 'array', items: { type: 'string' } }, body: { type: 'string' } } },
          {
            type: 'object',
            required: ['to', 'body', 'channel', 'sender', 'priority'],
            properties: {
              channel: { enum: ['transactional', 'marketing'] },
              sender: { type: 'string' },
              priority: { type: 'integer', default: 3 },
              parent: { $ref: '#/components/schemas/NewMessage' }
            }
          }
        ]
      },
      Message: {
        type: 'object',
        properties: { data: { type: 'object', properties: { messageId: { type: 'integer' }, state: { type: 'string' } } } }
      },
      Problem: {
        type: 'object',
        properties: { error: { type: 'object', properties: { code: { type: 'string' }, detail: { type: 'string' } } } }
      }
    }
  }
}

/** A new provider from a description; `text` in place of it. */
async function made (
  t: Test,
  text: string,
  { name = 'openapi.yaml', operation }: { name?: string, operation?: string } = {}
): Promise<string> {
  const place = await directory(t)
  const from = join(place, name)
  await writeFile(from, text)
  return await scaffoldProvider({ code: 'pigeon', service: 'sms', directory: place, from, operation })
}

await t.test('a provider is written from a description, and the kit asks for nothing but an event', async (t) => {
  const folder = await made(t, stringify(description))
  const [source, page] = await Promise.all(['index.ts', 'README.md'].map((file) => readFile(join(folder, file), 'utf8')))
  for (const part of [
    'hosts: [\'eu.pigeon.example.com\']',
    'errors: { at: \'/error/code\', message: \'/error/detail\', map: {} }',
    'http.post(`https://eu.pigeon.example.com/v2/accounts/${encodeURIComponent(settings.accountId)}/messages`',
    'headers: { \'x-version\': \'2026-01-01\', \'idempotency-key\': idempotencyKey }',
    'to: [request.sms.phoneNumber]',
    'body: request.sms.message',
    'channel: \'transactional\'',
    'sender: settings.sender',
    'priority: 3',
    'const Sent = Type.Object({ data: Type.Object({ messageId: Type.Integer(), state: Type.String() }) })',
    'return { id: String(sent.data.messageId), status: sent.data.state }',
    'header: \'X-Pigeon-Signature\''
  ]) contains(t, source ?? '', part)
  lacks(t, source ?? '', /parent/)
  contains(t, page ?? '', '`channel` is \'transactional\': it may be \'transactional\', \'marketing\'.')
  const { cases } = await runConformance(folder)
  t.strictSame(
    cases.filter(({ status }) => status === 'failed').map(({ rule }) => rule).filter((rule) =>
      !['signed', 'webhook', 'words', 'shown', 'fixtures'].includes(rule)
    ),
    []
  )
})

await t.test('operations that fit are offered, and one is named', async (t) => {
  const [twice, path] = [structuredClone(description), '/accounts/{accountId}/messages'] as const
  const both = { ...twice, paths: { ...twice.paths, '/texts': { post: { ...twice.paths[path].post, operationId: 'sendText' } } } }
  const text = JSON.stringify(both)
  await t.rejects(made(t, text, { name: 'openapi.json' }), /Several operations fit "sms".*createMessage {3}POST.*sendText {3}POST/s)
  await t.rejects(made(t, text, { operation: 'no' }), /It has no operation "no"/)
  contains(t, await readFile(join(await made(t, text, { operation: 'sendText' }), 'index.ts'), 'utf8'), 'eu.pigeon.example.com/v2/texts')
})

const changed = (change: (root: any) => void): string => {
  const root = structuredClone(description)
  change(root)
  return JSON.stringify(root)
}
const aliases = ['a: &a [x, x, x, x, x, x, x, x, x]',
  ...Array.from('bcdefgh',
    (name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefg'[index] ?? ''}`).join(', ')}]`)].join('\n')
for (const [what, text, why] of [
  ['is no YAML', 'a: [', /cannot be read/],
  ['is no description', '[]', /it is no object/],
  ['is of Swagger', '{ "swagger": "2.0" }', /convert it from Swagger/],
  ['has no paths', '{ "openapi": "3.0.3" }', /describes no paths/],
  ['refers to a file', changed((root) => root.components.schemas.Message = { $ref: '../../etc/passwd' }),
    /no other files and no addresses/],
  ['refers to an address', changed((root) => root.paths['/x'] = { $ref: 'https://evil.example.com/x.yaml' }),
    /no other files and no addresses/],
  ['refers to nothing', changed((root) => root.components.schemas.Message = { $ref: '#/components/schemas/None' }), /leads to nothing/],
  ['refers to a prototype', changed((root) => root.components.schemas.Message = { $ref: '#/__proto__/x' }), /leads to nothing/],
  ['refers to itself', changed((root) => root.components.schemas.Message = { $ref: '#/components/schemas/Message' }), /leads to itself/],
  ['demands itself', changed((root) => root.components.schemas.NewMessage.allOf[1].required.push('parent')), /refer to themselves/],
  ['is nested endlessly', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, /cannot be read|nested too deeply/],
  ['is nested deeply', changed((root) => {
    for (let place = root.info, depth = 0; depth < 200; depth++) place = place.a = {}
  }), /nested too deeply/],
  ['is full of anchors', aliases, /cannot be read/],
  ['has an anchor in itself', `openapi: 3.1.0\npaths: &p\n  /a: *p`, /nested too deeply|cannot be read/],
  ['names no server', changed((root) => root.servers = [{ url: 'http://pigeon.example.com' }]), /no server that begins with https/],
  ['is huge', ' '.repeat(17 * 1024 * 1024), /at most 16777216/]
] as const) {
  await t.test(`a description that ${what} is refused with a sentence`, async (t) => {
    const { message } = await made(t, text).then(() => new Error('It was taken.'), (error: unknown) => error as Error)
    matches(t, message, why)
  })
}

await t.test('a schema that is one of itself several times is read once', async (t) => {
  const itself = { $ref: '#/components/schemas/NewMessage' }
  const text = changed((root) => root.components.schemas.NewMessage.oneOf = [itself, itself, { allOf: [itself, itself] }])
  contains(t, await readFile(join(await made(t, text), 'index.ts'), 'utf8'), 'eu.pigeon.example.com')
})

await t.test('an answer with millions of fields is read up to a limit', async (t) => {
  const text = changed((root) => {
    const below = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`f${String(index)}`, { $ref: '#/components/schemas/Wide' }])
    )
    root.components.schemas.Wide = { type: 'object', properties: below }
    const [answer] = Object.values<any>(root.paths['/accounts/{accountId}/messages'].post.responses)
    answer.content['application/json'].schema = { type: 'object', properties: { ...below, id: { type: 'string' } } }
  })
  const begun = process.cpuUsage()
  contains(t, await readFile(join(await made(t, text), 'index.ts'), 'utf8'), 'eu.pigeon.example.com')
  t.ok(process.cpuUsage(begun).user < 20_000_000, 'without a limit it would be ten thousand million')
})

await t.test('texts of a description are code nowhere', async (t) => {
  const evil = '\'; process.exit(1); \'${process.exit(1)}`*/'
  const folder = await made(t, changed((root) => {
    root.info.title = evil
    root.components.schemas.NewMessage.allOf[1].properties.channel.enum = [evil]
    root.components.schemas.NewMessage.allOf[0].properties[evil] = { const: evil }
    root.components.schemas.NewMessage.allOf[1].required.push(evil)
    root.paths = { '/messages/`${process.exit(1)}`': root.paths['/accounts/{accountId}/messages'] }
    Object.values<any>(root.paths)[0].post.operationId = `*/ process.exit(1) /*${evil}`
  }))
  const { cases } = await runConformance(folder)
  t.ok(cases.some(({ rule, status }) => rule === 'replay' && status === 'passed'))
})
