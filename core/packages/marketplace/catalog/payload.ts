import { compile } from '@dispatch/common'
import semver from 'semver'
import { type Static, Type } from 'typebox'
import { checked } from '../json.ts'
import { AdapterCode, Conformance, Offer, PublisherName, SdkRange, Version } from '../package/manifest.ts'
import { MarketplaceRefusal } from '../refusal.ts'
import { PublicKey } from './keys.ts'
import { npmPlace, registryAddress } from './registry.ts'

const closed = { additionalProperties: false }
const Sha512 = Type.String({ pattern: '^sha512-[A-Za-z0-9+/]{86}==$', description: 'a SHA-512 such as "sha512-…=="' })
const Time = Type.String({ format: 'date-time', maxLength: 35 })
const Reason = Type.String({ minLength: 1, maxLength: 500 })

/** How far a publisher is known to whoever keeps the catalog. `private`: the catalog is for the publisher's own service. */
export const tiers = ['core', 'verified', 'community', 'private'] as const

/** A publisher by the name in its packages. Where it has keys, each of its packages is signed with one of them. */
export const Publisher = Type.Object({
  id: PublisherName,
  tier: Type.Enum([...tiers]),
  keys: Type.Optional(Type.Array(PublicKey, { minItems: 1, maxItems: 10 }))
}, closed)
export type Publisher = Static<typeof Publisher>

/** Where a package is: a path from the catalog, in which no part begins with a point, an address, or a version at the registry. */
const Place = Type.Union([
  Type.String({ pattern: '^[A-Za-z0-9_][\\w.+-]*(/[A-Za-z0-9_][\\w.+-]*)*\\.tgz$', maxLength: 300 }),
  Type.String({ format: 'https-url', maxLength: 2_000 }),
  Type.String({ pattern: npmPlace.source, maxLength: 300 })
], { description: 'a path below the catalog such as "acme-1.0.0.tgz", an https:// address, or "npm:<name>@<version>"' })

/**
 * What the keeper of a catalog says of a package: which conformance kit it passed, in how many cases, when, and who has run it. The
 * signature of the catalog makes it a statement about the bytes of the version.
 */
export const Attestation = Type.Object({
  kit: Version,
  passed: Type.Integer({ minimum: 1 }),
  skipped: Type.Integer({ minimum: 0 }),
  at: Time,
  by: Type.String({ minLength: 1, maxLength: 200 })
}, closed)
export type Attestation = Static<typeof Attestation>

/** `manifest`: the SHA-512 of the package's `manifest.json`. `size` is in bytes. */
export const CatalogVersion = Type.Object({
  version: Version,
  integrity: Sha512,
  size: Type.Integer({ minimum: 1 }),
  place: Place,
  manifest: Sha512,
  sdk: SdkRange,
  conformance: Conformance,
  released: Time,
  offer: Offer,
  /** The signature of the publisher: a compact JWS over {@link statementOf} of the package. */
  signature: Type.Optional(Type.String({ maxLength: 2_000 })),
  attested: Type.Optional(Attestation)
}, closed)
export type CatalogVersion = Static<typeof CatalogVersion>

const CatalogAdapter = Type.Object({
  code: AdapterCode,
  publisher: PublisherName,
  versions: Type.Array(CatalogVersion, { minItems: 1, maxItems: 1_000 })
}, closed)
export type CatalogAdapter = Static<typeof CatalogAdapter>

/** The versions of an adapter that are withdrawn: a range such as `<1.2.3`, `1.0.0 || 1.0.1` or `*`. */
export const Withdrawal = Type.Object({ code: AdapterCode, versions: SdkRange, reason: Reason, at: Time }, closed)
export type Withdrawal = Static<typeof Withdrawal>

/**
 * The content of a catalog. `keys`: those that may sign the next one, where they are not those of now. `registry`: where packages are whose
 * place is "npm:…"; that of everybody unless told.
 */
export const CatalogPayload = Type.Object({
  v: Type.Literal(1),
  serial: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  issued: Time,
  expires: Time,
  keys: Type.Optional(Type.Array(PublicKey, { minItems: 1, maxItems: 10 })),
  registry: Type.Optional(Type.String({ maxLength: 500 })),
  publishers: Type.Array(Publisher),
  adapters: Type.Array(CatalogAdapter),
  /** Not installed anew; what is installed goes on. */
  yanked: Type.Array(Withdrawal),
  /** Disabled wherever they are installed. */
  revoked: Type.Array(Withdrawal)
}, closed)
export type CatalogPayload = Static<typeof CatalogPayload>

const check = compile(CatalogPayload)

/** The value as the content of a catalog. Throws a {@link MarketplaceRefusal} that names every fault. */
export function readPayload (value: unknown): CatalogPayload {
  const payload = checked(value, check, { what: 'The catalog', code: 'catalog_invalid' })
  const faults = faultsOf(payload)
  if (faults.length > 0) throw new MarketplaceRefusal('catalog_invalid', `The catalog: ${faults.slice(0, 20).join(' ')}`)
  if (payload.registry !== undefined) registryAddress(payload.registry)
  return payload
}

function faultsOf ({ issued, expires, publishers, adapters, yanked, revoked }: CatalogPayload): string[] {
  const known = new Set(publishers.map(({ id }) => id))
  const strangers = adapters.filter(({ publisher }) => !known.has(publisher))
  return [
    ...Date.parse(issued) < Date.parse(expires) ? [] : ['It must expire after it was issued.'],
    ...repeated(publishers.map(({ id }) => id)).map((id) => `The publisher "${id}" is listed twice.`),
    ...repeated(adapters.map(({ code }) => code)).map((code) => `The adapter "${code}" is listed twice.`),
    ...strangers.map(({ code, publisher }) => `The adapter "${code}" has the publisher "${publisher}", whom "publishers" must list.`),
    ...adapters.flatMap(versionFaults),
    ...[...yanked, ...revoked].filter(({ versions }) => semver.validRange(versions) === null).map(({ code, versions }) =>
      `"${versions}" of "${code}" must be a range of versions such as "<1.2.3" or "*".`
    )
  ]
}

function versionFaults ({ code, versions }: CatalogAdapter): string[] {
  return [
    ...repeated(versions.map(({ version }) => version)).map((version) => `The version ${version} of "${code}" is listed twice.`),
    ...versions.filter(({ version }) => semver.valid(version) !== version).map(({ version }) =>
      `"${version}" of "${code}" must be a semantic version such as "1.0.0".`
    ),
    ...versions.filter(({ sdk }) => semver.validRange(sdk) === null).map(({ version, sdk }) =>
      `"${sdk}", the "sdk" of ${code} ${version}, must be a range of versions such as "^1.0.0".`
    )
  ]
}

function repeated (texts: readonly string[]): string[] {
  const seen = new Set<string>()
  return texts.filter((text) => seen.size === seen.add(text).size)
}
