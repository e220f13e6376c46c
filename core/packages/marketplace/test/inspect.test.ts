import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { inspectPackage } from '../index.ts'
import { createPathRegister, pathInPackage } from '../package/paths.ts'
import { packageLimits, readTarball, writeTarball } from '../package/tarball.ts'
import { type Entry, jsonIn, manifestOf, packageOf, refusalOf, refuses, resultOf, soundEntries, tarballOf } from './support.ts'

const with_ = (...entries: Entry[]) => tarballOf([...soundEntries(), ...entries])
const file = (path: string, content: Buffer | string = 'x'): Entry => ({ path, content })
const manifestWith = (changes: object) => tarballOf(soundEntries({ 'manifest.json': { ...jsonIn('manifest.json'), ...changes } }))
const jsonWith = (changes: object) => tarballOf(soundEntries({ 'package.json': { ...jsonIn('package.json'), ...changes } }))
const zeros = (bytes: number) => Buffer.alloc(bytes)

/** What an attacker, or a mistake, may put into a tarball, and the word for it. */
const corpus: [what: string, code: string, bytes: () => Buffer][] = [
  ['an absolute path', 'path_unsafe', () => with_(file('/etc/passwd'))],
  ['an absolute path of Windows', 'path_unsafe', () => with_(file('C:\\windows\\a.js'))],
  ['a path upwards', 'path_unsafe', () => with_(file('package/../../a.js'))],
  ['a path upwards with backslashes', 'path_unsafe', () => with_(file('package/..\\..\\a.js'))],
  ['a path beside the folder', 'path_unsafe', () => with_(file('other/a.js'))],
  ['the folder itself as a file', 'path_unsafe', () => with_(file('package'))],
  ['an empty part', 'path_unsafe', () => with_(file('package//a.js'))],
  ['a part that is a point', 'path_unsafe', () => with_(file('package/./a.js'))],
  ['a control character', 'path_unsafe', () => with_(file('package/a\u0007.js'))],
  ['an invisible character', 'path_unsafe', () => with_(file('package/a\u200B.js'))],
  ['a character that turns the direction', 'path_unsafe', () => with_(file('package/a\u202Esj.js'))],
  ['a name that is no UTF-8', 'path_unsafe', () => with_(file('package/a\uFFFD.js'))],
  ['a stream of NTFS', 'path_unsafe', () => with_(file('package/index.js:hidden'))],
  ['a device of Windows', 'path_unsafe', () => with_(file('package/NUL.js'))],
  ['a name with a space at its end', 'path_unsafe', () => with_(file('package/index.js '))],
  ['a name with a point at its end', 'path_unsafe', () => with_(file('package/index.js.'))],
  ['a long path', 'path_unsafe', () => with_(file(`package/${'a/'.repeat(80)}b.js`))],
  ['the same path twice', 'path_collision', () => with_(file('package/index.js'))],
  ['paths of different case', 'path_collision', () => with_(file('package/INDEX.js'))],
  ['folders of different case', 'path_collision', () => with_(file('package/lib/a.js'), file('package/Lib/b.js'))],
  ['paths of different forms of Unicode', 'path_collision', () => with_(file('package/\u00E9.js'), file('package/e\u0301.js'))],
  ['compatible characters of Unicode', 'path_collision', () => with_(file('package/\uFB01.js'), file('package/fi.js'))],
  ['a letter whose upper case is two', 'path_collision', () => with_(file('package/ß.js'), file('package/ss.js'))],
  ['a file that is a folder as well', 'path_collision', () => with_(file('package/lib'), file('package/lib/a.js'))],
  ['a folder that is a file as well', 'path_collision', () => with_(file('package/lib/a.js'), file('package/lib'))],
  ['a symbolic link', 'link', () => with_({ path: 'package/a', type: 'SymbolicLink', linkpath: '/etc/passwd' })],
  ['a symbolic link inside', 'link', () => with_({ path: 'package/a', type: 'SymbolicLink', linkpath: 'index.js' })],
  ['a hard link', 'link', () => with_({ path: 'package/a', type: 'Link', linkpath: 'package/index.js' })],
  ['a folder', 'not_a_file', () => with_({ path: 'package/lib/', type: 'Directory' })],
  ['a character device', 'not_a_file', () => with_({ path: 'package/a', type: 'CharacterDevice', devmaj: 1, devmin: 3 })],
  ['a block device', 'not_a_file', () => with_({ path: 'package/a', type: 'BlockDevice', devmaj: 8, devmin: 0 })],
  ['a FIFO', 'not_a_file', () => with_({ path: 'package/a', type: 'FIFO' })],
  ['an unknown type', 'not_a_file', () => with_({ path: 'package/a', type: 'SolarisACL' })],
  ['an endless header', 'not_a_file', () => with_({ path: 'package/a', type: 'ExtendedHeader', content: zeros(100_000) })],
  ['too many bytes', 'package_too_large', () => zeros(packageLimits.packed + 1)],
  ['a bomb', 'package_too_large', () => gzipSync(zeros(packageLimits.unpacked + 1))],
  ['a large file', 'package_too_large', () => with_(file('package/a.js', zeros(packageLimits.file + 1)))],
  ['a file that announces more than there is', 'package_too_large', () => with_({ path: 'package/a.js', size: 8 ** 11 - 1 })],
  [
    'many files',
    'package_too_large',
    () => with_(...Array.from({ length: packageLimits.files }, (_, index) => file(`package/${index}.js`)))
  ],
  ['no gzip', 'package_damaged', () => Buffer.from('hello')],
  ['nothing', 'package_damaged', () => Buffer.alloc(0)],
  ['gzip that is cut off', 'package_damaged', () => packageOf().bytes.subarray(0, 200)],
  ['gzip of something else', 'package_damaged', () => gzipSync('hello'.repeat(500))],
  ['a file that is cut off', 'package_damaged', () => with_({ path: 'package/a.js', size: 100_000 })],
  ['an addon of Node', 'native_code', () => with_(file('package/a.node'))],
  ['a library by another name', 'native_code', () => with_(file('package/a.js', Buffer.from('7f454c4602010100', 'hex')))],
  ['node-gyp', 'install_scripts', () => with_(file('package/binding.gyp', '{}'))],
  ['a script', 'install_scripts', () => jsonWith({ scripts: { postinstall: 'node index.js' } })],
  ['dependencies', 'dependencies', () => jsonWith({ dependencies: { lodash: '4' } })],
  ['optional dependencies', 'dependencies', () => jsonWith({ optionalDependencies: { lodash: '4' } })],
  ['bundled dependencies', 'dependencies', () => jsonWith({ bundleDependencies: ['lodash'] })],
  ['a peer', 'dependencies', () => jsonWith({ peerDependencies: { '@dispatch/core': '^1.0.0', lodash: '4' } })],
  ['other packages', 'dependencies', () => with_(file('package/node_modules/a/index.js'))],
  ['a tarball', 'nested_archive', () => with_(file('package/a.tgz'))],
  ['a tarball by another name', 'nested_archive', () => with_(file('package/a.js', packageOf().bytes))],
  ['a tar by another name', 'nested_archive', () => with_(file('package/a.js', Buffer.concat([zeros(257), Buffer.from('ustar')])))],
  ['a ZIP by another name', 'nested_archive', () => with_(file('package/a.js', 'PK\u0003\u0004'))],
  ['gzip in gzip', 'nested_archive', () => gzipSync(packageOf().bytes)],
  ['no manifest', 'manifest_missing', () => tarballOf(soundEntries({ 'manifest.json': undefined }))],
  ['no package.json', 'manifest_missing', () => tarballOf(soundEntries({ 'package.json': undefined }))],
  ['no entry', 'entry_missing', () => tarballOf(soundEntries({ 'index.js': undefined }))],
  ['a manifest that is no JSON', 'manifest_invalid', () => tarballOf(soundEntries({ 'manifest.json': '{' }))],
  ['a manifest of another kind', 'manifest_invalid', () => manifestWith({ v: 2 })],
  ['an unknown field', 'manifest_invalid', () => manifestWith({ trusted: true })],
  ['a key that reaches a prototype', 'manifest_invalid', () => tarballOf(soundEntries({ 'manifest.json': '{"__proto__":{"v":1}}' }))],
  ['a version that is none', 'manifest_invalid', () => manifestWith({ provider: { ...manifestOf().provider, version: 'v1' } })],
  ['a range that is none', 'manifest_invalid', () => manifestWith({ sdk: 'latest and greatest' })],
  ['another entry', 'manifest_invalid', () => jsonWith({ exports: './other.js' })],
  ['another name', 'manifest_mismatch', () => jsonWith({ name: 'other' })],
  ['another version', 'manifest_mismatch', () => jsonWith({ version: '1.0.1' })],
  ['another publisher', 'manifest_mismatch', () => jsonWith({ publisher: 'Someone' })],
  ['another licence', 'manifest_mismatch', () => jsonWith({ license: 'GPL-3.0' })],
  ['another range', 'manifest_mismatch', () => jsonWith({ peerDependencies: { '@dispatch/core': '*' } })]
]

for (const [what, code, bytes] of corpus) {
  void t.test(`${what} is refused: ${code}`, async (t) => {
    await refuses(t, code, () => inspectPackage(bytes()))
  })
}

void t.test('a sound package passes, and says what it is', async (t) => {
  const { bytes, name, integrity } = packageOf()
  const found = inspectPackage(bytes, { integrity, sdk: '1.4.2' })
  t.equal(name, 'dispatch-provider-acme-1.0.0.tgz')
  t.same([found.manifest, found.size, [...found.files.keys()]], [
    manifestOf(),
    bytes.length,
    ['index.js', 'manifest.json', 'package.json']
  ])
  t.equal(found.files.get('index.js')?.toString(), 'export default {}\n')
  t.same(inspectPackage(tarballOf(soundEntries())).manifest, manifestOf(), 'however it was compressed')
  await refuses(t, 'sdk_not_met', () => inspectPackage(bytes, { sdk: '2.0.0' }))
  await refuses(t, 'integrity_mismatch', () => inspectPackage(bytes, { integrity: integrity.replace(/.==$/, 'x==') }))
  await refuses(t, 'integrity_mismatch', () => inspectPackage(Buffer.concat([bytes, Buffer.alloc(1)]), { integrity }))
})

void t.test('the sentence names the place, and what would be right', async (t) => {
  const { message } = await refusalOf(() => inspectPackage(jsonWith({ version: '1.0.1' })))
  t.equal(message, 'package.json and manifest.json must agree: "version" is "1.0.1" in the one and "1.0.0" in the other.')
  const { message: invalid } = await refusalOf(() => inspectPackage(manifestWith({ licence: '' })))
  contains(t, invalid, 'manifest.json: /licence: Must not be empty.')
})

void t.test('a bomb ends at the limit, not in memory', async (t) => {
  // 1 GiB of zeros is 1 MiB of gzip.
  const part = gzipSync(zeros(16 * 1024 * 1024))
  const bomb = Buffer.concat(Array.from({ length: 64 }, () => part))
  const before = process.memoryUsage().rss
  await refuses(t, 'package_too_large', () => inspectPackage(bomb))
  t.ok(process.memoryUsage().rss - before < 4 * packageLimits.unpacked)
})

void t.test('a changed byte is refused, or changes nothing that is read', (t) => {
  const { bytes, manifest, integrity } = packageOf()
  fc.assert(fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
    const changed = Buffer.from(bytes)
    changed[at] = changed[at]! ^ change
    return resultOf(() => inspectPackage(changed, { integrity })) === undefined &&
      isDeepStrictEqual(resultOf(() => inspectPackage(changed).manifest) ?? manifest, manifest)
  }))
  t.end()
})

void t.test('any bytes, and any entries, are read or refused, and never crash', (t) => {
  const entry = fc.record({
    path: fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.constantFrom('package/a', 'package/b/c', '../x', 'package/A')),
    type: fc.constantFrom('File' as const, 'Link' as const, 'Directory' as const, 'GlobalExtendedHeader' as const, 'FIFO' as const),
    content: fc.string({ maxLength: 700 }),
    linkpath: fc.constantFrom('', '/etc/passwd')
  })
  fc.assert(fc.property(fc.oneof(fc.uint8Array({ maxLength: 2_000 }), fc.array(entry, { maxLength: 5 }).map(tarballOf)), (bytes) => {
    resultOf(() => readTarball(bytes))
  }))
  t.end()
})

void t.test('what is written is read again, and the same files give the same bytes', (t) => {
  const name = fc.stringMatching(/^[a-z][a-z0-9]{0,8}\.json$/)
  fc.assert(fc.property(fc.dictionary(name, fc.uint8Array({ maxLength: 1_500 }), { noNullPrototype: true }), (files) => {
    const entries = Object.entries(files)
    const bytes = writeTarball(new Map(entries))
    const again = writeTarball(new Map(entries.toReversed()))
    const read = entries.length === 0 ? new Map<string, Buffer>() : readTarball(bytes)
    return bytes.equals(again) && read.size === entries.length && entries.every(([path, content]) => read.get(path)?.equals(content))
  }))
  t.end()
})

void t.test('a path that passes stays below its folder, and no two that pass are one', (t) => {
  const part = fc.oneof(fc.constantFrom('a', 'A', '.', '..', 'é', 'e\u0301', ' ', 'con', ''), fc.string({ unit: 'grapheme', maxLength: 5 }))
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  fc.assert(fc.property(fc.array(path, { maxLength: 6 }), (paths) => {
    const register = createPathRegister()
    const passed: string[] = []
    for (const one of paths) {
      resultOf(() => {
        const safe = pathInPackage(`package/${one}`)
        register(safe)
        passed.push(safe)
      })
    }
    const forms = passed.map((one) => one.normalize('NFC').toLowerCase())
    return new Set(forms).size === passed.length && passed.every((one) => !one.split('/').includes('..') && !one.startsWith('/'))
  }))
  const plain = fc.array(fc.stringMatching(/^x[a-z\d_-]{0,6}$/), { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join('/')}.js`)
  fc.assert(fc.property(fc.uniqueArray(plain, { minLength: 1, maxLength: 6 }), (paths) => {
    const register = createPathRegister()
    for (const one of paths) {
      const safe = pathInPackage(`package/${one}`)
      register(safe)
      if (safe !== one) return false
    }
    return true
  }))
  t.end()
})
