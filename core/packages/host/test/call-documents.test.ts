import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import t from 'tap'
import { callContext, installedProvider, invoice, outside } from '../../../../test/fixtures/providers/call.ts'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { DocumentHandle } from '../../common/fields.ts'
import type { JsonObject } from '../../common/json.ts'
import { createDocuments } from '../../vendor-io/call-documents.ts'
import { createOwnDocuments } from '../../vendor-io/documents/own-documents.ts'
import { bodyOf } from '../../vendor-io/http/body.ts'
import { createProgress } from '../../vendor-io/outcome/request-outcome.ts'
import { callDispatch, type Outcome } from '../call/dispatch.ts'
import type { Context } from '../manifest/context.ts'
import { isVerb } from '../manifest/verbs.ts'
import { type SmtpMessage, Type } from '../provider.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/send'
/** Bytes with every sign of base64, `+`, `/` and `=` among them. */
const content = Buffer.from(Array.from({ length: 1000 }, (_, index) => index * 7 % 256))
const document: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: content.byteLength,
  sha256: hash('sha256', content)
}
const base64 = content.toString('base64')

type Call = Context<JsonObject, JsonObject>
type Work = (call: Call, file: DocumentHandle) => Promise<unknown>

async function called (work: Work): Promise<Outcome> {
  vendor.requests.length = 0
  vendor.answer({ json: {} })
  const dispatch = async ({ document: file }: { document: DocumentHandle }, call: Call): Promise<JsonObject> => {
    await work(call, file)
    return { id: '1', status: 'sent' }
  }
  if (!isVerb(dispatch)) throw new TypeError('no verb')
  const provider = installedProvider({
    hosts: ['api.acme.test'],
    settings: Type.Object({}),
    services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch } }
  }, { dispatch })
  const read = (): Promise<Readable> =>
    Promise.resolve(Readable.from(Array.from({ length: 10 }, (_, index) => content.subarray(index * 100, (index + 1) * 100)), {
      objectMode: false
    }))
  const documents = { ...outside().documents, read }
  return await callDispatch(provider, 'invoicing', invoice({ document }), callContext({ resources: outside({ network, documents }) }))
}

/** What a provider is answered, as it stands. */
async function reported<Value> (work: (call: Call, file: DocumentHandle) => Promise<Value>): Promise<Value | undefined> {
  const found: Value[] = []
  const outcome = await called(async (call, file) => found.push(await work(call, file)))
  t.equal(outcome.outcome, 'accepted')
  return found[0]
}

const post = (body: object): Work => ({ http }) => http.post(url, body, Type.Unknown())

await t.test('a document stands in a form as its base64, also in JSON of a field, and the length is known', async (t) => {
  await called((call, file) => post({ form: { to: 'Zoë +', file, list: [{ file }], more: { json: { files: [file], n: 1 } } } })(call, file))
  const { body, form, headers } = vendor.requests[0]!
  t.strictSame(form, { to: 'Zoë +', file: base64, 'list[0][file]': base64, more: JSON.stringify({ files: [base64], n: 1 }) })
  t.equal(headers['content-length'], String(body.byteLength))
  t.equal(headers['transfer-encoding'], undefined)
  await called(post({ form: { a: { json: [1] }, b: undefined, c: [1, 2] } }))
  t.strictSame(vendor.requests[0]?.pairs, [['a', '[1]'], ['c', '1'], ['c', '2']])
})

await t.test('in a form it is streamed', async (t) => {
  const large = { ...document, size: 5 * 1024 * 1024 }
  const piece = Buffer.alloc(64 * 1024, 0xFF)
  let reads = 0
  const read = (): Promise<Readable> => {
    reads++
    return Promise.resolve(Readable.from(Array.from({ length: 80 }, () => piece), { objectMode: false }))
  }
  const { measure, open } = bodyOf({ form: { large } }, { read, own: createOwnDocuments({ large }) }, () => true)
  const whole = String(new URLSearchParams({ large: Buffer.alloc(large.size, 0xFF).toString('base64') }))
  t.equal(await measure?.(), whole.length)
  let largest = 0
  for await (const bytes of open() as AsyncIterable<Buffer>) largest = Math.max(largest, bytes.byteLength)
  t.ok(largest <= 6 * piece.byteLength, `${largest} bytes`)
  t.equal(reads, 2)
})

await t.test('its base64 is a body, and so is a part of it', async (t) => {
  await called((call, file) => call.http.post(url, { base64: file }, Type.Unknown()))
  has(t, vendor.requests[0], {
    body: Buffer.from(base64),
    headers: { 'content-type': 'text/plain', 'content-length': String(base64.length) }
  })
  for (const [from, to] of [[0, 1000], [0, 1], [99, 101], [100, 200], [250, 1000], [999, 1000]] as const) {
    await called((call, file) => call.http.put(url, { part: { document: file, from, to } }, Type.Unknown()))
    const { body, headers } = vendor.requests[0]!
    t.ok(body.equals(content.subarray(from, to)), `${from} to ${to}`)
    t.equal(headers['content-range'], `bytes ${from}-${to - 1}/1000`)
    t.equal(headers['content-length'], String(to - from))
  }
  for (const [from, to] of [[0, 0], [5, 4], [-1, 4], [0, 1001], [0.5, 2]] as const) {
    has(t, await called((call, file) => call.http.put(url, { part: { document: file, from, to } }, Type.Unknown())), {
      outcome: 'unavailable'
    })
    t.equal(vendor.requests.length, 0)
  }
})

await t.test('its hashes are told, of its bytes or of their base64', async (t) => {
  for (const algorithm of ['md5', 'sha1', 'sha256', 'sha512'] as const) {
    t.equal(await reported(({ documents }, file) => documents.digest(file, { algorithm })), hash(algorithm, content))
    t.equal(await reported(({ documents }, file) => documents.digest(file, { algorithm, encoding: 'base64', of: 'base64' })),
      hash(algorithm, base64, 'base64'))
  }
})

await t.test('its bytes are told, a bounded number at a time', async (t) => {
  t.same(await reported(({ documents }, file) => documents.bytes(file, 0, 1000)), new Uint8Array(content))
  t.same(await reported(({ documents }, file) => documents.bytes(file, 150, 160)), new Uint8Array(content.subarray(150, 160)))
  t.same(await reported(({ documents }, file) => documents.bytes(file, 7, 7)), new Uint8Array())
  for (const [from, to] of [[0, 1001], [-1, 1], [2, 1]] as const) {
    has(t, await called(({ documents }, file) => documents.bytes(file, from, to)), { outcome: 'unavailable' })
  }
  const huge = { ...document, id: document.id.replace('1', '2') }
  has(t, await called(({ documents }) => documents.bytes(huge, 0, 1)), { outcome: 'unavailable' }, 'none of this call')
  has(t, await called(({ documents }) => documents.digest(huge, { algorithm: 'md5' })), { outcome: 'unavailable' })
})

await t.test('what an answer has in base64 becomes a document of the call, and nothing else does', async (t) => {
  const kept: string[] = []
  const keep = async (bytes: Readable, about: { filename: string, contentType: string }): Promise<DocumentHandle> => {
    kept.push((await bytes.toArray() as Buffer[]).map((piece) => piece.toString('latin1')).join(''))
    return { ...document, ...about }
  }
  const about = { filename: 'F-2.pdf', contentType: 'application/pdf' }
  const { documents } = createDocuments({
    documents: { read: () => Promise.reject(new Error('not read')), keep },
    own: createOwnDocuments({}),
    progress: createProgress({ passed: false }),
    ended: new AbortController().signal
  })
  has(t, await documents.keep({ base64: `${base64.slice(0, 76)}\r\n${base64.slice(76)}`, ...about }), about)
  t.strictSame(kept, [content.toString('latin1')])
  for (const broken of ['', '\n', '=', 'JVBERi0x<html>', 'data:application/pdf;base64,JVBERi0x']) {
    await t.rejects(documents.keep({ base64: broken, ...about }), TypeError, broken)
  }
  t.equal(kept.length, 1)
})

const letter: SmtpMessage = {
  id: 'step-1',
  date: '2026-03-14T09:30:00Z',
  from: 'Zoë <zoe@example.com>',
  to: ['ada@example.com'],
  bcc: ['hidden@example.com'],
  subject: 'Facture n° 1',
  html: '<p>Bonjour é</p>',
  text: 'Bonjour é',
  headers: { 'X-Reference': '1' },
  attachments: [document]
}

await t.test('an e-mail is a document, which goes wherever one goes, the same each time', async (t) => {
  await called(async ({ documents, http }) => {
    const mail = await documents.compose(letter)
    await http.post(url, { document: mail }, Type.Unknown())
    await http.post(url, { json: { raw: mail } }, Type.Unknown())
    await http.post(url, { base64: await documents.compose(letter) }, Type.Unknown())
    await http.post(url, { multipart: { to: 'ada@example.com', message: mail } }, Type.Unknown())
  })
  const [raw, json, whole, multipart] = vendor.requests
  const text = raw?.body.toString() ?? ''
  t.equal(raw?.headers['content-type'], 'message/rfc822')
  contains(t, text, /^From: =\?UTF-8\?Q\?Zo=C3=AB\?= <zoe@example\.com>\r\n/m)
  contains(t, text, /^Bcc: hidden@example\.com\r\n/m)
  contains(t, text, /^Subject: =\?UTF-8\?Q\?Facture_n=C2=B0_1\?=\r\n/m)
  contains(t, text, /^Message-ID: <step-1@example\.com>\r\n/m)
  contains(t, text, /^Date: Sat, 14 Mar 2026 09:30:00 \+0000\r\n/m)
  contains(t, text.replaceAll('\r\n', ''), base64)
  t.same(json?.json, { raw: raw?.body.toString('base64') })
  t.equal(whole?.body.toString(), raw?.body.toString('base64'))
  t.ok(raw !== undefined && multipart?.parts?.[1]?.body.equals(raw.body))
  await called(async ({ documents, http }) => http.post(url, { document: await documents.compose({ ...letter, bcc: [] }) }, Type.Unknown()))
  lacks(t, vendor.requests[0]?.body.toString(), 'hidden')
})

await t.test('what is no e-mail is refused before anything is sent', async (t) => {
  const wrong: Partial<SmtpMessage>[] = [{ to: ['nobody'] }, { subject: 'a\r\nBcc: x@example.com' }, { headers: { 'X-A': 'b\nc' } }]
  for (const part of wrong) {
    has(t, await called(({ documents }) => documents.compose({ ...letter, ...part })), { outcome: 'rejected' }, JSON.stringify(part))
    t.equal(vendor.requests.length, 0)
  }
})
