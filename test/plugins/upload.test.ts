import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { contains, has, type Pattern } from '../support/matching.ts'
import { startService } from '../support/service.ts'

const service = await startService(t)
const authorization = `Basic ${Buffer.from('demo@example.com:demo-password').toString('base64')}`
const documents = join(service.app.get('config').dataDirectory, 'files', 'documents')

type Part = { name: string, content: string | Buffer, filename?: string, type?: string }
const file: Part = { name: 'file', content: 'Hello', filename: 'hello.txt', type: 'text/plain' }

/** A form by hand, so that a test may put anything into it. */
function form (parts: readonly Part[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ name, content, filename, type }) => [
      Buffer.from('--edge\r\nContent-Disposition: form-data; ' +
        `name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}${
          type === undefined ? '' : `\r\nContent-Type: ${type}`
        }\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n')
    ]),
    Buffer.from('--edge--\r\n')
  ])
}

const headers = { 'content-type': 'multipart/form-data; boundary=edge', authorization }
const upload = async (parts: readonly Part[], query = ''): Promise<{ status: number, body: any }> => {
  const answer = await fetch(`${service.url}/api/upload${query}`, { method: 'POST', headers, body: form(parts) as never })
  return { status: answer.status, body: await answer.json() }
}

/** The files that are kept. */
const kept = async (): Promise<string[]> =>
  (await readdir(documents, { recursive: true, withFileTypes: true }).catch(() => [])).filter((entry) => entry.isFile()).map(({ name }) =>
    name
  )

await t.test('texts come before or after the file, as plain texts or as JSON', async (t) => {
  const metadata = { name: 'metadata', content: '{"orderId":"A-1"}' }
  const forms = [
    [metadata, file],
    [file, metadata],
    [file, { ...metadata, type: 'application/json' }],
    [
      { ...metadata, type: 'application/json; charset=utf-8' },
      file
    ]
  ]
  for (const parts of forms) {
    const uploaded = await upload(parts)
    has(t, uploaded, {
      status: 200,
      body: { metadata: { orderId: 'A-1' }, generatedDocument: { filename: 'hello.txt', contentType: 'text/plain' } }
    })
    const { id } = uploaded.body.generatedDocument
    const stored = await fetch(`${service.url}/api/v1/documents/${String(id)}`, { headers: { authorization } })
    t.same([stored.status, await stored.text()], [200, 'Hello'], 'the file is kept')
  }
})

await t.test('a form that is not one file and known texts is refused, and leaves nothing', async (t) => {
  const before = await kept()
  const wrong: [string, Part[], Pattern][] = [
    ['no file', [{ name: 'metadata', content: '{}' }], { path: '/file', code: 'required' }],
    ['two files', [file, file], { path: '/file', code: 'too_many' }],
    ['a file and another', [file, { ...file, name: 'other' }], { path: '/file', code: 'too_many' }],
    ['another file alone', [{ ...file, name: 'other' }], { path: '/file', code: 'too_many' }],
    ['a text as the file', [{ name: 'file', content: 'Hello' }], { path: '/file', code: 'type' }],
    ['an unknown text', [file, { name: 'metdata', content: '{}' }], { path: '/metdata', code: 'unknown_field' }],
    [
      'a text twice',
      [file, { name: 'metadata', content: '{}' }, { name: 'metadata', content: '{}' }],
      { path: '/metadata', code: 'unknown_field' }
    ],
    ['metadata that is not JSON', [file, { name: 'metadata', content: '{' }], { path: '/metadata', code: 'json' }],
    ['JSON that is not JSON', [file, { name: 'metadata', content: '{', type: 'application/json' }], { path: '/metadata', code: 'json' }],
    ['nested metadata', [file, { name: 'metadata', content: '{"a":{}}' }], { path: '/metadata/a', code: 'type' }]
  ]
  for (const [what, parts, problem] of wrong) {
    has(t, await upload(parts), { status: 400, body: { error: 'validation_error', details: [problem] } }, what)
  }
  t.same(await kept(), before)
})

await t.test('what is too large is a 413, and leaves nothing', async (t) => {
  const before = await kept()
  const large = Buffer.alloc(50 * 1024 * 1024 + 1)
  const tooLarge = { status: 413, body: { error: 'payload_too_large' } }
  has(t, await upload([{ ...file, content: large }]), tooLarge, 'the file')
  has(t, await upload([file, { name: 'metadata', content: large.subarray(0, 64 * 1024 + 1) }]), tooLarge, 'a text')
  has(t, await upload([file, ...Array.from({ length: 21 }, (_, index) => ({ name: `f${index}`, content: '' }))]), tooLarge,
    'the number of texts')
  t.same(await kept(), before)
})

await t.test('an upload that breaks off leaves nothing', async (t) => {
  const before = await kept()
  const whole = form([{ ...file, content: Buffer.alloc(200_000) }])
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write(`POST /api/upload HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: ` +
    `${headers['content-type']}\r\nContent-Length: ${whole.length}\r\n\r\n`)
  socket.write(whole.subarray(0, 150_000))
  while ((await kept()).length === before.length) await new Promise(setImmediate)
  socket.destroy()
  while ((await kept()).length > before.length) await new Promise(setImmediate)
  t.same(await kept(), before)
})

await t.test('who cannot say whether to wait is refused before a byte of the file is taken', async (t) => {
  const before = await readdir(documents, { recursive: true })
  has(t, await upload([file], '?async=perhaps'), { status: 400, body: { details: [{ path: '/query/async', code: 'type' }] } })
  t.strictSame(await readdir(documents, { recursive: true }), before)
})

await t.test('a storage that fails is not the client\'s fault', async (t) => {
  await rm(documents, { recursive: true })
  await writeFile(documents, 'no folder')
  has(t, await upload([file]), { status: 500, body: { error: 'internal_error' } })
  contains(t, service.log.join('\n'), /ENOTDIR/, 'the reason stands in the log')
  await rm(documents)
  await mkdir(documents)
  t.equal((await upload([file])).status, 200)
})
