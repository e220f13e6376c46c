import { compile, isRecord, ownField } from '@dispatch/common'
import semver from 'semver'
import { type Static, Type } from 'typebox'
import { readJson } from '../json.ts'
import { MarketplaceRefusal } from '../refusal.ts'

const closed = { additionalProperties: false }

/** A code as the contract of providers has it. */
export const AdapterCode = Type.String({ pattern: '^[a-z][a-z0-9-]{1,40}$', description: 'the code of a provider, such as "acme"' })
export const Version = Type.String({ maxLength: 64, description: 'a semantic version such as "1.0.0"' })
export const SdkRange = Type.String({ minLength: 1, maxLength: 100, description: 'a range of versions such as "^1.0.0"' })
export const PublisherName = Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S(.*\\S)?$' })
export const Licence = Type.String({ minLength: 1, maxLength: 200 })

/** What the conformance kit said, and the version of the kit. */
export const Conformance = Type.Union([
  Type.Object({
    status: Type.Literal('passed'),
    kit: Version,
    passed: Type.Integer({ minimum: 1 }),
    skipped: Type.Integer({ minimum: 0 })
  }, closed),
  Type.Object({ status: Type.Literal('not_run') }, closed)
])
export type Conformance = Static<typeof Conformance>

/**
 * The part of a provider's manifest that is read here. The core checks all of it when the code is loaded, and that the code says the same.
 */
const ProviderFacts = Type.Object({
  code: AdapterCode,
  name: Type.String({ minLength: 1, maxLength: 80 }),
  version: Version,
  hosts: Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100 }),
  services: Type.Record(
    Type.String(),
    Type.Object({
      capabilities: Type.Object({}),
      verbs: Type.Optional(Type.Array(Type.String())),
      idempotency: Type.Optional(Type.Object({ kind: Type.String() }))
    }),
    { minProperties: 1 }
  ),
  settings: Type.Object({}),
  webhooks: Type.Optional(Type.Object({})),
  sandbox: Type.Optional(Type.Object({}))
})

/** `manifest.json` of a package: all that is known of an adapter without running it. `provider` is the manifest of its code. */
export const PackageManifest = Type.Object({
  v: Type.Literal(1),
  package: Type.String({ minLength: 1, maxLength: 214 }),
  publisher: PublisherName,
  /** The versions of `@dispatch/core` that it works with. */
  sdk: SdkRange,
  licence: Licence,
  changelog: Type.String({ maxLength: 65_536 }),
  conformance: Conformance,
  provider: ProviderFacts
}, closed)
export type PackageManifest = Static<typeof PackageManifest>

/** What an adapter can beside dispatching: events of its vendor, each of the verbs, a test environment, keys that send nothing twice. */
export const adapterFeatures = ['webhooks', 'lookup', 'status', 'cancel', 'document', 'check', 'sandbox', 'idempotency'] as const
export type AdapterFeature = typeof adapterFeatures[number]

/**
 * What people search an adapter by. A service without `countries` is for all of them. `languages`: those in which its form can be read.
 * Older catalogs tell neither them nor the features.
 */
export const Offer = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 80 }),
  services: Type.Record(
    Type.String(),
    Type.Object({ documentTypes: Type.Optional(Type.Array(Type.String())), countries: Type.Optional(Type.Array(Type.String())) }, closed)
  ),
  hosts: Type.Array(Type.String()),
  licence: Licence,
  features: Type.Optional(Type.Array(Type.Enum([...adapterFeatures]))),
  languages: Type.Optional(Type.Array(Type.String()))
}, closed)
export type Offer = Static<typeof Offer>

const check = compile(PackageManifest)

/** Reads the text of a `manifest.json`. Throws a {@link MarketplaceRefusal} that names every fault. */
export function readManifest (text: string): PackageManifest {
  const manifest = readJson(text, check, { what: 'manifest.json', code: 'manifest_invalid' })
  const { sdk, provider: { version } } = manifest
  if (semver.valid(version) !== version) throw invalid(`/provider/version: "${version}" is not a semantic version such as "1.0.0".`)
  if (semver.validRange(sdk) === null) throw invalid(`/sdk: "${sdk}" is not a range of versions such as "^1.0.0".`)
  return manifest
}

function invalid (fault: string): MarketplaceRefusal {
  return new MarketplaceRefusal('manifest_invalid', `manifest.json: ${fault}`)
}

export function offerOf ({ licence, provider }: PackageManifest): Offer {
  const { name, hosts, services } = provider
  const offered = Object.entries(services).map(([service, { capabilities }]) => {
    const [documentTypes, countries] = ['documentTypes', 'countries'].map((field) => textsIn(ownField(capabilities, field)))
    return [service, { ...(documentTypes !== undefined && { documentTypes }), ...(countries !== undefined && { countries }) }] as const
  })
  return {
    name,
    services: Object.fromEntries(offered),
    hosts: [...hosts],
    licence,
    features: featuresOf(provider),
    languages: languagesOf(provider.settings)
  }
}

/** English, and those in which the fields of the settings have texts. */
function languagesOf (settings: object): string[] {
  const fields = Object.values(recordIn(settings, 'properties')).filter(isRecord)
  return [...new Set(['en', ...fields.flatMap((field) => Object.keys(recordIn(field, 'x-texts')))])]
}

function recordIn (value: object, name: string): Readonly<Record<string, unknown>> {
  const found = ownField(value, name)
  return isRecord(found) ? found : {}
}

function featuresOf ({ services, webhooks = {}, sandbox }: PackageManifest['provider']): AdapterFeature[] {
  const all = Object.values(services)
  const has = (feature: AdapterFeature): boolean => {
    if (feature === 'webhooks') return Object.keys(webhooks).length > 0
    if (feature === 'sandbox') return sandbox !== undefined
    if (feature === 'idempotency') return all.some(({ idempotency }) => idempotency?.kind === 'key')
    return all.some(({ verbs }) => verbs?.includes(feature) === true)
  }
  return adapterFeatures.filter(has)
}

function textsIn (value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}
