import semver from 'semver'
import { type AdapterPackage, inspectPackage } from '../package/inspect.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { checkPublisher, listingOf, statedBy } from './listing.ts'
import { type Attestation, type CatalogAdapter, type CatalogPayload, type CatalogVersion, type Publisher, readPayload } from './payload.ts'

/**
 * A tarball and where it lies, seen from the catalog. `signature`: that of its publisher. `attested`: what its keeper has seen the
 * conformance kit say.
 */
export type PlacedPackage = { place: string, bytes: Uint8Array, signature?: string, attested?: Attestation | undefined }

/** What a catalog is made of, beside its packages. `previous`: the catalog before. `days`: how long it is good. */
export type CatalogPlan = Partial<Pick<CatalogPayload, 'keys' | 'registry' | 'publishers' | 'yanked' | 'revoked'>> & {
  previous?: Pick<CatalogPayload, 'serial' | 'adapters'>
  now: Date
  days: number
}

/** Milliseconds. */
const day = 86_400_000

type Inspected = PlacedPackage & { found: AdapterPackage }

/**
 * The content of a catalog of packages, not signed. A publisher that the plan does not name is private. Throws a {@link MarketplaceRefusal}
 * for a package that has no place in it: one that is not attested, unless its publisher is private, or not signed by a publisher with keys.
 */
export async function buildCatalog (packages: readonly PlacedPackage[], plan: CatalogPlan): Promise<CatalogPayload> {
  const { keys, registry, publishers = [], yanked = [], revoked = [], previous, now, days } = plan
  const inspected = packages.map((placed) => ({ ...placed, found: inspectPlaced(placed) }))
  const all = withPrivate(publishers, inspected)
  for (const one of inspected) {
    const publisher = all.find(({ id }) => id === one.found.manifest.publisher)
    if (publisher === undefined) continue
    checkConformance(one, publisher)
    await checkPublisher(statedBy(one.found), publisher, one.signature)
  }
  const byCode = Map.groupBy(inspected, ({ found }) => found.manifest.provider.code)
  return readPayload({
    v: 1,
    serial: (previous?.serial ?? 0) + 1,
    issued: now.toISOString(),
    expires: new Date(now.getTime() + days * day).toISOString(),
    ...(keys !== undefined && { keys }),
    ...(registry !== undefined && { registry }),
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

/**
 * Whoever runs a service of their own may take the risk of an adapter that the kit has not seen. Others may not be offered it. What a
 * package says of itself does not count.
 */
function checkConformance ({ place, attested }: Inspected, { id, tier }: Publisher): void {
  if (attested !== undefined || tier === 'private') return
  throw new MarketplaceRefusal('not_conformant',
    `${place}: it has not passed the conformance kit here, and its publisher "${id}" is not private.`)
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

function versionOf ({ place, found, signature, attested }: Inspected, before: readonly CatalogVersion[], now: Date): CatalogVersion {
  const listing = listingOf(found)
  const earlier = before.find(({ version }) => version === listing.version)
  if (earlier !== undefined && earlier.integrity !== listing.integrity) {
    throw new MarketplaceRefusal('version_changed',
      `${place}: version ${listing.version} was listed before with other bytes. Give what has changed a new version.`)
  }
  return {
    ...listing,
    place,
    released: earlier?.released ?? now.toISOString(),
    ...(signature !== undefined && { signature }),
    ...(attested !== undefined && { attested })
  }
}
