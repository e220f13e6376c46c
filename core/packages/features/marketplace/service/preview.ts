import { withTimeLimit } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import { inspectPackage, type PackageManifest } from '@dispatch/marketplace'
import { LRUCache } from 'lru-cache'
import type { Catalogs } from './catalogs.ts'
import { desiredVersion } from './desired-version.ts'
import { type KnownAdapter, latestOf } from './offers.ts'

/** What stands in the package of a version that is only in a catalog, or why that is not known. */
export type PackagePreview = { integrity: string, manifest: PackageManifest } | { problem: { code: string, message: string } }

/** Milliseconds: whoever waits for a page is not kept longer by a slow catalog. */
const previewTimeout = 5_000

/**
 * Reads the latest version of an adapter that is not here. After 5 seconds it answers that the catalog is too slow. What was read is kept:
 * a package never changes.
 */
export function createPreview (catalogs: Catalogs): (known: KnownAdapter) => Promise<PackagePreview | undefined> {
  const seen = new LRUCache<string, PackageManifest>({ max: 200 })

  async function read ({ code }: KnownAdapter, { version, integrity }: { version: string, integrity: string }): Promise<PackageManifest> {
    const desired = desiredVersion(await catalogs.known(), { code, version, here: [] })
    if (desired === undefined) throw late(`No catalog has version ${version} any more.`)
    const { bytes } = await withTimeLimit(previewTimeout, desired.read(),
      () => late(`Its package did not come within ${previewTimeout / 1000} seconds.`))
    const { manifest } = inspectPackage(bytes, { integrity })
    seen.set(integrity, manifest)
    return manifest
  }

  return async (known) => {
    const latest = latestOf(known)
    if (latest.taken !== undefined) return undefined
    const { integrity } = latest
    try {
      return { integrity, manifest: seen.get(integrity) ?? await read(known, latest) }
    } catch (error) {
      if (!(error instanceof DispatchError)) throw error
      const { code, message } = error.details?.[0] ?? { code: error.word, message: error.message }
      return { problem: { code, message } }
    }
  }
}

function late (message: string): DispatchError {
  return refusal('validation_failed', [{ path: '/version', code: 'source_timeout', message }])
}
