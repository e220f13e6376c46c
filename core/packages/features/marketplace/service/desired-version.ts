import { sdkVersion } from '@dispatch/host'
import { type Attestation, chooseVersion, type ReadPackage, takePackage } from '@dispatch/marketplace'
import semver from 'semver'
import type { PackageSummary } from '../store/adapters.ts'
import type { KnownCatalog } from './catalogs.ts'
import { asRefusal } from './try-package.ts'

/** `here`: the packages that are here already. */
type Desired = { code: string, version: string | undefined, here: readonly Pick<PackageSummary, 'version'>[] }

/**
 * What is to be fetched from a catalog: the desired version, or a newer one than those that are here. Undefined where there is nothing.
 * `source` is the address of the catalog, `attested` what it says of the version; `read` answers its bytes, verified. Throws
 * `validation_failed` where the catalog does not let it be installed.
 */
export function desiredVersion (
  catalogs: readonly KnownCatalog[],
  { code, version, here }: Desired
): { source: string, attested: Attestation | undefined, read: () => Promise<ReadPackage> } | undefined {
  if (version !== undefined && here.some((one) => one.version === version)) return undefined
  const known = catalogs.find(({ catalog }) => catalog.adapters.some((adapter) => adapter.code === code))
  if (known === undefined) return undefined
  const listed = chosen(known, code, version)
  if (version === undefined && here.some((one) => semver.gte(one.version, listed.version.version))) return undefined
  return {
    source: known.address,
    attested: listed.version.attested,
    async read () {
      try {
        const read = await known.readPackage(listed.version)
        await takePackage(listed, read.bytes, { sdk: sdkVersion })
        return read
      } catch (error) {
        throw asRefusal(error, '/version')
      }
    }
  }
}

function chosen ({ catalog, isExpired }: KnownCatalog, code: string, version: string | undefined): ReturnType<typeof chooseVersion> {
  try {
    return chooseVersion({ ...catalog, isExpired }, { code, sdk: sdkVersion, ...(version !== undefined && { version }) })
  } catch (error) {
    throw asRefusal(error, '/version')
  }
}
