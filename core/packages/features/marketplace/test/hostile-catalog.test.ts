import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { packed } from '../../../../../test/support/adapters.ts'
import { has } from '../../../../../test/support/matching.ts'
import { type Answer, operator, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork, type VendorReply } from '../../../conformance/vendor/vendor.ts'

const server = await createVendor()
t.teardown(server.close)
const address = 'https://catalogs.acme.test/'
const keyFile = join(await directory(t), 'key.json')
const { privateKey, publicKey } = await makeKeys()
await writeFile(keyFile, JSON.stringify(publicKey))

const bytes = Buffer.from(packed({ code: 'acme', version: '1.0.0', conforms: 1 }))
const payload = await buildCatalog([{ place: 'acme-1.0.0.tgz', bytes }], { now: new Date(), days: 90 })
const good = { text: await signCatalog(payload, privateKey) }
const serve = (catalog: VendorReply, tarball: VendorReply = { body: bytes }): void => {
  server.on(`GET /${catalogFile}`, catalog)
  server.on('GET /acme-1.0.0.tgz', tarball)
}
serve(good)
const service = await startService(t, {
  config: { catalogs: [{ address, keyFiles: [keyFile] }] },
  replacements: { network: vendorNetwork(server) }
})
const market = (method: string, path = '', body?: unknown): Promise<Answer> =>
  service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
const install = (): Promise<Answer> => market('POST', '/acme/install', { consent: { hosts: ['api.acme.test'], services: ['invoicing'] } })
const folder = join(service.app.get('config').dataDirectory, 'adapters')

await t.test('a server that lies about the catalog is told, and the catalog before goes on', async (t) => {
  has(t, await market('POST', '/refresh'), { body: { data: [{ address, serial: 1 }] } })
  for (const [reply, code] of [
    [{ status: 302, headers: { location: 'https://evil.test/catalog.jws' } }, 'source_redirects'],
    [{ text: 'no signature' }, 'signature_invalid'],
    [{ body: Buffer.alloc(1), headers: { 'content-length': String(64 * 1024 * 1024) } }, 'source_length'],
    [{ cut: 'in-reply' }, 'source_unavailable'],
    [{ status: 500 }, 'source_unavailable']
  ] as [VendorReply, string][]) {
    serve(reply)
    has(t, await market('POST', '/refresh'), { body: { data: [{ address, problem: { code } }] } }, code)
    has(t, (await market('GET')).body.data, [{ code: 'acme', state: 'available' }], code)
  }
  serve(good)
})

await t.test('a package that the server changes, redirects or cuts is refused with its word, and leaves nothing', async (t) => {
  for (const [reply, codes] of [
    [{ status: 302, headers: { location: 'https://evil.test/acme.tgz' } }, ['source_redirects']],
    [{ body: Buffer.concat([bytes, bytes]) }, ['source_length']],
    [{ body: bytes.subarray(0, 100) }, ['integrity_mismatch']],
    [{ body: Buffer.from(bytes).fill(0, 20, 30) }, ['integrity_mismatch']],
    [{ cut: 'in-reply' }, ['source_unavailable']],
    [{ status: 404 }, ['source_unavailable']]
  ] as [VendorReply, string[]][]) {
    serve(good, reply)
    const refused = await install()
    t.same([refused.status, refused.body.details.map(({ code }: { code: string }) => code)], [422, codes])
    t.same(await readdir(folder).catch(() => []), [])
    has(t, (await market('GET', '/acme')).body, { state: 'available', versions: [{ here: false }], problem: { code: codes[0] } })
  }
})

await t.test('a server that hangs keeps nobody who looks at an adapter', async (t) => {
  serve(good, { body: bytes, delay: 60_000 })
  const begun = performance.now()
  has(t, (await market('GET', '/acme')).body, { state: 'available', problem: { code: 'source_timeout' } })
  t.ok(performance.now() - begun < 30_000)
  serve(good)
  has(t, await install(), { status: 200, body: { version: '1.0.0' } })
})
