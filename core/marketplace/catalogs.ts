import { type Catalog, MarketplaceRefusal, openCatalog, openSource, type PublicKey, withdrawalOf } from '@dispatch/marketplace'
import { hash } from 'node:crypto'
import { platform } from '../accounts/companies.ts'
import type { CatalogView } from '../contract/marketplace.ts'
import type { HttpTransport } from '../host/http/transport.ts'
import type { Database } from '../store/db/database.ts'
import type { AuditStamp } from '../store/tenants/audit.ts'
import { type AdapterRecord, listAdapters } from '../store/vendor/adapters.ts'
import { keepCatalog, listCatalogs, readCatalogText, type Revocation, type StoredCatalog,
  writeRevocations } from '../store/vendor/catalogs.ts'
import { createCatalogFetch } from './catalog-fetch.ts'

/** Where a catalog is, and whose signatures count when it is read for the first time; each catalog names the keys of the next. */
export type CatalogPlace = { address: string, keys: readonly PublicKey[] }

/** A catalog as it was last read, and how its packages are read. `isExpired`: by now; nothing new is installed from it. */
export type KnownCatalog = { catalog: Catalog, isExpired: boolean, readPackage: ReturnType<typeof openSource>['readPackage'] }

export type Catalogs = {
  /** Those that were read at any time, in the order of the configuration. */
  known: () => Promise<readonly KnownCatalog[]>
  /** Reads all again. `revoked`: whether a version was revoked, or is not any more. */
  refresh: (stamp: AuditStamp) => Promise<{ views: CatalogView[], revoked: boolean }>
}

/** A catalog that was verified here. `digest`: of its text. */
type Opened = { stored: StoredCatalog, digest: string, catalog: Catalog }

export function createCatalogs ({ database, places, transport, now }: {
  database: Database
  places: readonly CatalogPlace[]
  transport: HttpTransport
  now: () => Date
}): Catalogs {
  const fetch = createCatalogFetch(transport)
  const opened = new Map<string, Opened>()

  /** What was last read, if it was read with the keys that are configured now. */
  async function lastOf ({ address, keys }: CatalogPlace, all: readonly StoredCatalog[]): Promise<Opened | undefined> {
    const stored = all.find(({ source }) => source === address)
    if (stored?.configured !== namesOf(keys)) return undefined
    const before = opened.get(address)
    if (before?.stored.serial === stored.serial && before.stored.fetchedAt.getTime() === stored.fetchedAt.getTime()) return before
    const jws = await readCatalogText(database, address)
    if (jws === undefined) return undefined
    const fresh = { stored, digest: hash('sha256', jws), catalog: await openCatalog(jws, { keys: stored.keys, now: now() }) }
    opened.set(address, fresh)
    return fresh
  }

  async function read (place: CatalogPlace, all: readonly StoredCatalog[]): Promise<CatalogView> {
    const { address: source } = place
    const last = await lastOf(place, all)
    const keys = last?.catalog.trusted ?? place.keys
    const jws = await openSource(source, fetch).readCatalog()
    // A catalog that names other keys for the next one is not signed with these itself.
    if (last?.digest === hash('sha256', jws)) return viewOf(source, last.catalog)
    const catalog = await openCatalog(jws, { keys, now: now(), ...(last !== undefined && { lastSerial: last.stored.serial }) })
    await keepCatalog(database, { source, configured: namesOf(place.keys), keys, serial: catalog.serial, jws, fetchedAt: now() })
    return viewOf(source, catalog)
  }

  async function known (): Promise<KnownCatalog[]> {
    if (places.length === 0) return []
    const all = await listCatalogs(database)
    const found = await Promise.all(places.map(async (place): Promise<KnownCatalog[]> => {
      const last = await lastOf(place, all)
      if (last === undefined) return []
      const isExpired = Date.parse(last.catalog.expires) <= now().getTime()
      return [{ catalog: last.catalog, isExpired, readPackage: openSource(place.address, fetch).readPackage }]
    }))
    return found.flat()
  }

  return {
    known,
    async refresh (stamp) {
      // Who knows no catalog knows nothing of what they have revoked.
      if (places.length === 0) return { views: [], revoked: false }
      const all = await listCatalogs(database)
      const views = await Promise.all(places.map((place) => read(place, all).catch((error: unknown) => problemOf(place, error))))
      const revocations = revocationsIn(await known(), await listAdapters(database))
      return { views, revoked: await writeRevocations(database, revocations, platform.companyId, stamp) }
    }
  }
}

function viewOf (address: string, { serial, expires, adapters }: Catalog): CatalogView {
  return { address, serial, expires, adapters: adapters.length }
}

function problemOf ({ address }: CatalogPlace, error: unknown): CatalogView {
  if (!(error instanceof MarketplaceRefusal)) throw error
  return { address, problem: { code: error.code, message: error.message } }
}

/** For each package that was taken in, why it may not run any more. */
function revocationsIn (catalogs: readonly KnownCatalog[], records: readonly AdapterRecord[]): Revocation[] {
  return records.flatMap(({ code, packages }) =>
    packages.map(({ integrity, version }) => {
      const found = catalogs.map(({ catalog }) => withdrawalOf(catalog, code, version)).find((one) => one?.state === 'revoked')
      return { integrity, code, version, reason: found?.reason ?? null }
    })
  )
}

/** The names of keys: two sets of keys have the same where they are the same. */
function namesOf (keys: readonly PublicKey[]): string {
  return keys.map(({ kid }) => kid).sort().join(' ')
}
