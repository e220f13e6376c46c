import { memoizeByIdentity } from '@dispatch/common'
import { sdkVersion } from '@dispatch/host'
import { type Attestation, type Catalog, isForSdk, offerOf, withdrawalOf } from '@dispatch/marketplace'
import semver from 'semver'
import type { AdapterRecord, PackageSummary } from '../store/adapters.ts'
import type { KnownCatalog } from './catalogs.ts'

type Listed = Catalog['adapters'][number]

/** A version as a catalog lists it. `withdrawn`: it is not installed anew, and why. */
export type CatalogOffer = Listed['versions'][number] & { publisher: string, withdrawn?: { state: 'revoked' | 'yanked', reason: string } }

/** What a catalog offers under a code. `catalog`: its address. `tier`: how far its keeper knows the publisher. */
type Offered = { catalog: string | undefined, offers: readonly CatalogOffer[], tier: Catalog['publishers'][number]['tier'] }

/** All that is known of an adapter: here, and in a catalog. */
export type KnownAdapter = AdapterRecord & Offered

/** What is here together with what the catalogs offer, by code. Of several catalogs with a code, the first one counts. */
export function withOffers (records: readonly AdapterRecord[], catalogs: readonly KnownCatalog[]): KnownAdapter[] {
  const known = new Map(catalogs.toReversed().flatMap(({ address, catalog }) => offersIn(catalog)(address)))
  for (const record of records) known.set(record.code, { ...known.get(record.code) ?? nowhere, ...record })
  return [...known.keys()].sort().flatMap((code) => known.get(code) ?? [])
}

const nowhere: Offered = { catalog: undefined, offers: [], tier: 'private' }

/**
 * The adapters of a catalog as they are known where nothing of them is here, by its address. A catalog does not change, and a list of all
 * adapters is asked for often.
 */
const offersIn = memoizeByIdentity((catalog: Catalog) => {
  const byAddress = new Map<string, readonly [string, KnownAdapter][]>()
  return (address: string): readonly [string, KnownAdapter][] => {
    const found = byAddress.get(address) ?? offersOf(catalog, address)
    byAddress.set(address, found)
    return found
  }
})

function offersOf (catalog: Catalog, address: string): [string, KnownAdapter][] {
  const tiers = new Map(catalog.publishers.map(({ id, tier }) => [id, tier]))
  return catalog.adapters.map(({ code, publisher, versions }) => [code, {
    code,
    adapter: undefined,
    packages: [],
    users: 0,
    catalog: address,
    tier: tiers.get(publisher) ?? 'private',
    offers: versions.map((version) => {
      const found = withdrawalOf(catalog, code, version.version)
      return { ...version, publisher, ...(found !== undefined && { withdrawn: { state: found.state, reason: found.reason } }) }
    })
  }])
}

/**
 * A version of an adapter, here (`taken`) or in a catalog. `at`: when it was taken in, or released. `vouched`: a catalog lists these bytes,
 * or has given them here; what else is said of them only their own manifest says.
 */
export type KnownVersion = Pick<CatalogOffer, 'version' | 'integrity' | 'size' | 'sdk' | 'conformance' | 'offer' | 'withdrawn'> & {
  publisher: string | null
  at: string
  vouched: boolean
  /** The result of the kit for these bytes, as the keeper of a catalog reports it. */
  attested?: Attestation | undefined
  taken?: PackageSummary
}

/** The versions of an adapter, the newest first. A list asks for them several times. */
export const versionsOf = memoizeByIdentity(({ packages, offers, catalog }: KnownAdapter): readonly KnownVersion[] => {
  const here = new Set(packages.map(({ version }) => version))
  const others = offers.filter(({ version }) => !here.has(version)).map(({ released: at, ...offer }) => ({ ...offer, at, vouched: true }))
  const ours = packages.map((taken) => ({
    ...takenVersion(taken, isVouched(taken, { offers, catalog })),
    attested: offers.find(({ integrity }) => integrity === taken.integrity)?.attested ?? taken.attested
  }))
  return [...ours, ...others].sort((one, other) => semver.rcompare(one.version, other.version))
})

/** The version that runs, else the latest. */
export function shownOf (known: KnownAdapter): KnownVersion {
  return versionsOf(known).find(({ taken }) => taken !== undefined && taken.integrity === known.adapter?.integrity) ?? latestOf(known)
}

/** The newest version that can be installed, else the newest of all. */
export const latestOf = memoizeByIdentity((known: KnownAdapter): KnownVersion => {
  const versions = versionsOf(known)
  const latest = versions.find(({ withdrawn, sdk }) => withdrawn === undefined && isForSdk(sdk, sdkVersion)) ?? versions[0]
  if (latest === undefined) throw new TypeError('An adapter has a version.')
  return latest
})

/** A package that came from a catalog was listed by it then, and was compared with what it says. */
function isVouched ({ integrity, source }: PackageSummary, { offers, catalog }: Pick<Offered, 'offers' | 'catalog'>): boolean {
  return offers.some((one) => one.integrity === integrity) || (catalog !== undefined && source === catalog)
}

function takenVersion (taken: PackageSummary, vouched: boolean): Omit<KnownVersion, 'attested'> {
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
    vouched,
    taken,
    ...(revoked !== null && { withdrawn: { state: 'revoked', reason: revoked } })
  }
}
