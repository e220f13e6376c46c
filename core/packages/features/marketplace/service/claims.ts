import { isSamePublisher, type Publisher, publisherInWords } from '@dispatch/host'
import type { AdapterPackage } from '@dispatch/marketplace'
import type { PackageSummary } from '../store/adapters.ts'
import type { KnownCatalog } from './catalogs.ts'
import { conflict } from './decisions.ts'

/** What is known of the code of a package, and of all publishers. */
type Surroundings = {
  pin: Publisher | undefined
  packages: readonly Pick<PackageSummary, 'publisher'>[]
  catalogs: readonly Pick<KnownCatalog, 'address' | 'catalog'>[]
}

/**
 * Whoever writes a package writes its names: its code, what people see, and its publisher. Throws `conflict` where one of them is
 * somebody's already, and no catalog lists these bytes, unless the operator says whose the package is (`said`).
 */
export function requireClaim ({ manifest, integrity }: AdapterPackage, around: Surroundings, said: string | undefined): void {
  const { publisher, provider: { code, version } } = manifest
  if (said !== undefined && said !== publisher) {
    throw conflict('other_publisher', `The package says that it is by "${publisher}", and not by "${said}".`)
  }
  const isListed = around.catalogs.some(({ catalog }) =>
    catalog.adapters.some((one) => one.code === code && one.versions.some((listed) => listed.integrity === integrity))
  )
  if (said === publisher || isListed) return
  const owner = [ownerOfCode, ownerOfPublisher, ownerOfName].map((find) => find(manifest, around)).find((found) => found !== undefined)
  if (owner === undefined) return
  throw conflict('whose_package',
    `${code} ${version} says that it is by "${publisher}", and ${owner}. If it is theirs, say so: "publisher": ${
      JSON.stringify(publisher)
    }.`)
}

type Find = (manifest: AdapterPackage['manifest'], around: Surroundings) => string | undefined

const ownerOfCode: Find = ({ publisher: author, package: packageName, provider: { code } }, { pin, packages, catalogs }) => {
  const own = { packageName, author }
  if (pin !== undefined) return isSamePublisher(pin, own) ? undefined : `the code "${code}" belongs to ${publisherInWords(pin)}`
  const other = packages.find(({ publisher }) => !isSamePublisher(publisher, own))
  if (other !== undefined) return `another package of the code "${code}" is here, which is ${publisherInWords(other.publisher)}`
  const listing = catalogs.find(({ catalog }) => catalog.adapters.some((one) => one.code === code && one.publisher !== author))
  const listed = listing?.catalog.adapters.find((one) => one.code === code)
  return listed && `the catalog ${listing?.address ?? ''} lists the code "${code}" of "${listed.publisher}"`
}

/** A publisher whom a catalog knows, or whose keys it knows, has packages that it lists. */
const ownerOfPublisher: Find = ({ publisher }, { catalogs }) => {
  for (const { address, catalog } of catalogs) {
    const known = catalog.publishers.find(({ id, tier, keys }) => id === publisher && (tier !== 'private' || keys !== undefined))
    if (known !== undefined) return `the catalog ${address} knows "${known.id}" (${known.tier}) and does not list these bytes`
  }
  return undefined
}

/** People choose an adapter by the name that it shows. */
const ownerOfName: Find = ({ publisher, provider: { code, name } }, { catalogs }) => {
  for (const { address, catalog } of catalogs) {
    const other = catalog.adapters.find((one) =>
      one.code !== code && one.publisher !== publisher && one.versions[0]?.offer.name.toLowerCase() === name.toLowerCase()
    )
    if (other !== undefined) return `its name "${name}" is that of "${other.code}" by "${other.publisher}" in the catalog ${address}`
  }
  return undefined
}
