/** The language of verifiers as a whole: whatever is declared, what is signed cannot be changed. */
import fc from 'fast-check'
import t from 'tap'
import { parseBody } from '../webhook/body.ts'
import { contentIn } from '../webhook/content.ts'
import type { WebhookRequest } from '../webhook/event-request.ts'
import { createKeySources } from '../webhook/keys.ts'
import { macs, type Part, type Place, signatures, type Verifier } from '../webhook/language.ts'
import { createVendorSigningKey, signDelivery, withKeysOf } from '../webhook/sign.ts'
import { verifyWebhook } from '../webhook/verify.ts'

const at = new Date('2026-03-14T09:30:00.000Z')
const keys = createKeySources({
  fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
  now: () => at,
  onError: () => undefined
})
const key = createVendorSigningKey('k1')
const settings = { secret: 'c2VjcmV0c2VjcmV0', id: 'WH-1' }

const separator = fc.constantFrom('.', '|', '\n', ':', '--').map((text): Part => ({ text }))
const part: fc.Arbitrary<Part> = fc.constantFrom<Part>('time', 'method', 'address', 'address-without-query', { header: 'X-Nonce' }, {
  query: 'n'
}, {
  body: '/event/id'
}, { setting: 'id' }, { named: ['at', 'none'], separator: '\n' }, { hash: 'sha512', of: ['body'], encoding: 'base64' }, {
  hash: 'sha256',
  of: ['time', 'body'],
  encoding: 'bytes'
})
/** The raw body among other pieces, with something between them. */
const signed = fc.tuple(fc.array(fc.tuple(part, separator), { maxLength: 4 }), fc.array(fc.tuple(separator, part), { maxLength: 3 })).map(
  ([before, after]): Part[] => [...before.flat(), 'body', ...after.flat()]
)
const place = fc.constantFrom<[Place, Place]>([{ header: 'X-Signature' }, { header: 'X-Time' }], [{ header: 'X-Signature', part: 'v1' }, {
  header: 'X-Signature',
  part: 't'
}], [{ header: 'X-Signature', part: 1, separator: '.' }, { header: 'X-Signature', part: 0, separator: '.' }], [{ query: 'sig' }, {
  query: 'ts'
}])

const declared = fc.record({
  signed,
  place,
  algorithm: fc.constantFrom(...macs, ...signatures),
  encoding: fc.constantFrom('hex' as const, 'base64' as const, 'base64url' as const),
  prefix: fc.constantFrom(undefined, 'v1='),
  unit: fc.constantFrom('seconds' as const, 'milliseconds' as const)
}).map(({ signed, place: [where, time], algorithm, encoding, prefix, unit }): Verifier => {
  const bySecret = macs.some((name) => name === algorithm)
  const verify = {
    kind: 'signature',
    signed,
    at: where,
    algorithm,
    encoding,
    ...(prefix !== undefined && { prefix }),
    key: bySecret ? { secret: 'secret' } : { url: 'https://vendor.example/key' },
    time: { at: time, unit }
  }
  return withKeysOf(key, verify as Verifier)
})

const body = fc.record({ event: fc.record({ id: fc.string({ minLength: 1 }) }), at: fc.string(), rest: fc.json() })
const judge = async (verify: Verifier, request: WebhookRequest, when = at) =>
  (await verifyWebhook([verify], request, { settings: () => settings, keys }, when)).verdict

await t.test('whatever is declared: what the vendor signs is verified, and any change of what is signed is noticed', async () => {
  await fc.assert(
    fc.asyncProperty(declared, body, fc.nat(), async (verify, event, place) => {
      const request = await signDelivery([verify], Buffer.from(JSON.stringify(event)), { key, settings, endpoint: '' }, at)
      if (await judge(verify, request) !== 'verified') return false
      const altered = Buffer.from(request.body)
      altered[place % altered.length]! ^= 1
      const changes: WebhookRequest[] = [
        { ...request, body: altered },
        { ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) },
        { ...request, body: request.body.subarray(0, -1) },
        { ...request, body: Buffer.alloc(0) },
        ...Object.keys(request.headers).map((name) => ({ ...request, headers: { ...request.headers, [name]: undefined } })),
        ...Object.entries(request.headers).map(([name, value = '']) => ({
          ...request,
          // Another digit, of a time as of an encoded signature.
          headers: { ...request.headers, [name]: value.slice(0, 3) + (value[3] === '1' ? '2' : '1') + value.slice(4) }
        }))
      ]
      for (const change of changes) if (await judge(verify, change) === 'verified') return false
      return await judge(verify, request, new Date(at.getTime() + 301_000)) === 'wrong_time' &&
        await judge(verify, request, new Date(at.getTime() - 302_000)) === 'wrong_time'
    }),
    { numRuns: 150 }
  )
})

await t.test('a request of any shape is a verdict, and never the right one', async () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('t=1,v1=00', '1773480600', 'v1=', 'a.b.c', ''))
  await fc.assert(
    fc.asyncProperty(declared, fc.dictionary(fc.constantFrom('x-signature', 'x-time', 'x-nonce'), text), text, fc.uint8Array(),
      async (verify, headers, query, bytes) =>
        await judge(verify, { headers, query, body: bytes, address: 'https://a.example' }) !== 'verified'),
    { numRuns: 300 }
  )
})

await t.test('the content of an event is read as it was written, in each form', async (t) => {
  const text = fc.string({ minLength: 1, maxLength: 20 }).filter((one) => !/[\r\n\0]/.test(one) && one.isWellFormed())
  const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
  const data = fc.dictionary(name,
    fc.oneof(text, fc.dictionary(name, text, { minKeys: 1 }), fc.array(text, { minLength: 1, maxLength: 3 })), { minKeys: 1 })
  for (const form of ['json', 'form', 'query', 'multipart', 'token'] as const) {
    await fc.assert(fc.asyncProperty(data, async (value) => {
      const read = await parseBody({ form }, contentIn({ form }, value))
      t.same(read, { ok: true, value }, form)
      return read.ok
    }), { numRuns: 50 })
  }
  t.same(await parseBody({ form: 'multipart', json: ['/json'] }, contentIn({ form: 'multipart', json: ['/json'] }, { json: { a: [1] } })), {
    ok: true,
    value: { json: { a: [1] } }
  })
})

const bombs: [Parameters<typeof parseBody>[0], string | Buffer][] = [
  [{ form: 'xml' }, '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><a>&d;</a>'],
  [{ form: 'xml' }, '<a>'.repeat(200)],
  [{ form: 'xml' }, '<a><![CDATA['],
  [{ form: 'json' }, '['.repeat(100_000)],
  [{ form: 'json' }, `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  [{ form: 'form' }, `a${'[b]'.repeat(50)}=1`],
  [{ form: 'form' }, 'a=1&a[b]=2'],
  [{ form: 'form' }, '__proto__[polluted]=1'],
  [{ form: 'form' }, 'a&'.repeat(10_001)],
  [{ form: 'form' }, Buffer.from([0xff, 0xfe])],
  [{ form: 'form', json: ['/a'] }, 'a=%7B'],
  [{ form: 'multipart' }, 'no boundary'],
  [{ form: 'multipart' }, '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nnever ends'],
  [{ form: 'multipart' }, `--${'x'.repeat(100)}\r\n`],
  [{ form: 'token' }, 'a.b.c']
]
await t.test('what is no event is a sentence: a bomb, an entity, a prototype, a text without an end', async (t) => {
  for (const [reading, content] of bombs) {
    const read = await parseBody(reading, Buffer.from(content))
    t.equal(read.ok, false, String(content).slice(0, 60))
  }
  t.equal(({} as Record<string, unknown>)['polluted'], undefined)
})
