import { readFile, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { MarketplaceRefusal } from '../refusal.ts'
import { type Fetch, readAddress } from './fetch.ts'
import { catalogLimit } from './open.ts'
import type { CatalogVersion } from './payload.ts'
import { npmVersionIn, publicRegistry, readFromRegistry, type RegistryFacts } from './registry.ts'

/** The name of the signed catalog in a directory, and below an address that ends with a slash. */
export const catalogFile = 'catalog.jws'

/** Where a catalog and its packages come from. Every method throws a {@link MarketplaceRefusal}. */
export type CatalogSource = Readonly<{
  /** The signed text, not verified. */
  readCatalog: () => Promise<string>
  /**
   * The bytes of a package, not inspected: no more than the catalog announces. What is at the `registry` of the catalog comes with what
   * that says of it.
   */
  readPackage: (version: Pick<CatalogVersion, 'place' | 'size' | 'integrity'>, registry?: string) => Promise<ReadPackage>
}>

/** The bytes of a package, and what its registry says where they came from one. */
export type ReadPackage = Readonly<{ bytes: Uint8Array, registry?: RegistryFacts }>

/** A source by its address: `https://…`, or the path of a directory. Throws a {@link MarketplaceRefusal} for any other. */
export function openSource (address: string, fetch: Fetch): CatalogSource {
  if (address.startsWith('https://')) return withRegistry(addressSource(address, fetch), fetch)
  if (!/^[a-z][a-z0-9+.-]+:/i.test(address)) return withRegistry(directorySource(address), fetch)
  throw new MarketplaceRefusal('source_invalid', `"${address}" must be an https:// address, or the path of a directory.`)
}

type OwnSource = Pick<CatalogSource, 'readCatalog'> & { readOwn: (version: Pick<CatalogVersion, 'place' | 'size'>) => Promise<Uint8Array> }

function withRegistry ({ readCatalog, readOwn }: OwnSource, fetch: Fetch): CatalogSource {
  return {
    readCatalog,
    async readPackage (version, registry = publicRegistry) {
      const npm = npmVersionIn(version.place)
      if (npm === undefined) return { bytes: await readOwn(version) }
      const { size, integrity } = version
      const { bytes, facts } = await readFromRegistry(registry, npm, { fetch, size, integrity })
      return { bytes, registry: facts }
    }
  }
}

function addressSource (address: string, fetch: Fetch): OwnSource {
  const url = URL.parse(address)
  if (url?.username !== '' || url.password !== '') {
    throw new MarketplaceRefusal('source_invalid', `"${address}" must be an https:// address without a user name and a password.`)
  }
  if (url.pathname.endsWith('/')) url.pathname += catalogFile
  return {
    readCatalog: async () => (await readAddress(url, catalogLimit, fetch)).toString(),
    readOwn: ({ place, size }) => readAddress(new URL(place, url), size, fetch)
  }
}

function directorySource (directory: string): OwnSource {
  return {
    readCatalog: async () => (await readBelow(directory, catalogFile, catalogLimit)).toString(),
    readOwn: ({ place, size }) => readBelow(directory, place, size)
  }
}

async function readBelow (directory: string, place: string, max: number): Promise<Uint8Array> {
  const path = await pathBelow(directory, place)
  const found = await stat(path).catch(unavailable(path))
  if (!found.isFile()) throw new MarketplaceRefusal('source_unavailable', `${path} must be a file.`)
  if (found.size > max) {
    throw new MarketplaceRefusal('source_length', `${path} has ${found.size} bytes, but at most ${max} are permitted.`)
  }
  return await readFile(path).catch(unavailable(path))
}

/** A link in a directory may lead to any place in it, and nowhere else. */
async function pathBelow (directory: string, place: string): Promise<string> {
  const root = await realpath(directory).catch(unavailable(directory))
  const path = join(root, place)
  const real = place.startsWith('https://') ? '' : await realpath(path).catch(unavailable(path))
  if (real.startsWith(root + sep)) return real
  throw new MarketplaceRefusal('source_invalid', `"${place}" leads out of ${directory}; a catalog in a directory has its packages in it.`)
}

function unavailable (path: string): (cause: unknown) => never {
  return (cause) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MarketplaceRefusal('source_unavailable', `${path} cannot be read: ${reason}.`, { cause })
  }
}
