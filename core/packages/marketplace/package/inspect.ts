import semver from 'semver'
import { checkIntegrity, integrityOf } from '../integrity.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { checkContent } from './contents.ts'
import { type PackageManifest, readManifest } from './manifest.ts'
import { checkPackageJson } from './package-json.ts'
import { readTarball } from './tarball.ts'

/** A package that has passed. `files` are by their paths below `package/`; `size` is that of the tarball in bytes. */
export type AdapterPackage = Readonly<{
  manifest: PackageManifest
  files: ReadonlyMap<string, Buffer>
  integrity: string
  size: number
}>

/** `integrity`: the announced one. `sdk`: the version of `@dispatch/core` for which the package is to be used. */
export type Inspection = { integrity?: string, sdk?: string }

/** Inspects a tarball in memory; nothing is written. Throws a {@link MarketplaceRefusal} for the whole package. */
export function inspectPackage (bytes: Uint8Array, { integrity, sdk }: Inspection = {}): AdapterPackage {
  if (integrity !== undefined) checkIntegrity(bytes, integrity, 'the package')
  const files = readTarball(bytes)
  for (const [path, content] of files) checkContent(path, content)
  const manifest = readManifest(textOf(files, 'manifest.json'))
  checkPackageJson(textOf(files, 'package.json'), manifest)
  if (!files.has('index.js')) throw new MarketplaceRefusal('entry_missing', 'The package has no index.js, the file with all its code.')
  if (sdk !== undefined && !isForSdk(manifest.sdk, sdk)) {
    throw new MarketplaceRefusal('sdk_not_met', `It is made for @dispatch/core ${manifest.sdk}, but this is ${sdk}.`)
  }
  return { manifest, files, integrity: integrityOf(bytes), size: bytes.length }
}

/** Whether a version of `@dispatch/core` is within a range. */
export function isForSdk (range: string, sdk: string): boolean {
  return semver.satisfies(sdk, range)
}

function textOf (files: ReadonlyMap<string, Buffer>, name: string): string {
  const content = files.get(name)
  if (content === undefined) {
    throw new MarketplaceRefusal('manifest_missing', `The package has no ${name}: "npm run provider pack" writes it.`)
  }
  return content.toString()
}
