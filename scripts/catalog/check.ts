import { type Catalog, chooseVersion, MarketplaceRefusal, openCatalog, openSource, readPublicKey, takePackage,
  withdrawalOf } from '@dispatch/marketplace'
import { readFile } from 'node:fs/promises'

type Source = ReturnType<typeof openSource>
type Checked = { summary?: string, faults: string[] }

/** Checks the signed catalog in a folder and all its packages. Each fault is a line: its word, and a sentence. */
export async function checkFolder (folder: string, keyFile: string, now: Date): Promise<Checked> {
  const key = await readPublicKey(await readFile(keyFile, 'utf8'))
  const source = openSource(folder, fetch)
  const faults: string[] = []
  const catalog = await noting(faults, 'catalog', async () => await openCatalog(await source.readCatalog(), { keys: [key], now }))
  if (catalog === undefined) return { faults }
  if (catalog.isExpired) faults.push(`catalog_expired: The catalog expired at ${catalog.expires}; build and sign a new one.`)
  const { serial, expires, adapters } = catalog
  for (const { code, versions } of adapters) {
    for (const { version } of versions) await noting(faults, `${code} ${version}`, () => checkVersion(catalog, source, { code, version }))
  }
  const versions = adapters.reduce((sum, one) => sum + one.versions.length, 0)
  const found = faults.length === 0 ? 'no faults' : `${faults.length} faults`
  return { summary: `Catalog ${serial}, good until ${expires}: ${adapters.length} adapters, ${versions} versions, ${found}.`, faults }
}

/** The packages of withdrawn versions need not be there any more. */
async function checkVersion (catalog: Catalog, source: Source, { code, version }: Named): Promise<void> {
  if (withdrawalOf(catalog, code, version) !== undefined) return
  const listed = chooseVersion({ ...catalog, isExpired: false }, { code, version })
  const { bytes } = await source.readPackage(listed.version, catalog.registry)
  await takePackage(listed, bytes)
}

type Named = { code: string, version: string }

async function noting<Result> (faults: string[], what: string, work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MarketplaceRefusal)) throw error
    faults.push(`${error.code}: ${what}: ${error.message}`)
    return undefined
  }
}
