import { type AdapterPackage, inspectPackage } from './inspect.ts'
import type { PackageManifest } from './manifest.ts'
import { packageJsonOf } from './package-json.ts'
import { writeTarball } from './tarball.ts'

/** A finished package. `name` is that of the file, as "npm pack" calls it. */
export type WrittenPackage = AdapterPackage & Readonly<{ name: string, bytes: Buffer }>

/**
 * Writes a package of a manifest and its files (`index.js`, and whatever else belongs to it), by their paths in the package. The result
 * has been inspected: what this function returns, an installation accepts. Throws a MarketplaceRefusal otherwise.
 */
export function writePackage (manifest: PackageManifest, files: ReadonlyMap<string, Uint8Array>): WrittenPackage {
  const bytes = writeTarball(
    new Map([...files, ['manifest.json', jsonOf(manifest)], ['package.json', jsonOf(packageJsonOf(manifest))]])
  )
  const name = `${manifest.package.replace(/^@/, '').replaceAll('/', '-')}-${manifest.provider.version}.tgz`
  return { ...inspectPackage(bytes), name, bytes }
}

function jsonOf (value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}
