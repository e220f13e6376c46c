import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { packed, type Packing } from '../../../../../test/support/adapters.ts'
import { has, matches } from '../../../../../test/support/matching.ts'
import { startNpmRegistry } from '../../../../../test/support/npm-registry.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import { createNetwork } from '../../../vendor-io/network.ts'

const registry = await startNpmRegistry(t)
const root = await directory(t)
const folder = join(root, 'catalog')
await mkdir(folder)
const { privateKey, publicKey } = await makeKeys()
await writeFile(join(root, 'key.json'), JSON.stringify(publicKey))
await writeFile(join(root, '.npmrc'), `${registry.url.slice('http:'.length)}:_authToken=secret\n`)

/** Publishes a package as its author does, with the real npm. */
async function publish (packing: Packing): Promise<void> {
  const file = `${packing.code}-${packing.version}.tgz`
  await writeFile(join(root, file), packed(packing))
  const env = { ...process.env, npm_config_userconfig: join(root, '.npmrc'), npm_config_cache: join(root, 'npm'), NODE_OPTIONS: '' }
  await promisify(execFile)('npm', ['publish', `./${file}`, '--registry', registry.url], { cwd: root, env })
}

await publish({ code: 'npm-a', version: '1.0.0' })
await publish({ code: 'npm-a', version: '1.1.0' })
const network = createNetwork({ loopback: 'allowed' })
t.teardown(() => network.close())
const service = await startService(t, {
  config: { catalogs: [{ address: folder, keyFiles: [join(root, 'key.json')] }], prices: { invoicing: 0 } },
  replacements: { network, renderer: quickRenderer }
})
const market = (method: string, path = '', body?: unknown): Promise<Answer> =>
  service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
const add = (npm: string, more: object = {}): Promise<Answer> => market('POST', '/packages', { npm, registry: registry.url, ...more })
const consent = { hosts: ['api.acme.test'], services: ['invoicing'] }

await t.test('what "npm publish" has sent is installed and dispatches; its signature and provenance are shown', async (t) => {
  const integrity = registry.documents.get('npm-a-adapter')?.versions['1.0.0']?.dist.integrity
  has(t, await add('npm:npm-a-adapter@1.0.0'), {
    status: 201,
    body: {
      code: 'npm-a',
      state: 'available',
      tier: 'private',
      versions: [{
        integrity,
        registry: {
          address: registry.url,
          name: 'npm-a-adapter',
          signature: 'verified',
          provenance: { repository: 'https://github.com/acme/dispatch-provider-acme', commit: '0a1b2c3d' }
        }
      }]
    }
  })
  has(t, await market('POST', '/npm-a/install', { version: '1.0.0', consent }), { status: 200, body: { version: '1.0.0' } })
  await service.send('PUT', '/api/v1/company/providers/npm-a', { body: { settings: {} } })
  has(t, await service.send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'npm-a' }) }), {
    status: 200,
    body: { providerResponse: { status: '1.0.0' } }
  })
  t.equal((await add('npm:npm-a-adapter@1.1.0')).status, 201)
  has(t, await market('POST', '/npm-a/upgrade', { version: '1.1.0', consent }), { status: 200, body: { version: '1.1.0' } })
})

await t.test('a registry that lies, leads elsewhere, hangs up or sends a bomb is refused, and nothing stays', async (t) => {
  const { tarball } = registry.documents.get('npm-a-adapter')!.versions['1.0.0']!.dist
  const [paths, whole] = [{ document: '/npm-b-adapter', tarball: new URL(tarball).pathname.replaceAll('npm-a', 'npm-b') }, packed({
    code: 'npm-b',
    version: '1.0.0'
  })]
  await publish({ code: 'npm-b', version: '1.0.0' })
  const good = JSON.parse(JSON.stringify(registry.documents.get('npm-b-adapter')))
  const says = (change: (version: Record<string, any>) => void): RequestListener => (_, response) => {
    const document = JSON.parse(JSON.stringify(good))
    change(document.versions['1.0.0'])
    response.end(JSON.stringify(document))
  }
  const redirect: RequestListener = (_, response) => response.writeHead(302, { location: 'https://evil.test/' }).end()
  const cases: [what: string, code: string, path: string, answer: RequestListener][] = [
    ['other bytes', 'integrity_mismatch', paths.tarball,
      (_, response) => response.end(packed({ code: 'npm-b', version: '1.0.0', head: '//' }))],
    ['another integrity', 'integrity_mismatch', paths.document, says(({ dist }) => dist.integrity = `sha512-${'A'.repeat(86)}==`)],
    ['a weak integrity', 'integrity_mismatch', paths.document, says(({ dist }) => dist.integrity = 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=')],
    ['another signature', 'signature_invalid', paths.document, says(({ dist }) => dist.signatures[0].sig = 'MAAA')],
    ['another package', 'manifest_mismatch', paths.document, says((version) => version['name'] = 'other')],
    ['a tarball elsewhere', 'source_redirects', paths.document, says(({ dist }) => dist.tarball = 'http://169.254.169.254/latest.tgz')],
    ['a redirect', 'source_redirects', paths.document, redirect],
    ['a redirect of the tarball', 'source_redirects', paths.tarball, redirect],
    ['no JSON', 'source_unavailable', paths.document, (_, response) => response.end('<html>')],
    ['JSON of another form', 'source_unavailable', paths.document, says((version) => version['dist'] = [])],
    ['no such version', 'version_unknown', paths.document, (_, response) => response.end('{"versions":{}}')],
    ['the end of a connection', 'source_unavailable', paths.tarball, ({ socket }) => socket.destroy()],
    ['more than is permitted', 'source_length', paths.tarball, (_, response) => {
      response.writeHead(200, { 'content-length': String(64 * 1024 * 1024) }).write('x')
    }],
    ['documents without end', 'source_length', paths.document, (_, response) => {
      const more = (): void => void response.write(Buffer.alloc(1024 * 1024, ' '), (error) => error ?? more())
      more()
    }],
    ['the provenance of other bytes', 'integrity_mismatch', '/-/npm/v1/attestations/npm-b-adapter@1.0.0', (_, response) => {
      const payload = Buffer.from(JSON.stringify({ subject: [{ digest: { sha512: '00' } }] })).toString('base64')
      response.end(
        JSON.stringify({ attestations: [{ predicateType: 'https://slsa.dev/provenance/v1', bundle: { dsseEnvelope: { payload } } }] })
      )
    }]
  ]
  for (const [what, code, path, answer] of cases) {
    registry.instead.set(path, answer)
    const refused = await add('npm:npm-b-adapter@1.0.0')
    t.same([refused.status, refused.body.details?.[0]?.code], [422, code], what)
    registry.instead.delete(path)
  }
  registry.instead.set('/-/npm/v1/keys', (_, response) => response.writeHead(404).end())
  for (const [npm, to, code] of [
    ['npm:npm-b-adapter', registry.url, 'source_invalid'],
    ['npm:npm-b-adapter@^1.0.0', registry.url, 'source_invalid'],
    ['npm:../../etc@1.0.0', registry.url, 'source_invalid'],
    ['npm:npm-b-adapter@1.0.0', 'http://registry.example.com/', 'source_invalid'],
    ['npm:npm-b-adapter@1.0.0', 'https://me:secret@registry.example.com/', 'source_invalid'],
    ['npm:npm-z-adapter@1.0.0', registry.url, 'source_unavailable']
  ]) {
    has(t, await add(npm!, { registry: to }), { status: 422, body: { details: [{ path: '/npm', code }] } }, `${npm} ${to}`)
  }
  has(t, await market('POST', '/packages', { npm: 'npm:a@1.0.0', package: 'AAAA' }), { status: 422 })
  t.equal((await market('GET', '/npm-b')).status, 404, 'nothing of it is here')
  has(t, await add('npm:npm-b-adapter@1.0.0'), { status: 201, body: { versions: [{ registry: { signature: 'unchecked' } }] } })
  registry.instead.clear()
  t.ok(whole.length > 0)
})

await t.test('a catalog lists packages of a registry by name, version and integrity, and hosts nothing', async (t) => {
  await publish({ code: 'npm-c', version: '1.0.0' })
  const bytes = await readFile(join(root, 'npm-c-1.0.0.tgz'))
  const attested = { kit: '1.1.0', passed: 120, skipped: 3, at: new Date().toISOString(), by: 'Keepers Ltd' }
  const publishers = [{ id: 'Acme Ltd', tier: 'verified' as const }]
  const plan = { now: new Date(), days: 90, registry: registry.url, publishers }
  const payload = await buildCatalog([{ place: 'npm:npm-c-adapter@1.0.0', bytes, attested }], plan)
  await writeFile(join(folder, catalogFile), await signCatalog(payload, privateKey))
  has(t, await market('POST', '/refresh'), { body: { data: [{ serial: 1, adapters: 1 }] } })
  has(t, await market('GET', '/npm-c'), {
    body: { state: 'available', tier: 'verified', versions: [{ here: false, conformance: { status: 'passed', by: 'Keepers Ltd' } }] }
  })
  // The registry has other bytes under the version now, and says so: the curator has signed others.
  const document = JSON.parse(JSON.stringify(registry.documents.get('npm-c-adapter')))
  await writeFile(join(root, 'other.tgz'), packed({ code: 'npm-c', version: '1.0.0', head: '// other' }))
  document.versions['1.0.0'].dist.integrity = `sha512-${'B'.repeat(86)}==`
  registry.instead.set('/npm-c-adapter', (_, response) => response.end(JSON.stringify(document)))
  const refused = await market('POST', '/npm-c/install', { consent })
  t.same([refused.status, refused.body.details[0].code], [422, 'integrity_mismatch'])
  registry.instead.clear()
  has(t, await market('POST', '/npm-c/install', { consent }), {
    status: 200,
    body: {
      state: 'installed',
      tier: 'verified',
      versions: [{
        here: true,
        conformance: { status: 'passed', kit: '1.1.0', passed: 120, by: 'Keepers Ltd' },
        registry: { signature: 'verified', provenance: { commit: '0a1b2c3d' } }
      }]
    }
  })
})

await t.test('a package under a name of somebody else is refused with both, unless the operator says whose it is', async (t) => {
  const upload = (packing: Packing, more: object = {}): Promise<Answer> =>
    market('POST', '/packages', { package: Buffer.from(packed(packing)).toString('base64'), ...more })
  const cases: [what: string, packing: Packing, sentence: RegExp][] = [
    ['the code of another one', { code: 'npm-c', version: '6.0.0', publisher: 'Mallory' },
      /by "Mallory", and the code "npm-c" belongs to .*Acme Ltd/],
    ['the name of a publisher that a catalog knows', { code: 'npm-d', version: '1.0.0' },
      /by "Acme Ltd", and the catalog .* knows "Acme Ltd" \(verified\)/],
    ['the name that people see', { code: 'npm-e', version: '1.0.0', publisher: 'Mallory', says: { name: 'Sample npm-c' } },
      /its name "Sample npm-c" is that of "npm-c"/]
  ]
  for (const [what, packing, sentence] of cases) {
    const refused = await upload(packing)
    t.same([refused.status, refused.body.details[0].code], [409, 'whose_package'], what)
    matches(t, refused.body.message, sentence)
  }
  has(t, await upload({ code: 'npm-d', version: '1.0.0' }, { publisher: 'Mallory' }), {
    status: 409,
    body: { details: [{ code: 'other_publisher' }] }
  })
  has(t, await upload({ code: 'npm-d', version: '1.0.0' }, { publisher: 'Acme Ltd' }), { status: 201, body: { tier: 'private' } })
})
