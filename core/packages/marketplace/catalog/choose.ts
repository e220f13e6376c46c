import { isDeepStrictEqual } from 'node:util'
import semver from 'semver'
import { type AdapterPackage, type Inspection, inspectPackage, isForSdk } from '../package/inspect.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { checkPublisher, listingOf, statedBy } from './listing.ts'
import type { Catalog } from './open.ts'
import type { CatalogAdapter, CatalogPayload, CatalogVersion, Publisher, Withdrawal } from './payload.ts'

/** One version of an adapter in a catalog. */
export type Listed = Readonly<{ adapter: CatalogAdapter, publisher: Publisher, version: CatalogVersion }>

/** `version`: by default the newest one. `sdk`: the version of `@dispatch/core` for which it is to be used, by default any. */
export type Choice = { code: string, version?: string, sdk?: string }

/** Whether a version was withdrawn, and why. What is revoked is told before what is only yanked. */
export function withdrawalOf (
  { revoked, yanked }: Pick<CatalogPayload, 'revoked' | 'yanked'>,
  code: string,
  version: string
): Withdrawal & { state: 'revoked' | 'yanked' } | undefined {
  const all = [...revoked.map((one) => ({ ...one, state: 'revoked' as const })),
    ...yanked.map((one) => ({ ...one, state: 'yanked' as const }))]
  return all.find((one) => one.code === code && semver.satisfies(version, one.versions, { includePrerelease: true }))
}

/** The version that would be installed. Throws a {@link MarketplaceRefusal} where there is none. */
export function chooseVersion (catalog: Catalog, { code, version, sdk }: Choice): Listed {
  if (catalog.isExpired) {
    throw new MarketplaceRefusal('catalog_expired', `The catalog expired at ${catalog.expires}. Only a newer one can be installed from.`)
  }
  const adapter = catalog.adapters.find((one) => one.code === code)
  const publisher = catalog.publishers.find(({ id }) => id === adapter?.publisher)
  if (adapter === undefined || publisher === undefined) {
    throw new MarketplaceRefusal('adapter_unknown', `The catalog lists no adapter "${code}".`)
  }
  const chosen = version === undefined ? newest(catalog, adapter, sdk) : named(catalog, adapter, version)
  if (sdk !== undefined && !isForSdk(chosen.sdk, sdk)) {
    throw new MarketplaceRefusal('sdk_not_met', `${code} ${chosen.version} is made for @dispatch/core ${chosen.sdk}, but this is ${sdk}.`)
  }
  return { adapter, publisher, version: chosen }
}

function named (catalog: Catalog, { code, versions }: CatalogAdapter, version: string): CatalogVersion {
  const withdrawn = withdrawalOf(catalog, code, version)
  if (withdrawn !== undefined) {
    throw new MarketplaceRefusal(withdrawn.state === 'revoked' ? 'version_revoked' : 'version_yanked',
      `${code} ${version} was ${withdrawn.state} at ${withdrawn.at}: ${withdrawn.reason}`)
  }
  const found = versions.find((one) => one.version === version)
  if (found !== undefined) return found
  throw new MarketplaceRefusal('version_unknown',
    `The catalog lists no version ${version} of "${code}": there ${versions.length === 1 ? 'is' : 'are'} ` +
      `${versions.map((one) => one.version).join(', ')}.`)
}

/** The newest version for this core, or else the newest of all. A preliminary version is taken only by its name. */
function newest (catalog: Catalog, { code, versions }: CatalogAdapter, sdk?: string): CatalogVersion {
  const offered = versions.filter(({ version }) =>
    semver.prerelease(version) === null && withdrawalOf(catalog, code, version) === undefined
  ).sort((one, other) => semver.rcompare(one.version, other.version))
  const found = offered.find((one) => sdk === undefined || isForSdk(one.sdk, sdk)) ?? offered[0]
  if (found !== undefined) return found
  throw new MarketplaceRefusal('version_unknown', `Every version of "${code}" in the catalog is preliminary or withdrawn.`)
}

/** The bytes of a listed version, inspected: they are what the catalog says. Throws a {@link MarketplaceRefusal}. */
export async function takePackage (
  { adapter, publisher, version }: Listed,
  bytes: Uint8Array,
  inspection: Pick<Inspection, 'sdk'> = {}
): Promise<AdapterPackage> {
  const { place, released, signature, attested, ...listing } = version
  const found = inspectPackage(bytes, { ...inspection, integrity: version.integrity })
  const reported = { code: adapter.code, publisher: adapter.publisher, ...listing }
  const { offer: { features, languages, ...offer }, ...rest } = listingOf(found)
  // Older catalogs do not tell them.
  const offered = {
    ...offer,
    ...(version.offer.features !== undefined && { features }),
    ...(version.offer.languages !== undefined && { languages })
  }
  const fact = { code: found.manifest.provider.code, publisher: found.manifest.publisher, ...rest, offer: offered }
  const different = Object.keys(fact).find((field) => !isDeepStrictEqual(Reflect.get(fact, field), Reflect.get(reported, field)))
  if (different !== undefined) {
    throw new MarketplaceRefusal('manifest_mismatch',
      `The catalog and the package at ${place}, of ${released}, must agree: they do not in "${different}".`)
  }
  await checkPublisher(statedBy(found), publisher, signature)
  return found
}
