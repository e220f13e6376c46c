import { CreateBucketCommand, CreateMultipartUploadCommand, DeleteBucketCommand, DeleteObjectCommand, ListObjectsV2Command,
  S3Client } from '@aws-sdk/client-s3'
import { documentFiles } from '@dispatch/core'
import { type Bucket, createS3Files } from '@dispatch/files'
import { hash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { has } from '../support/matching.ts'
import { invoiceRequest, seededDatabase, startService } from '../support/service.ts'
import { startSwift, swiftCredentials as credentials, withoutSwift as skip } from '../support/swift.ts'

const name = 'documents-of-ours'
const endpoint = skip === false ? await startSwift(t) : ''
const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials })
if (skip === false) await client.send(new CreateBucketCommand({ Bucket: name }))

const bucketFor = (prefix: string, changes: Partial<Bucket> = {}): Bucket => ({
  name,
  prefix,
  region: 'us-east-1',
  endpoint,
  pathStyle: true,
  credentials,
  ...changes
})

type Line = [level: string, facts: object, message: string]

function filesIn (t: Test, bucket: Bucket) {
  const folder = t.testdir({})
  const lines: Line[] = []
  const noting = (level: string) => (facts: object, message: string) => void lines.push([level, facts, message])
  const log = { debug: noting('debug'), info: noting('info'), warn: noting('warn'), error: noting('error') }
  return { folder, lines, files: documentFiles(createS3Files({ bucket, folder, log })) }
}

const bytes = Buffer.from('%PDF-1.7 '.repeat(20_000))
const file = { key: 'documents/7/2026-03-14/a', size: bytes.byteLength, sha256: hash('sha256', bytes) }
const failed = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

await t.test('what is put or received is read again, once it was checked, and leaves nothing on this machine', { skip }, async (t) => {
  const { folder, files } = filesIn(t, bucketFor('one/'))
  await files.ready()
  await files.put(file.key, bytes)
  await files.check(file)
  t.same(await buffer(await files.stream(file)), bytes)
  // More than one part.
  const large = randomBytes(20_000_000)
  const received = await files.receive('documents/7/2026-03-14/b', Readable.from([large.subarray(0, 7_000_000), large.subarray(7_000_000)]))
  t.strictSame([received.size, received.sha256, Buffer.from(received.head)], [large.length, hash('sha256', large), large.subarray(0, 4100)])
  t.same(await buffer(await files.stream({ key: 'documents/7/2026-03-14/b', ...received })), large)
  const none = await files.receive('documents/7/2026-03-14/c', Readable.from([]))
  t.strictSame([none.size, none.sha256], [0, hash('sha256', '')])
  t.strictSame(await files.list('documents/7/2026-03-14'), ['a', 'b', 'c'].map((key) => `documents/7/2026-03-14/${key}`))
  t.strictSame(await files.list('documents/7'), [])
  t.strictSame(readdirSync(folder), [])
})

await t.test('a file is removed once, and one that another prefix has is not there', { skip }, async (t) => {
  const { files } = filesIn(t, bucketFor('two/'))
  await files.put(file.key, bytes)
  await filesIn(t, bucketFor('three/')).files.remove(file.key)
  await files.check(file)
  await files.remove(file.key)
  await files.remove(file.key)
  t.strictSame(await files.list('documents/7/2026-03-14'), [])
})

await t.test('of a file that is not what was stored nobody gets a byte', { skip }, async (t) => {
  const { folder, files } = filesIn(t, bucketFor('four/'))
  const damages: [bytes: Buffer | undefined, told: RegExp][] = [
    [undefined, /: its file is missing\./],
    [bytes.subarray(1), /has 179999 bytes instead of 180000/],
    [Buffer.concat([bytes.subarray(1), Buffer.from('!')]), /: its SHA-256 is another\./]
  ]
  for (const [found, message] of damages) {
    if (found !== undefined) await files.put(file.key, found)
    for (const way of [files.check, files.stream]) has(t, await failed(way(file)), { word: 'document_damaged', message })
  }
  t.strictSame(readdirSync(folder), [])
})

await t.test('what breaks off leaves nothing behind, and what a process left is listed as a draft and removed', { skip }, async (t) => {
  const { files, lines } = filesIn(t, bucketFor('five/'))
  const broken = Readable.from((function* () {
    yield randomBytes(20_000_000)
    throw new Error('broken off')
  })())
  has(t, await failed(files.receive(file.key, broken)), { message: 'broken off' })
  t.strictSame([await files.list('documents/7/2026-03-14'), lines], [[], []])
  await client.send(new CreateMultipartUploadCommand({ Bucket: name, Key: `five/${file.key}` }))
  t.strictSame(await files.list('documents/7/2026-03-14'), [`${file.key}.part`])
  await files.remove(`${file.key}.part`)
  t.strictSame(await files.list('documents/7/2026-03-14'), [])
})

await t.test('a wrong key, a wrong bucket or no server is told at the start and in the log, without the secret', { skip }, async (t) => {
  const wrongs: [changes: Partial<Bucket>, reason: RegExp][] = [
    [{ credentials: { ...credentials, secretAccessKey: 'another secret' } }, /SignatureDoesNotMatch: .*\(403\)/],
    [{ name: 'nobodys-bucket' }, /NoSuchBucket: .*\(404\)/],
    [{ endpoint: 'http://127.0.0.1:9' }, /ECONNREFUSED/]
  ]
  for (const [changes, message] of wrongs) {
    const { files, lines } = filesIn(t, bucketFor('six/', changes))
    has(t, await failed(files.ready()), { message })
    has(t, await failed(files.put(file.key, bytes)), { word: 'service_unavailable' })
    t.strictSame(lines.map(([level, , text]) => [level, text]), [['error', 'the storage of documents did not do what it was asked']])
    t.notOk(JSON.stringify(lines).includes('another secret'))
  }
})

await t.test('a document that one process made is sent and served by another, which shares the database and the buckets alone', { skip },
  async (t) => {
    const places = { storage: bucketFor('seven/'), dataKeys: { bucket: bucketFor('keys/') } }
    const [databaseUrl, config] = [await seededDatabase(t), places]
    const [one, other] = [await startService(t, { databaseUrl, config }), await startService(t, { databaseUrl, config })]
    const { body } = await one.send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'S3-1' }) })
    const { status, bytes } = await download(other, body.generatedDocument.id)
    t.strictSame([status, bytes.subarray(0, 5).toString()], [200, '%PDF-'])
    t.strictSame(readdirSync(one.app.get('config').dataDirectory, { recursive: true }).filter((path) => /files|spool\//.test(String(path))),
      [])
  })

await t.test('while the bucket cannot be used nothing is sent, and a retry sends', { skip }, async (t) => {
  const Bucket = 'away-for-a-while'
  await client.send(new CreateBucketCommand({ Bucket }))
  const service = await startService(t, { config: { storage: bucketFor('', { name: Bucket }) } })
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }))
  for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket, Key }))
  await client.send(new DeleteBucketCommand({ Bucket }))
  const refused = await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number: 'S3-2' }) })
  has(t, refused, { status: 503, body: { error: 'service_unavailable', message: 'The storage of documents cannot be used now.' } })
  await client.send(new CreateBucketCommand({ Bucket }))
  const retried = await service.send('POST', `/api/v1/dispatches/${refused.body.dispatchId}/retry`, {})
  has(t, retried, { status: 200, body: { status: 'succeeded', generatedDocument: { filename: 'Invoice-S3-2.pdf' } } })
})

async function download ({ url }: { url: string }, id: string): Promise<{ status: number, bytes: Buffer }> {
  const authorization = `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}`
  const response = await fetch(`${url}/api/v1/documents/${id}`, { headers: { authorization } })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}
