/** `@dispatch/marketplace`: packages of adapters and the catalogs that list them: made, inspected, signed and read. */

export { MarketplaceRefusal, refusalCodes } from './refusal.ts'

// Packages.
export { integrityOf } from './integrity.ts'
export { inspectPackage, isForSdk, type AdapterPackage } from './package/inspect.ts'
export { writePackage } from './package/write.ts'
export { writeTarball } from './package/tarball.ts'
export { type AdapterFeature, adapterFeatures, offerOf, type PackageManifest } from './package/manifest.ts'

// Catalogs.
export { buildingFile, buildingInWords, catalogsBuilding } from './catalog/building.ts'
export { buildCatalog, type PlacedPackage } from './catalog/build.ts'
export { chooseVersion, takePackage, withdrawalOf } from './catalog/choose.ts'
export { makeKeys, PublicKey, readPrivateKey, readPublicKey } from './catalog/keys.ts'
export { signPackage } from './catalog/listing.ts'
export { maxDays, openCatalog, signCatalog, type Catalog } from './catalog/open.ts'
export { Attestation, CatalogPayload, Publisher, Withdrawal } from './catalog/payload.ts'
export type { Fetch } from './catalog/fetch.ts'
export { catalogFile, openSource, type ReadPackage } from './catalog/source.ts'

// Registries of npm.
export { type NpmVersion, npmVersionIn, publicRegistry, readFromRegistry, type RegistryFacts } from './catalog/registry.ts'
