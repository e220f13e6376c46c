import { memoizeByIdentity } from '@dispatch/common'
import { type Catalog, isForSdk, offerOf, withdrawalOf } from '@dispatch/marketplace'
import semver from 'semver'
import core from '../package.json' with { type: 'json' }
import type { AdapterRecord, PackageSummary } from '../store/vendor/adapters.ts'
import type { KnownCatalog } from './catalogs.ts'

type Listed = Catalog['adapters'][number]

/** A version as a catalog lists it. `withdrawn`: it is not installed anew, and why. */
export type CatalogOffer = Listed['versions'][number] & { publisher: string, withdrawn?: { state: 'revoked' | 'yanked', reason: string } }

/** All that is known of an adapter: here, and in a catalog. `tier`: how far the keeper of the catalog knows the publisher. */
export type KnownAdapter = AdapterRecord & { offers: readonly CatalogOffer[], tier: Catalog['publishers'][number]['tier'] }

/** What is here together with what the catalogs offer, by code. Of several catalogs with a code, the first one counts. */
export function withOffers (records: readonly AdapterRecord[], catalogs: readonly KnownCatalog[]): KnownAdapter[] {
  const here = new Map(records.map((record) => [record.code, record]))
  const offered = new Map(catalogs.toReversed().flatMap(({ catalog }) => [...offersIn(catalog)]))
  return [...new Set([...here.keys(), ...offered.keys()])].sort().map((code) => ({
    ...here.get(code) ?? { code, adapter: undefined, packages: [], users: 0 },
    ...offered.get(code) ?? { offers: [], tier: 'private' }
  }))
}

/** A catalog does not change, and a list of all adapters is asked for often. */
const offersIn = memoizeByIdentity((catalog: Catalog): ReadonlyMap<string, Pick<KnownAdapter, 'offers' | 'tier'>> => {
  const tiers = new Map(catalog.publishers.map(({ id, tier }) => [id, tier]))
  return new Map(catalog.adapters.map(({ code, publisher, versions }) => [code, {
    tier: tiers.get(publisher) ?? 'private',
    offers: versions.map((version) => {
      const found = withdrawalOf(catalog, code, version.version)
      return { ...version, publisher, ...(found !== undefined && { withdrawn: { state: found.state, reason: found.reason } }) }
    })
  }]))
})

/** A version of an adapter, here (`taken`) or in a catalog. `at`: when it was taken in, or released. */
export type KnownVersion = Pick<CatalogOffer, 'version' | 'integrity' | 'size' | 'sdk' | 'conformance' | 'offer' | 'withdrawn'> & {
  publisher: string | null
  at: string
  taken?: PackageSummary
}

/** The versions of an adapter, the newest first. A list asks for them several times. */
export const versionsOf = memoizeByIdentity(({ packages, offers }: KnownAdapter): readonly KnownVersion[] => {
  const here = new Set(packages.map(({ version }) => version))
  const others = offers.filter(({ version }) => !here.has(version)).map(({ released: at, ...offer }) => ({ ...offer, at }))
  return [...packages.map(takenVersion), ...others].sort((one, other) => semver.rcompare(one.version, other.version))
})

/** The version that runs, else the latest. */
export function shownOf (known: KnownAdapter): KnownVersion {
  return versionsOf(known).find(({ taken }) => taken !== undefined && taken.integrity === known.adapter?.integrity) ?? latestOf(known)
}

/** The newest version that can be installed, else the newest of all. */
export function latestOf (known: KnownAdapter): KnownVersion {
  const versions = versionsOf(known)
  const latest = versions.find(({ withdrawn, sdk }) => withdrawn === undefined && isForSdk(sdk, core.version)) ?? versions[0]
  if (latest === undefined) throw new TypeError('An adapter has a version.')
  return latest
}

function takenVersion (taken: PackageSummary): KnownVersion {
  const { version, integrity, size, manifest, publisher, revoked } = taken
  return {
    version,
    integrity,
    size,
    sdk: manifest.sdk,
    conformance: manifest.conformance,
    offer: offerOf(manifest),
    publisher: publisher.author,
    at: taken.at.toISOString(),
    taken,
    ...(revoked !== null && { withdrawn: { state: 'revoked', reason: revoked } })
  }
}
