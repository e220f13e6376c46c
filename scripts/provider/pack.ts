import { compile } from '@dispatch/common'
import { countOf, formatReport, runConformanceInChild } from '@dispatch/conformance/command'
import { folderDigest, type InstalledProvider, loadProvider, type Package, readPackage } from '@dispatch/host'
import { type PackageManifest, readPrivateKey, signPackage, writePackage } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import core from '../../core/package.json' with { type: 'json' }
import kit from '../../core/packages/conformance/package.json' with { type: 'json' }
import { bundleProvider } from './bundle.ts'
import { licencesOf } from './licences.ts'
import { withUnpacked } from './unpacked.ts'

/**
 * `out`: the directory of the tarball. `unchecked`: without the kit. `typed`: its types were checked before. `key`: the file with the
 * publisher's private key.
 */
export type Packing = { out: string, unchecked?: boolean | undefined, typed?: true, key?: string | undefined }

/** What was written: the tarball, and how far it was checked. */
export type Packed = { path: string, size: number, integrity: string, conformance: PackageManifest['conformance'] }

type Conformance = PackageManifest['conformance']
type Written = ReturnType<typeof writePackage>

/** Seconds. */
const loadLimit = 10

/** The most of a changelog that goes with a package: the newest entries come first. */
const longestChangelog = 65_536

const PackageJson = Type.Object({
  name: Type.String(),
  license: Type.Optional(Type.String()),
  peerDependencies: Type.Record(Type.String(), Type.String())
})
const fitPackage = compile(PackageJson)

/**
 * Packs a provider: checks its types, bundles it, runs the kit on what was bundled, and writes the tarball. Throws an Error for whoever
 * calls, and writes nothing, where one of these fails.
 */
export async function packProvider (folder: string, { out, unchecked = false, typed, key }: Packing): Promise<Packed> {
  const real = await realpath(folder)
  const { entry, publisher } = await readPackage(real)
  const faults = typed === true ? [] : (await import('./types.ts')).typeFaults(real, entry)
  if (faults.length > 0) throw new Error(`Its types do not fit:\n${faults.join('\n')}`)
  const { code, foreign } = await bundleProvider(real, entry)
  const files = new Map<string, Uint8Array>([['index.js', code], ...await filesBeside(real)])
  if (foreign.length > 0) files.set('LICENSES.txt', Buffer.from(licencesOf(foreign)))
  const manifest = await manifestOf(real, publisher)
  const conformance = await tryPackage(writePackage(manifest, files), { unchecked })
  return await writeOut(writePackage({ ...manifest, conformance }, files), { out, key })
}

/** The page, how it is set up in French, the licence and the fixtures: an installation can run the kit with them. */
async function filesBeside (folder: string): Promise<[string, Uint8Array][]> {
  const fixtures = existsSync(join(folder, 'fixtures')) ? await readdir(join(folder, 'fixtures')) : []
  const paths = ['README.md', 'guide.fr.md', 'LICENSE',
    ...fixtures.filter((name) => name.endsWith('.json')).map((name) => `fixtures/${name}`)]
  const there = paths.filter((path) => existsSync(join(folder, path)))
  return await Promise.all(there.map(async (path): Promise<[string, Uint8Array]> => [path, await readFile(join(folder, path))]))
}

/** The manifest of a folder whose kit has not been run. */
async function manifestOf (folder: string, { author }: Package['publisher']): Promise<PackageManifest> {
  const { manifest: provider } = await load(folder)
  const fit = fitPackage(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')))
  if (!fit.ok) throw new Error(`package.json: ${fit.problems.map(({ path, message }) => `${path} ${message}`).join(' ')}`)
  if (author === null) throw new Error('package.json must name whoever publishes the package: "publisher" or "author".')
  const { name, license = 'UNLICENSED', peerDependencies: { [core.name]: sdk = '' } } = fit.value
  const changelog = existsSync(join(folder, 'CHANGELOG.md')) ? await readFile(join(folder, 'CHANGELOG.md'), 'utf8') : ''
  return {
    v: 1,
    package: name,
    publisher: author,
    sdk,
    licence: license,
    changelog: changelog.slice(0, longestChangelog),
    conformance: { status: 'not_run' },
    provider
  }
}

async function load (folder: string): Promise<InstalledProvider> {
  return await loadProvider(folder, await folderDigest(folder), loadLimit)
}

/** Unpacks a package into a folder of its own, and tries it as it will be installed. */
async function tryPackage ({ manifest, files }: Written, { unchecked }: { unchecked: boolean }): Promise<Conformance> {
  return await withUnpacked(files, async (folder) => {
    const { manifest: bundled } = await load(folder)
    if (!isDeepStrictEqual(bundled, manifest.provider)) throw new Error('Once it is bundled, its manifest is another one.')
    return unchecked ? { status: 'not_run' } : await runKit(folder)
  })
}

async function runKit (folder: string): Promise<Conformance> {
  const report = await runConformanceInChild(folder)
  const { passed, failed, skipped } = countOf(report)
  if (failed > 0) throw new Error(`It fails the conformance kit, so it was not packed.\n\n${formatReport(report)}`)
  return { status: 'passed', kit: kit.version, passed, skipped }
}

/** The signature of the publisher lies beside the tarball, where `npm run catalog -- build` finds it. */
async function writeOut (written: Written, { out, key }: Packing): Promise<Packed> {
  const path = join(out, written.name)
  const signature = key === undefined ? undefined : await signPackage(written, await readPrivateKey(await readFile(key, 'utf8')))
  await mkdir(out, { recursive: true })
  await writeFile(path, written.bytes)
  if (signature !== undefined) await writeFile(`${path}.jws`, signature)
  return { path, size: written.size, integrity: written.integrity, conformance: written.manifest.conformance }
}
