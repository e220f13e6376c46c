import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import t from 'tap'
import { callContext, installedProvider, invoice, outside } from '../../../../test/fixtures/providers/call.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { Json, JsonObject } from '../../common/json.ts'
import { vendorNetwork, type VendorReply } from '../../conformance/vendor/vendor.ts'
import type { HttpCall } from '../../vendor-io/http/call.ts'
import type { Network } from '../../vendor-io/network.ts'
import { callDispatch, type Outcome } from '../call/dispatch.ts'
import { allowedHosts } from '../manifest/allowed-hosts.ts'
import type { Context } from '../manifest/context.ts'
import { isVerb } from '../manifest/verbs.ts'
import { Host, Secret, Type } from '../provider.ts'
import { hostProblems, widthInWords } from '../settings/hosts.ts'

const { vendor, network } = await vendorOf(t)
const key = 'fake_key_0d4f7b21c96e8a35'
const named = 'https://ours.s3.cloud.test/a/file?signature=1'
const Reported = Type.Object({ body: Type.Union([Type.Null(), Type.Object({ address: Type.Optional(Type.String()) })]) })
const file = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'a.pdf',
  contentType: 'application/pdf',
  size: 2,
  sha256: hash('sha256', 'ab')
}
type Call = Context<{ key: string, server?: string }, JsonObject>
/** What a provider does with the address that it was told. */
type Use = (address: string, call: Call) => Promise<unknown>

const put: Use = (address, { http }) => http.put(address, { text: 'x' }, Type.Unknown())

/** A dispatch that asks its vendor for an address, and uses what it was answered, or another one. */
async function dispatched (
  answer: VendorReply,
  { use = put, address, from = 'https://api.acme.test/uploads', over = network }: {
    use?: Use
    address?: string
    from?: string
    over?: Network
  } = {}
): Promise<Outcome> {
  vendor.on('POST /uploads', answer)
  const dispatch = async (_request: unknown, call: Call): Promise<JsonObject> => {
    const { body } = await call.http.post(from, { replyHeaders: ['x-upload'] }, Reported)
    await use(address ?? body?.address ?? named, call)
    return { id: '1', status: 'sent' }
  }
  if (!isVerb(dispatch)) throw new TypeError('no verb')
  const provider = installedProvider({
    hosts: ['api.acme.test', 'named *.s3.cloud.test'],
    settings: Type.Object({ key: Secret(), server: Type.Optional(Host()) }),
    services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch } }
  }, { dispatch })
  const documents = { ...outside().documents, read: () => Promise.resolve(Readable.from([Buffer.from('ab')])) }
  const context = callContext({ settings: { key, server: 'theirs.test' }, resources: outside({ network: over, documents }) })
  return await callDispatch(provider, 'invoicing', invoice({ document: file }), context)
}

const requested = (): string[] => vendor.requests.map(({ method, host, path }) => `${method} ${host}${path}`)
vendor.on('PUT /a/file', {})
vendor.on('GET /a/file', { text: '%PDF-' })

await t.test('an address that the vendor names in its answer counts for one request', async (t) => {
  const answers: VendorReply[] = [
    { json: { address: named } },
    { json: { data: [{ links: { upload: named } }] } },
    { headers: { location: named } },
    { headers: { 'x-upload': named } },
    { json: { address: `${named}#part` } }
  ]
  for (const answer of answers) {
    vendor.requests.length = 0
    t.equal((await dispatched(answer)).outcome, 'accepted', JSON.stringify(answer))
    t.strictSame(requested(), ['POST api.acme.test/uploads', 'PUT ours.s3.cloud.test/a/file'])
    t.equal(vendor.requests[1]?.query['signature'], '1')
  }
  const twice: Use = async (address, call) => {
    await put(address, call)
    await put(address, call)
  }
  vendor.requests.length = 0
  has(t, await dispatched({ json: { address: named } }, { use: twice }), { outcome: 'uncertain' })
  t.equal(requested().filter((line) => line.startsWith('PUT')).length, 1)
})

await t.test('nothing else counts, whatever an answer says', async (t) => {
  const hostile: [string, Json, string?][] = [
    ['another host', { address: 'https://evil.test/a/file' }],
    ['the domain itself', { address: 'https://s3.cloud.test/a/file' }],
    ['a name that only ends so', { address: 'https://evils3.cloud.test/a/file' }],
    ['a name that only begins so', { address: 'https://ours.s3.cloud.test.evil.test/a/file' }],
    ['a user name', { address: 'https://ours.s3.cloud.test@evil.test/a/file' }],
    ['a user name at the right host', { address: 'https://u:p@ours.s3.cloud.test/a/file' }],
    ['no TLS', { address: 'http://ours.s3.cloud.test/a/file' }],
    ['an address of our network', { address: 'https://10.0.0.1/a/file' }],
    ['the metadata of a cloud', { address: 'https://169.254.169.254/latest/' }],
    ['a number', { address: 'https://2130706433/.s3.cloud.test' }],
    ['what is no address', { address: 'ours.s3.cloud.test/a/file' }],
    ['an address within a text', { address: `see ${named}` }, named],
    ['nothing', {}, named],
    ['another path', { address: named }, 'https://ours.s3.cloud.test/a/other?signature=1'],
    ['another query', { address: named }, 'https://ours.s3.cloud.test/a/file?signature=2'],
    ['no query', { address: named }, 'https://ours.s3.cloud.test/a/file'],
    ['another port', { address: named }, 'https://ours.s3.cloud.test:8443/a/file?signature=1'],
    ['another name below', { address: named }, 'https://theirs.s3.cloud.test/a/file?signature=1'],
    ['a longer address', { address: named }, `${named}&more=1`],
    ['more addresses than are kept', { list: Array.from({ length: 100 }, (_, index) => `${named}${index}0`), last: named }, named]
  ]
  for (const [name, json, address] of hostile) {
    vendor.requests.length = 0
    const outcome = await dispatched({ json }, address === undefined ? {} : { address })
    t.not(outcome.outcome, 'accepted', name)
    t.strictSame(requested(), ['POST api.acme.test/uploads'], name)
  }
})

await t.test('an answer that is none names nothing', async (t) => {
  for (const answer of [{ status: 400, json: { address: named } }, { status: 302, headers: { location: named } }]) {
    vendor.requests.length = 0
    const use: Use = () => Promise.resolve()
    await dispatched(answer, { use })
    t.strictSame(requested(), ['POST api.acme.test/uploads'], 'and no redirect is followed')
  }
  const goingOn: Use = async (address, call) => {
    await call.http.get('https://api.acme.test/broken', {}, Type.Unknown()).catch(() => undefined)
    await put(address, call)
  }
  vendor.on('GET /broken', { status: 404, json: { address: named } })
  contains(t, JSON.stringify(await dispatched({ json: {} }, { use: goingOn, address: named })), /may not call/)
})

await t.test('a host that was named names no others', async (t) => {
  const next = 'https://next.s3.cloud.test/b'
  vendor.on('PUT /a/file', { json: { address: next } })
  const onward: Use = async (address, call) => {
    await put(address, call)
    await put(next, call)
  }
  vendor.requests.length = 0
  t.not((await dispatched({ json: { address: named } }, { use: onward })).outcome, 'accepted')
  t.strictSame(requested(), ['POST api.acme.test/uploads', 'PUT ours.s3.cloud.test/a/file'])
  vendor.on('PUT /a/file', {})
})

await t.test('the parts of one document go to one address, until the last one', async (t) => {
  const inParts: Use = async (address, { http }) => {
    for (const [from, to] of [[0, 1], [1, 2]] as const) await http.put(address, { part: { document: file, from, to } }, Type.Unknown())
    await http.put(address, { text: 'x' }, Type.Unknown())
  }
  vendor.requests.length = 0
  has(t, await dispatched({ json: { address: named } }, { use: inParts }), { outcome: 'uncertain' }, 'after the last part it is closed')
  t.strictSame(vendor.requests.map(({ headers }) => headers['content-range']), [undefined, 'bytes 0-0/2', 'bytes 1-1/2'])
})

await t.test('what one call was told is nothing to the next', async (t) => {
  const ignoring: Use = () => Promise.resolve()
  t.equal((await dispatched({ json: { address: named } }, { use: ignoring })).outcome, 'accepted')
  has(t, await dispatched({ json: {} }, { address: named }), { error: { message: /may not call "ours\.s3\.cloud\.test"/ } })
})

await t.test('it is sent no sign-in and no secret', async (t) => {
  const bearing: HttpCall[] = [
    { bearer: 'some-token' },
    { basic: ['user', 'password'] },
    { apiKey: { header: 'x-key', value: 'some-key' } },
    { headers: { authorization: 'Bearer some-token' } },
    { headers: { cookie: 'session=1' } },
    { headers: { 'x-note': key } },
    { json: { note: `for ${key}` } },
    { form: { note: key } },
    { text: key },
    { multipart: { note: key } },
    { query: { more: '1' } }
  ]
  for (const call of bearing) {
    vendor.requests.length = 0
    const use: Use = (address, { http }) => http.put(address, call, Type.Unknown())
    has(t, await dispatched({ json: { address: named } }, { use }), { error: { message: /may not call "ours\.s3\.cloud\.test" with a/ } })
    t.strictSame(requested(), ['POST api.acme.test/uploads'], JSON.stringify(call))
  }
})

await t.test('a name that leads to an address of our network is refused like any other', async (t) => {
  const inside = vendorNetwork(vendor, {
    route: (name) => name === 'api.acme.test' ? { host: '127.0.0.1', port: vendor.port } : undefined,
    resolve: () => Promise.resolve(['10.0.0.1'])
  })
  t.teardown(() => inside.close())
  has(t, await dispatched({ json: { address: named } }, { over: inside }), {
    error: { message: '"ours.s3.cloud.test" cannot be found, or has no permitted address.' }
  })
})

await t.test('something may be fetched from it, too', async (t) => {
  const fetch: Use = (address, { http }) => http.get(address, {}, Type.Unknown())
  t.equal((await dispatched({ json: { address: named } }, { use: fetch })).outcome, 'accepted')
})

await t.test('the consent tells what is named, and a suffix must belong to somebody', (t) => {
  contains(t, widthInWords('named *.s3.cloud.test') ?? '', /that the vendor names in its answers/)
  t.strictSame(hostProblems(['named *.s3.amazonaws.com', 'named *.blob.core.windows.net', 'named files.acme.com']), [])
  t.strictSame(hostProblems(['named *.co.uk', 'named *.com', '*.s3.amazonaws.com']).map(({ path }) => path), ['/hosts/0', '/hosts/1',
    '/hosts/2'])
  const manifest = { code: 'acme', hosts: ['api.acme.test', 'named *.s3.{region}.cloud.test'], settings: Type.Object({ region: Host() }) }
  t.same(allowedHosts({ ...manifest, settings: { ...manifest.settings, additionalProperties: false } }, { region: 'eu-1' }), {
    provider: 'acme',
    declared: ['api.acme.test'],
    chosen: [],
    named: ['*.s3.eu-1.cloud.test']
  })
  t.end()
})
