import type { DocumentHandle } from '@dispatch/common'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import t from 'tap'
import { outside } from '../../../../test/fixtures/providers/call.ts'
import { httpOf, vendorOf } from '../../../../test/support/vendor.ts'
import { Type } from '../../host/provider.ts'
import { createOwnDocuments } from '../documents/own-documents.ts'
import { bodyOf } from '../http/body.ts'
import type { HttpOptions } from '../http/client.ts'
import { failureOf } from '../outcome/failure.ts'

const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/messages'
const Sent = Type.Object({ id: Type.String() })

/** A document of a call, by its bytes. */
function documentOf (bytes: Buffer, number: number): DocumentHandle {
  return {
    id: `01960000-0000-7000-8000-00000000000${number}`,
    filename: 'F-1.pdf',
    contentType: 'application/pdf',
    size: bytes.byteLength,
    sha256: createHash('sha256').update(bytes).digest('hex')
  }
}

/** A call with these documents, which are read in pieces of `size` bytes. */
function withDocuments (contents: readonly Buffer[], size = 2): Pick<HttpOptions, 'documents' | 'own'> & { handles: DocumentHandle[] } {
  const handles = contents.map(documentOf)
  const read = ({ id }: DocumentHandle): Promise<Readable> => {
    const bytes = contents[handles.findIndex((handle) => handle.id === id)] ?? Buffer.alloc(0)
    const pieces = Array.from({ length: Math.ceil(bytes.byteLength / size) },
      (_, index) => bytes.subarray(index * size, (index + 1) * size))
    return Promise.resolve(Readable.from(pieces, { objectMode: false }))
  }
  return { handles, documents: { ...outside().documents, read }, own: createOwnDocuments({ document: handles }) }
}

await t.test('a document in JSON is the base64 of its bytes, and the length is known', async (t) => {
  vendor.answer({ json: { id: '1' } })
  for (const size of [1, 2, 3, 7, 64]) {
    const contents = ['', '%', '%P', '%PDF', '%PDF-2.0'].map((text) => Buffer.from(text))
    const { handles, ...call } = withDocuments(contents, size)
    const json = { name: 'Zoë', files: handles.map((data, index) => ({ data, index })), again: { ...handles[3], filename: 'other.pdf' } }
    await httpOf(network, call).post(url, { json }, Sent)
    const { headers, body, json: got } = vendor.requests.at(-1)!
    t.same(got, {
      name: 'Zoë',
      files: contents.map((bytes, index) => ({ data: bytes.toString('base64'), index })),
      again: contents[3]?.toString('base64')
    })
    t.equal(headers['content-type'], 'application/json')
    t.equal(headers['content-length'], String(body.byteLength))
  }
})

await t.test('so it is in the JSON of a part', async (t) => {
  vendor.answer({ json: { id: '1' } })
  const { handles: [file], ...call } = withDocuments([Buffer.from('%PDF')])
  await httpOf(network, call).post(url, { multipart: { about: { json: { file } }, n: 1 } }, Sent)
  const { headers, body, parts = [] } = vendor.requests.at(-1)!
  t.same(parts.map((part) => part.body.toString()), ['{"file":"JVBERg=="}', '1'])
  t.equal(headers['content-length'], String(body.byteLength))
})

await t.test('a large document is streamed: no piece of the body is larger than what is read of it at once', async (t) => {
  const size = 20 * 1024 * 1024
  const bytes = Buffer.alloc(size, 'large ')
  const { handles: [file], documents: { read }, own } = withDocuments([bytes], 64 * 1024)
  const { length, open } = bodyOf({ json: { file } }, { read, own }, () => true)
  let sent = 0
  let largest = 0
  const digest = createHash('sha256')
  for await (const piece of open() as AsyncIterable<Buffer>) {
    sent += piece.byteLength
    largest = Math.max(largest, piece.byteLength)
    digest.update(piece)
  }
  t.equal(sent, length)
  t.equal(length, '{"file":""}'.length + Math.ceil(size / 3) * 4)
  t.ok(largest <= 128 * 1024, `${largest} bytes`)
  t.equal(digest.digest('hex'), createHash('sha256').update(JSON.stringify({ file: bytes.toString('base64') })).digest('hex'))
})

await t.test('what looks like a handle and is no document of the call is data, also where the client wrote it', async (t) => {
  vendor.answer({ json: { id: '1' } })
  const [mine, theirs] = [documentOf(Buffer.from('mine'), 1), documentOf(Buffer.from('theirs'), 2)]
  const renamed = { ...mine, sha256: theirs.sha256 }
  const { sha256: _, ...unsigned } = theirs
  const own = createOwnDocuments({ document: mine, data: { theirs }, metadata: { theirs } })
  await httpOf(network, { own }).post(url, { json: { theirs, renamed, unsigned } }, Sent)
  t.same(vendor.requests.at(-1)?.json, { theirs, renamed, unsigned })
})

await t.test('a document that was fetched can be sent on', async (t) => {
  const kept = documentOf(Buffer.from('kept'), 1)
  const documents = { read: () => Promise.resolve(Readable.from([Buffer.from('kept')])), keep: () => Promise.resolve(kept) }
  vendor.answer({ json: { id: '1' } })
  const http = httpOf(network, { documents })
  await http.post(url, { json: await http.download(url, { filename: 'x' }) }, Sent)
  t.equal(vendor.requests.at(-1)?.json, Buffer.from('kept').toString('base64'))
})

await t.test('anywhere else it is refused in a sentence, and nothing is sent', async (t) => {
  const { handles: [file], ...options } = withDocuments([Buffer.from('%PDF')])
  const before = vendor.requests.length
  const rest = 'which takes texts only: the bytes of a document go into "json", "form", "multipart" or "document".'
  const text = '[object Object]'
  // Plain JavaScript has no types.
  for (const [address, call, sentence] of [
    [url, { query: { to: [{ file }] } }, 'A document stands in the query[to][0][file]'],
    [url, { query: { file } }, 'A document stands in the query[file]'],
    [url, { headers: { 'X-File': file } }, 'An object stands in the header "X-File"'],
    [url, { headers: { 'X-File': text } }, 'An object stands in the header "X-File"'],
    [`${url}/${text}?a=b`, {}, 'An object stands in the path'],
    [`${url}/${encodeURIComponent(text)}`, {}, 'An object stands in the path']
  ] as const) {
    const failure = await httpOf(network, options).post(address, call as object, Sent).then(() => undefined, failureOf)
    t.same(failure, { word: 'provider_unavailable', ours: true, message: `${sentence}, ${rest}` })
  }
  t.equal(vendor.requests.length, before)
})
