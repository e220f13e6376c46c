import { randomBytes } from 'node:crypto'
import t from 'tap'
import { letter, letterYaml } from '../../../../../test/plugins/support/templates.ts'
import { contains, has, type Pattern } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { listAudit } from '../../../accounts/audit/audit.ts'
import { encodePng } from '../../../documents/image/png-write.ts'

const service = await startService(t)
const { companyId, admin, member } = await service.company('pictures')
const send = (method: string, path: string, body?: unknown, login: Login = admin): Promise<Answer> =>
  service.send(method, path, body === undefined ? {} : { body }, login)
const uriOf = (bytes: Uint8Array, type = 'png'): string => `data:image/${type};base64,${Buffer.from(bytes).toString('base64')}`
const square = (size: number, shade: number): string =>
  uriOf(encodePng({ width: size, height: size, color: 'rgb', data: Buffer.alloc(size * size * 3, shade) }))
/** One point with an alpha channel. */
const clear = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const bytesOf = async (method: string, path: string, body?: object): Promise<Buffer> =>
  Buffer.from(await (await fetch(service.url + path, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`,
      ...body === undefined ? {} : { 'content-type': 'application/json' }
    },
    ...body === undefined ? {} : { body: JSON.stringify(body) }
  })).arrayBuffer())
const showing = (asset: string, name: string) =>
  letter({
    source: `${
      letterYaml(name).replace(']\n', ', { image: { asset: logo, width: 20, alt: Logo } }]\n')
    }assets: { logo: "asset:${asset}" }\n`
  })

await t.test('a picture is stored under its name, flattened, and read as it is kept', async (t) => {
  const { status, body } = await send('POST', '/api/v1/assets', { name: 'clear', image: clear })
  t.equal(status, 201)
  has(t, body, { name: 'clear', width: 1, height: 1, size: Number, sha256: /^[0-9a-f]{64}$/ })
  t.strictSame((await send('GET', '/api/v1/assets', undefined, member)).body, { data: [body], nextCursor: null })
  const kept = await bytesOf('GET', '/api/v1/assets/clear')
  t.equal(kept.length, body.size)
  t.equal(kept.toString('latin1', 1, 4), 'PNG')
  t.equal(kept.readUInt8(25), 2, 'plain RGB: there is no alpha channel left')
})

await t.test('pages of pictures come by name', async (t) => {
  for (const name of ['b', 'a']) await send('POST', '/api/v1/assets', { name, image: square(2, 7) })
  const first = await send('GET', '/api/v1/assets?limit=2')
  has(t, first.body, { data: [{ name: 'a' }, { name: 'b' }], nextCursor: 'b' })
  has(t, (await send('GET', '/api/v1/assets?limit=2&cursor=b')).body, { data: [{ name: 'clear' }], nextCursor: null })
})

const refused: [rule: string, body: object, answer: Pattern][] = [
  ['a name that is taken', { name: 'clear', image: clear }, { status: 409, body: { error: 'conflict' } }],
  [
    'what is no picture',
    { name: 'new', image: uriOf(Buffer.from('GIF89a'), 'png') },
    { status: 422, body: { error: 'validation_failed', details: [{ path: '/image', code: 'bad_image' }] } }
  ],
  [
    'an address',
    { name: 'new', image: 'https://example.com/logo.png' },
    { status: 422, body: { details: [{ path: '/image', message: /data URI/ }] } }
  ],
  ['a picture of another type than it says', { name: 'new', image: square(2, 7).replace('png', 'jpeg') }, { status: 422 }],
  [
    'a picture that is too large as it is kept',
    { name: 'new', image: uriOf(encodePng({ width: 500, height: 500, color: 'rgb', data: randomBytes(750_000) })) },
    { status: 422, body: { details: [{ code: 'too_large', message: /at most 524288/ }] } }
  ],
  ['a name that no template could say', { name: 'New Logo', image: clear }, { status: 400 }]
]

for (const [rule, body, answer] of refused) {
  await t.test(`${rule} is refused`, async (t) => {
    has(t, await send('POST', '/api/v1/assets', body), answer)
  })
}

await t.test('what does not exist, or is another company\'s, is not there', async (t) => {
  for (const name of ['never', 'x%00', '..%2f', 'A']) t.equal((await send('GET', `/api/v1/assets/${name}`)).status, 404, name)
  t.equal((await service.send('GET', '/api/v1/assets/clear')).status, 404)
  t.equal((await service.send('DELETE', '/api/v1/assets/clear')).status, 404)
  has(t, await service.send('POST', '/api/v1/templates', { body: showing('clear', 'Theirs') }), {
    status: 422,
    body: { details: [{ code: 'unknown_asset' }] }
  })
})

await t.test('a picture is replaced under its name, and names the templates whose newest or published text names it', async (t) => {
  const { body: first } = await send('POST', '/api/v1/assets', { name: 'stamp', image: square(2, 7) })
  t.equal(first.type, 'image/png')
  const { status, body } = await send('PUT', '/api/v1/assets/stamp', { image: square(3, 9) })
  t.equal(status, 200)
  has(t, body, { name: 'stamp', type: 'image/png', width: 3, height: 3 })
  t.not(body.sha256, first.sha256)
  has(t, (await send('GET', '/api/v1/assets')).body.data.filter(({ name }: any) => name === 'stamp'), [{ width: 3 }])
  t.equal((await send('PUT', '/api/v1/assets/never', { image: square(3, 9) })).status, 404)
  t.equal((await send('PUT', '/api/v1/assets/stamp', { image: 'data:image/png;base64,AAAA' })).status, 422)
  const { body: { id } } = await send('POST', '/api/v1/templates', showing('stamp', 'Stamped'))
  t.same((await send('GET', '/api/v1/assets/stamp/templates', undefined, member)).body.data, [{
    templateId: id,
    name: 'Stamped',
    version: 1,
    published: false
  }])
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })
  t.equal((await send('GET', '/api/v1/assets/stamp/templates')).body.data[0].published, true)
  t.equal((await send('GET', '/api/v1/assets/never/templates')).status, 404)
  await send('DELETE', '/api/v1/assets/stamp')
  await send('DELETE', `/api/v1/templates/${id}`)
})

await t.test('a version keeps the picture that it was made with, whatever becomes of its name', async (t) => {
  await send('POST', '/api/v1/assets', { name: 'logo', image: square(4, 10) })
  const { body: { id, warnings } } = await send('POST', '/api/v1/templates', showing('logo', 'Pictured'))
  t.strictSame(warnings, [])
  await send('POST', `/api/v1/templates/${id}/publish`, { version: 1 })
  const preview = (version: number): Promise<Buffer> => bytesOf('POST', `/api/v1/templates/${id}/preview`, { version, format: 'HTML' })
  const before = await preview(1)
  contains(t, before.toString(), /src="data:image\/png;base64/)
  t.equal((await send('DELETE', '/api/v1/assets/logo')).status, 204)
  t.equal((await preview(1)).toString(), before.toString())
  t.equal((await send('POST', '/api/file', { template: { id, data: { name: 'Ada' } } })).status, 200)
  has(t, await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...showing('logo', 'Pictured') }), {
    status: 422,
    body: { details: [{ path: '/source', code: 'unknown_asset', line: 5, message: /no asset "logo"/ }] }
  })

  await send('POST', '/api/v1/assets', { name: 'logo', image: square(4, 200) })
  t.equal((await send('PUT', `/api/v1/templates/${id}`, { baseVersion: 1, ...showing('logo', 'Pictured') })).status, 200)
  t.not((await preview(2)).toString(), before.toString())
  t.equal((await preview(1)).toString(), before.toString())
})

await t.test('a name that is nearly right is told', async (t) => {
  has(t, await send('POST', '/api/v1/templates', showing('lgo', 'Typing')), {
    status: 422,
    body: { details: [{ message: /no asset "lgo" \(did you mean "logo"\?\)/ }] }
  })
})

await t.test('pictures come and go in the audit log', async (t) => {
  const rows = await listAudit(service.app.get('database'), companyId, { object: 'asset/logo' }, { limit: 10 })
  t.strictSame(rows.map(({ action }) => action), ['asset.created', 'asset.deleted', 'asset.created'])
})
