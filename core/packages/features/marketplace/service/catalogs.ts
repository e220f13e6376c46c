import { type AuditStamp, platform } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import { type Catalog, MarketplaceRefusal, openCatalog, openSource, type PublicKey, type ReadPackage,
  withdrawalOf } from '@dispatch/marketplace'
import type { Network } from '@dispatch/vendor-io'
import { hash } from 'node:crypto'
import type { CatalogView } from '../contract/marketplace.ts'
import { type AdapterRecord, listAdapters, type PackageSummary } from '../store/adapters.ts'
import { keepCatalog, listCatalogs, readCatalog, type Revocation, type Revoked, type StoredCatalog,
  writeRevocations } from '../store/catalogs.ts'
import { companiesInWords, type NamedCompany } from '../store/named-company.ts'
import { createCatalogFetch } from './catalog-fetch.ts'
import { readNpm } from './registry.ts'
import { asSentence } from './sentence.ts'

/** Where a catalog is, and whose signatures count when it is read for the first time; each catalog names the keys of the next. */
export type CatalogLocation = { address: string, keys: readonly PublicKey[] }

/** A catalog as it was last read, where, and how its packages are read. `isExpired`: by now; nothing new is installed from it. */
export type KnownCatalog = {
  address: string
  catalog: Catalog
  isExpired: boolean
  readPackage: (version: Parameters<ReturnType<typeof openSource>['readPackage']>[0]) => Promise<ReadPackage>
}

export type Catalogs = {
  /** Those that were read at any time, in the order of the configuration. */
  known: () => Promise<readonly KnownCatalog[]>
  /** A package of a registry of npm, and what that says of it. Throws `validation_failed`. */
  readNpm: (npm: string, registry?: string) => Promise<ReadPackage>
  /** Reads all again. `revoked`: whether a version was revoked, or is not any more. */
  refresh: (stamp: AuditStamp) => Promise<{ views: CatalogView[], revoked: boolean }>
}

/** A catalog that was verified here. `digest`: of its text. */
type Opened = { stored: StoredCatalog, digest: string, catalog: Catalog }

/** Reads and verifies the catalogs of the service. What cannot be read or verified is told with the catalog as it was read last. */
export function createCatalogs ({ database, locations, transport, now }: {
  database: Database
  locations: readonly CatalogLocation[]
  transport: Network['transport']
  now: () => Date
}): Catalogs {
  const fetch = createCatalogFetch(transport)
  const opened = new Map<string, Opened>()

  /** What was last read, if it was read with the keys that are configured now. */
  async function lastOf ({ address, keys }: CatalogLocation, all: readonly StoredCatalog[]): Promise<Opened | undefined> {
    const stored = all.find(({ source }) => source === address)
    if (stored?.configured !== namesOf(keys)) return undefined
    const before = opened.get(address)
    if (before?.stored.serial === stored.serial && before.stored.fetchedAt.getTime() === stored.fetchedAt.getTime()) return before
    const { jws } = await readCatalog(database, address) ?? {}
    if (jws === undefined) return undefined
    const fresh = { stored, digest: hash('sha256', jws), catalog: await openCatalog(jws, { keys: stored.keys, now: stored.fetchedAt }) }
    opened.set(address, fresh)
    return fresh
  }

  async function read (place: CatalogLocation, all: readonly StoredCatalog[]): Promise<CatalogView> {
    const { address: source } = place
    const last = await lastOf(place, all)
    const keys = last?.catalog.trusted ?? place.keys
    const jws = await openSource(source, fetch).readCatalog()
    // A catalog that names other keys for the next one is not signed with these itself.
    if (last?.digest === hash('sha256', jws)) return viewOf(source, last.catalog, now())
    // The serial is kept by source: an older catalog is refused also where the keys have changed.
    const before = await readCatalog(database, source)
    const catalog = await openCatalog(jws, { keys, now: now(), ...(before !== undefined && { last: before }) })
    await keepCatalog(database, { source, configured: namesOf(place.keys), keys, serial: catalog.serial, jws, fetchedAt: now() })
    return viewOf(source, catalog, now())
  }

  async function known (): Promise<KnownCatalog[]> {
    if (locations.length === 0) return []
    const all = await listCatalogs(database)
    const found = await Promise.all(locations.map(async (place): Promise<KnownCatalog[]> => {
      const last = await lastOf(place, all)
      if (last === undefined) return []
      const isExpired = Date.parse(last.catalog.expires) <= now().getTime()
      const source = openSource(place.address, fetch)
      return [{
        address: place.address,
        catalog: last.catalog,
        isExpired,
        readPackage: (version) => source.readPackage(version, last.catalog.registry)
      }]
    }))
    return found.flat()
  }

  return {
    known,
    readNpm: (npm, registry) => readNpm(fetch, npm, registry),
    async refresh (stamp) {
      // Who knows no catalog knows nothing of what they have revoked.
      if (locations.length === 0) return { views: [], revoked: false }
      const all = await listCatalogs(database)
      const views = await Promise.all(locations.map((place) => read(place, all).catch((error: unknown) => problemOf(place, error))))
      const catalogs = await known()
      const areAllRead = catalogs.length === locations.length
      const found = revocationsIn(areAllRead ? isResponsible : isSource, catalogs, await listAdapters(database))
      // A catalog that has not been read with the keys of now may have revoked what no other one knows of.
      const revocations = areAllRead ? found : found.filter(({ reason }) => reason !== null)
      const changed = await writeRevocations(database, revocations, platform.companyId, stamp)
      return { views: views.map((view) => withRevoked(view, changed)), revoked: changed.length > 0 }
    }
  }
}

function viewOf (address: string, catalog: Catalog, now: Date): CatalogView {
  const { serial, expires, adapters } = catalog
  const notice = noticeOf(catalog, now)
  return { address, serial, expires, adapters: adapters.length, ...(notice !== undefined && { notice }) }
}

/** Milliseconds. */
const day = 86_400_000

/** The notice about a catalog in the last quarter of its time, and after. */
function noticeOf ({ issued, expires }: Catalog, now: Date): string | undefined {
  const [begin, end] = [Date.parse(issued), Date.parse(expires)]
  const left = end - now.getTime()
  if (left <= 0) return `It expired at ${expires}: nothing is installed from it until its keeper signs a newer one.`
  if (left > (end - begin) / 4) return undefined
  return `It expires at ${expires}, in ${Math.ceil(left / day)} days: then nothing is installed from it until its keeper signs a newer one.`
}

/** With what the catalog has revoked just now, and whom that stops. */
function withRevoked (view: CatalogView, changed: readonly Revoked[]): CatalogView {
  const revoked = changed.filter(({ by, reason }) => by === view.address && reason !== null).map(
    ({ code, version, reason, companies, goesOn }) => ({
      code,
      version,
      companies: companies.map(({ id }) => id),
      message: `Version ${version} of "${code}" was revoked: ${asSentence(reason ?? '')} ${stoppedInWords(companies, goesOn)}`
    })
  )
  return revoked.length === 0 ? view : { ...view, revoked }
}

function stoppedInWords (companies: readonly NamedCompany[], goesOn: string | undefined): string {
  if (companies.length === 0) return 'No company dispatches through it.'
  return goesOn !== undefined
    ? `Version ${goesOn} goes on in its place, where it accepts the settings of companies; its health names the others.`
    : `It stops ${companies.length === 1 ? 'the company' : 'the companies'} ${
      companiesInWords(companies)
    }: roll back to another version, or upgrade.`
}

function problemOf ({ address }: CatalogLocation, error: unknown): CatalogView {
  if (!(error instanceof MarketplaceRefusal)) throw error
  return { address, problem: { code: error.code, message: error.message } }
}

/** For each package that was taken in, why it may not run any more. */
function revocationsIn (
  mayRevoke: typeof isResponsible,
  catalogs: readonly KnownCatalog[],
  records: readonly AdapterRecord[]
): Revocation[] {
  return records.flatMap(({ code, packages }) =>
    packages.map((taken) => {
      const { integrity, version } = taken
      const [found] = catalogs.filter((one) => mayRevoke(one, catalogs, taken)).flatMap(({ address: by, catalog }) => {
        const withdrawal = withdrawalOf(catalog, code, version)
        return withdrawal?.state === 'revoked' ? [{ by, reason: withdrawal.reason }] : []
      })
      return { integrity, code, version, reason: null, ...found }
    })
  )
}

/**
 * Whether a catalog may revoke a package: one that was installed from it, or one of a publisher of its own. Of several catalogs that list a
 * publisher, it is that of the first one, as the operator has them in order. What was taken in before its source was kept, and whose
 * publisher no catalog lists, may be of any.
 */
function isResponsible (one: KnownCatalog, all: readonly KnownCatalog[], { source, publisher: { author } }: PackageSummary): boolean {
  const first = all.find(({ catalog }) => catalog.publishers.some(({ id }) => id === author))
  return source === one.address || first === one || (source === null && first === undefined)
}

/** Where a catalog has not been read, whose a publisher is cannot be told: only what was installed from a catalog is its own. */
function isSource ({ address }: KnownCatalog, _all: readonly KnownCatalog[], { source }: PackageSummary): boolean {
  return source === address
}

/** The names of keys: two sets of keys have the same where they are the same. */
function namesOf (keys: readonly PublicKey[]): string {
  return keys.map(({ kid }) => kid).sort().join(' ')
}
