import { buildCatalog, chooseVersion, inspectPackage, makeKeys, openCatalog, signCatalog, takePackage } from '@dispatch/marketplace'
import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import core from '../../core/package.json' with { type: 'json' }
import { packProvider } from '../../scripts/provider/pack.ts'
import { scaffoldProvider } from '../../scripts/provider/scaffold.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'
import { fillIn } from '../support/scaffold.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** A new provider that passes the kit, with a publisher: in TypeScript, or in JavaScript, whose types are not checked. */
async function acme (t: Test, entry = 'index.js'): Promise<string> {
  const folder = await scaffoldProvider({ code: 'acme', service: 'sms', directory: await directory(t) })
  await fillIn(folder)
  if (entry !== 'index.ts') await rename(join(folder, 'index.ts'), join(folder, entry))
  const own = { publisher: 'Acme Ltd', license: 'MIT', exports: `./${entry}` }
  await edit(folder, 'package.json', (text) => JSON.stringify({ ...JSON.parse(text), ...own }))
  return folder
}

async function edit (folder: string, path: string, change: (text: string) => string): Promise<void> {
  await writeFile(join(folder, path), change(await readFile(join(folder, path), 'utf8')))
}

async function write (folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

async function command (cwd: string, ...given: string[]): Promise<{ code: number, stdout: string, stderr: string }> {
  try {
    const env = { ...process.env, INIT_CWD: undefined }
    return { code: 0, ...await run(process.execPath, [join(root, 'scripts/provider.ts'), 'pack', ...given], { cwd, env }) }
  } catch (error) {
    return error as { code: number, stdout: string, stderr: string }
  }
}

await t.test('a provider in TypeScript becomes a package that an installation accepts', async (t) => {
  const folder = await acme(t, 'index.ts')
  await write(folder, { 'CHANGELOG.md': '# 1.0.0\n\nThe first one.\n', LICENSE: 'Do what you like.\n', 'notes.txt': 'For me alone.' })
  const out = await directory(t)
  const { code, stdout, stderr } = await command(out, folder)
  t.same([code, stderr], [0, ''])
  contains(t, stdout, /^\S+dispatch-provider-acme-1\.0\.0\.tgz: \d+ bytes, the kit passed \d{2,} cases\.\nsha512-\S{88}\n$/)
  const bytes = await readFile(join(out, 'dispatch-provider-acme-1.0.0.tgz'))
  const { manifest, files } = inspectPackage(bytes, { integrity: /sha512-\S+/.exec(stdout)?.[0] ?? '', sdk: core.version })
  t.same([...files.keys()], ['LICENSE', 'README.md', 'fixtures/send.accepted.json', 'index.js', 'manifest.json', 'package.json'])
  has(t, manifest, {
    package: 'dispatch-provider-acme',
    publisher: 'Acme Ltd',
    sdk: `^${core.version}`,
    licence: 'MIT',
    changelog: '# 1.0.0\n\nThe first one.\n',
    conformance: { status: 'passed', kit: core.version },
    provider: { code: 'acme', version: '1.0.0', hosts: ['api.acme.example.com'], settings: { required: ['apiKey'] } }
  })
})

await t.test('npm and tar take it for a package', async (t) => {
  const [out, elsewhere] = [await directory(t), await directory(t)]
  const { path } = await packProvider(await acme(t), { out, unchecked: true })
  const { stdout } = await run('tar', ['-tvzf', path], { env: { ...process.env, TZ: 'UTC' } })
  t.same(stdout.trim().split('\n').map((line) => line.replaceAll(/ +\d+ (?=\d{4}-)/g, ' ').split(' ').filter((part) => part !== '')), [
    ['package/README.md'],
    ['package/fixtures/send.accepted.json'],
    ['package/index.js'],
    ['package/manifest.json'],
    ['package/package.json']
  ].map(([name]) => ['-rw-r--r--', '0/0', '1985-10-26', '08:15', name]))
  await writeFile(join(elsewhere, 'package.json'), '{ "private": true }')
  // The peer is the running service's own; npm would look for it in a registry.
  await run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', path], { cwd: elsewhere })
  t.same((await readdir(join(elsewhere, 'node_modules/dispatch-provider-acme'))).sort(), [
    'README.md',
    'fixtures',
    'index.js',
    'manifest.json',
    'package.json'
  ])
})

await t.test('the same folder gives the same bytes, wherever it lies, whatever the times and modes of its files', async (t) => {
  const folder = await acme(t)
  const copy = join(await directory(t), 'a folder with another name')
  await cp(folder, copy, { recursive: true })
  for (const path of ['index.js', 'README.md', 'package.json']) {
    await utimes(join(copy, path), new Date(0), new Date(0))
    await chmod(join(copy, path), 0o700)
  }
  const packed = await Promise.all([folder, copy].map(async (one) => packProvider(one, { out: await directory(t), unchecked: true })))
  t.equal(packed[0]?.integrity, packed[1]?.integrity)
  t.same(...await Promise.all(packed.map(({ path }) => readFile(path))) as [Buffer, Buffer])
  await edit(copy, 'README.md', (text) => `${text} `)
  t.not((await packProvider(copy, { out: await directory(t), unchecked: true })).integrity, packed[0]?.integrity)
})

await t.test('its own packages are bundled, and their licences come with it', async (t) => {
  const folder = await acme(t)
  await write(folder, {
    'node_modules/shout/package.json': '{ "name": "shout", "version": "2.1.0", "license": "ISC", "main": "lib/index.js" }',
    'node_modules/shout/lib/package.json': '{ "type": "commonjs" }',
    'node_modules/shout/lib/index.js':
      'const { createHash } = require("node:crypto"); exports.shout = (text) => text + createHash.name.length',
    'node_modules/shout/LICENSE.md': 'ISC: keep this text.',
    'node_modules/shout/NOTICE': 'Made by Ada.',
    'node_modules/quiet/package.json': '{ "name": "quiet", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
    'node_modules/quiet/index.js': 'export const quiet = (text) => text',
    'node_modules/unused/package.json': '{ "name": "unused", "version": "1.0.0" }'
  })
  await edit(folder, 'index.js', (text) =>
    `import { shout } from 'shout'\nimport { quiet } from 'quiet'\n` +
    text.replace('name: \'Acme\'', 'name: quiet(shout(\'Acme\'))'))
  const { path } = await packProvider(folder, { out: await directory(t), unchecked: true })
  const { files, manifest } = inspectPackage(await readFile(path))
  t.equal(manifest.provider.name, 'Acme10')
  t.equal(files.get('LICENSES.txt')?.toString(),
    `quiet 1.0.0 (no licence named)\n\n\n\n${'-'.repeat(80)}\n\nshout 2.1.0 (ISC)\n\nISC: keep this text.\n\nMade by Ada.\n`)
})

await t.test('one that fails the kit is not packed, unless it is to be unchecked', async (t) => {
  const out = await directory(t)
  const folder = await acme(t)
  await edit(folder, 'index.js', (text) => text.replace('text: request.sms.message', 'text: \'\''))
  const { code, stderr } = await command(out, folder)
  t.equal(code, 2)
  contains(t, stderr, /^It fails the conformance kit, so it was not packed\.\n\nacme\n[^]*✗ replay: /)
  t.same(await readdir(out), [])
  const unchecked = await command(out, folder, '--unchecked', '--json')
  has(t, JSON.parse(unchecked.stdout), { path: join(out, 'dispatch-provider-acme-1.0.0.tgz'), conformance: { status: 'not_run' } })
})

await t.test('what cannot be packed is told, and nothing is written', async (t) => {
  const out = await directory(t)
  const refused = async (change: (folder: string) => Promise<void>, reason: RegExp, entry = 'index.js'): Promise<void> => {
    const folder = await acme(t, entry)
    await change(folder)
    await t.rejects(packProvider(folder, { out, unchecked: true }), reason, String(reason))
  }
  await refused((folder) => edit(folder, 'index.ts', (text) => text.replace('request.sms.message', 'request.sms.massage')),
    /^Its types do not fit:\nindex\.ts:\d+: Property 'massage' does not exist/, 'index.ts')
  await refused(async (folder) => {
    await write(dirname(folder), { 'shared.js': 'export const name = \'Acme\'\n' })
    await edit(folder, 'index.js', (text) => `import { name } from '../shared.js'\n${text.replace('name: \'Acme\'', 'name')}`)
  }, /^It imports \.\.\/shared\.js, outside of its folder and of its packages\.$/)
  await refused((folder) => edit(folder, 'index.js', (text) => `import 'missing'\n${text}`), /index\.js:1: Could not resolve "missing"/)
  await refused((folder) => edit(folder, 'package.json', (text) => text.replace('publisher', 'keeper')),
    /^package\.json must name whoever publishes the package: "publisher" or "author"\.$/)
  await refused((folder) => edit(folder, 'package.json', (text) => text.replace('"peerDependencies"', '"peers"')),
    /has no version range of/)
  t.same(await readdir(out), [])
  has(t, await command(out, 'nowhere'), { code: 2, stderr: /^There is no folder \S+nowhere\.\n$/ })
})

await t.test('a signature of the publisher lies beside the tarball, and a catalog passes it on', async (t) => {
  const [out, publisher, keeper] = [await directory(t), await makeKeys(), await makeKeys()]
  await writeFile(join(out, 'acme.private.json'), JSON.stringify(publisher.privateKey))
  const { path } = await packProvider(await acme(t), { out, unchecked: true, key: join(out, 'acme.private.json') })
  const placed = { place: 'acme.tgz', bytes: await readFile(path), signature: await readFile(`${path}.jws`, 'utf8') }
  const now = new Date()
  const publishers = [{ id: 'Acme Ltd', tier: 'private' as const, keys: [publisher.publicKey] }]
  const jws = await signCatalog(await buildCatalog([placed], { now, days: 1, publishers }), keeper.privateKey)
  const catalog = await openCatalog(jws, { keys: [keeper.publicKey], now })
  t.equal((await takePackage(chooseVersion(catalog, { code: 'acme' }), placed.bytes)).manifest.provider.code, 'acme')
})
