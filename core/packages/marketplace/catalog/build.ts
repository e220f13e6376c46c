import semver from 'semver'
import { type AdapterPackage, inspectPackage } from '../package/inspect.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { listingOf } from './listing.ts'
import { type CatalogAdapter, type CatalogPayload, type CatalogVersion, type Publisher, readPayload } from './payload.ts'

/** A tarball and where it lies, seen from the catalog. `signature`: that of its publisher. */
export type PlacedPackage = { place: string, bytes: Uint8Array, signature?: string }

/** What a catalog is made of, beside its packages. `previous`: the catalog before. `days`: how long it is good. */
export type CatalogPlan = Partial<Pick<CatalogPayload, 'keys' | 'publishers' | 'yanked' | 'revoked'>> & {
  previous?: Pick<CatalogPayload, 'serial' | 'adapters'>
  now: Date
  days: number
}

/** Milliseconds. */
const day = 86_400_000

type Inspected = PlacedPackage & { found: AdapterPackage }

/**
 * The content of a catalog of packages, not signed. A publisher that the plan does not name is private. Throws a {@link MarketplaceRefusal}
 * for a package that has no place in it.
 */
export function buildCatalog (packages: readonly PlacedPackage[], plan: CatalogPlan): CatalogPayload {
  const { keys, publishers = [], yanked = [], revoked = [], previous, now, days } = plan
  const inspected = packages.map((placed) => ({ ...placed, found: inspectPlaced(placed) }))
  const all = withPrivate(publishers, inspected)
  for (const one of inspected) checkConformance(one, all)
  const byCode = Map.groupBy(inspected, ({ found }) => found.manifest.provider.code)
  return readPayload({
    v: 1,
    serial: (previous?.serial ?? 0) + 1,
    issued: now.toISOString(),
    expires: new Date(now.getTime() + days * day).toISOString(),
    ...(keys !== undefined && { keys }),
    publishers: all,
    adapters: [...byCode].sort(([one], [other]) => one < other ? -1 : 1).map(([code, listed]) =>
      adapterOf(code, listed, previous?.adapters.find((one) => one.code === code)?.versions ?? [], now)
    ),
    yanked,
    revoked
  })
}

function inspectPlaced ({ place, bytes }: PlacedPackage): AdapterPackage {
  try {
    return inspectPackage(bytes)
  } catch (cause) {
    if (!(cause instanceof MarketplaceRefusal)) throw cause
    throw new MarketplaceRefusal(cause.code, `${place}: ${cause.message}`, { cause })
  }
}

function withPrivate (publishers: readonly Publisher[], inspected: readonly Inspected[]): Publisher[] {
  const unnamed = new Set(inspected.map(({ found }) => found.manifest.publisher)).difference(new Set(publishers.map(({ id }) => id)))
  return [...publishers, ...[...unnamed].sort().map((id): Publisher => ({ id, tier: 'private' }))]
}

/** Whoever runs a service of their own may take the risk of an adapter that the kit has not seen. Others may not be offered it. */
function checkConformance ({ place, found: { manifest } }: Inspected, publishers: readonly Publisher[]): void {
  const tier = publishers.find(({ id }) => id === manifest.publisher)?.tier
  if (manifest.conformance.status === 'passed' || tier === 'private') return
  throw new MarketplaceRefusal('not_conformant',
    `${place}: the conformance kit was not run. Pack it without "--unchecked": the publisher "${manifest.publisher}" is not private.`)
}

function adapterOf (code: string, listed: readonly Inspected[], before: readonly CatalogVersion[], now: Date): CatalogAdapter {
  const publishers = new Set(listed.map(({ found }) => found.manifest.publisher))
  const [publisher = '', other] = publishers
  if (other !== undefined) {
    throw new MarketplaceRefusal('code_taken',
      `"${publisher}" and "${other}" both have packages for the code "${code}": choose one of them.`)
  }
  const versions = listed.map((one) => versionOf(one, before, now)).sort((one, two) => semver.rcompare(one.version, two.version))
  return { code, publisher, versions }
}

function versionOf ({ place, found, signature }: Inspected, before: readonly CatalogVersion[], now: Date): CatalogVersion {
  const listing = listingOf(found)
  const earlier = before.find(({ version }) => version === listing.version)
  if (earlier !== undefined && earlier.integrity !== listing.integrity) {
    throw new MarketplaceRefusal('version_changed',
      `${place}: version ${listing.version} was listed before with other bytes. Give what has changed a new version.`)
  }
  return { ...listing, place, released: earlier?.released ?? now.toISOString(), ...(signature !== undefined && { signature }) }
}
