import { type Bucket, createS3Files } from '@dispatch/files'
import { createHmac, hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'

const credentials = { accessKeyId: 'ours', secretAccessKey: 'secret of ours' }
const region = 'eu-central-1'

/** The signature of a request by AWS Signature Version 4, computed from what arrived. */
function signatureOf ({ method, url = '', headers }: IncomingMessage, signed: string): string {
  const { pathname, searchParams } = new URL(url, 'http://bucket')
  const query = [...searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort().join('&')
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`).join('')
  const canonical = [method, pathname, query, lines, signed, headers['x-amz-content-sha256']].join('\n')
  const [time, day] = [String(headers['x-amz-date']), String(headers['x-amz-date']).slice(0, 8)]
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`
  )
  const text = ['AWS4-HMAC-SHA256', time, `${day}/${region}/s3/aws4_request`, hash('sha256', canonical)].join('\n')
  return createHmac('sha256', key).update(text).digest('hex')
}

type Seen = { what: string, encryption: unknown, key: unknown, signed: string[], signature: 'right' | 'wrong' }

/** A bucket that keeps what it is given, and notes how each request asks for encryption and whether its signature is right. */
async function notingBucket (t: Test): Promise<{ endpoint: string, seen: Seen[] }> {
  const [seen, objects, parts]: [Seen[], Map<string, Buffer>, Buffer[]] = [[], new Map(), []]
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket')
      const [, signed = '', signature] = /SignedHeaders=([^,]+), ?Signature=(\w+)/.exec(request.headers.authorization ?? '') ?? []
      seen.push({
        what: `${request.method ?? ''}${
          [...searchParams.keys()].filter((name) => name !== 'x-id').sort().map((name) => ` ${name}`).join('')
        }`,
        encryption: request.headers['x-amz-server-side-encryption'],
        key: request.headers['x-amz-server-side-encryption-aws-kms-key-id'],
        signed: signed.split(';').filter((name) => name.includes('encryption')),
        signature: signatureOf(request, signed) === signature ? 'right' : 'wrong'
      })
      if (request.method === 'GET') return response.end(objects.get(pathname))
      if (searchParams.has('partNumber')) parts[Number(searchParams.get('partNumber')) - 1] = body
      else if (request.method === 'PUT') objects.set(pathname, body)
      else if (searchParams.has('uploadId')) objects.set(pathname, Buffer.concat(parts))
      const name = searchParams.has('uploads') ? 'InitiateMultipartUploadResult' : 'CompleteMultipartUploadResult'
      response.setHeader('etag', '"one"')
      return response.end(request.method === 'POST' ? `<${name}><UploadId>upload</UploadId><ETag>"one"</ETag></${name}>` : '')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const [small, large] = [randomBytes(20_000), randomBytes(9_000_000)]
const requested: [Bucket['encryption'], Pick<Seen, 'encryption' | 'key' | 'signed'>][] = [
  [undefined, { encryption: undefined, key: undefined, signed: [] }],
  [{ algorithm: 'AES256' }, { encryption: 'AES256', key: undefined, signed: ['x-amz-server-side-encryption'] }],
  [{ algorithm: 'aws:kms', keyId: 'key-of-ours' }, {
    encryption: 'aws:kms',
    key: 'key-of-ours',
    signed: ['x-amz-server-side-encryption', 'x-amz-server-side-encryption-aws-kms-key-id']
  }]
]

for (const [encryption, desired] of requested) {
  await t.test(`encryption by ${encryption?.algorithm ?? 'the bucket'} is asked for where an object begins, in what is signed`, async (t) => {
    const { endpoint, seen } = await notingBucket(t)
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    const files = createS3Files({
      bucket: { name: 'documents', prefix: 'ours/', region, endpoint, pathStyle: true, credentials, ...encryption && { encryption } },
      folder: t.testdir({}),
      log: silent
    })
    await files.put('documents/7/a', small)
    const received = await files.receive('documents/7/b', Readable.from([large]))
    t.strictSame(seen.map(({ signature }) => signature), seen.map(() => 'right'))
    const beginning = seen.filter(({ what }) => what === 'PUT' || what === 'POST uploads')
    t.strictSame(beginning.map(({ what, encryption, key, signed }) => ({ what, encryption, key, signed })), [
      { what: 'PUT', ...desired },
      { what: 'POST uploads', ...desired }
    ])
    t.ok(seen.filter(({ what }) => what === 'PUT partNumber uploadId').length > 1)

    // S3 decrypts for whoever may use the key, and refuses a download that asks for encryption.
    const a = { key: 'documents/7/a', size: small.length, sha256: hash('sha256', small) }
    t.ok((await buffer(await files.stream(a))).equals(small))
    t.ok((await buffer(await files.stream({ key: 'documents/7/b', ...received }))).equals(large))
    t.strictSame(seen.filter(({ what }) => what === 'GET').map(({ encryption, key, signature }) => [encryption, key, signature]), [
      [undefined, undefined, 'right'],
      [undefined, undefined, 'right']
    ])
  })
}
