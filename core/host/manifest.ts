import { Type } from 'typebox'
import { ProviderCode } from '../contract/common.ts'
import type { Problem } from '../contract/errors.ts'
import { compile, type Fit } from '../contract/schema.ts'
import { serviceNames, services, type ServiceName } from '../services/index.ts'
import type { ServiceContracts } from './contracts.ts'
import type { Idempotency } from './definition.ts'
import { providerErrors, type ProviderErrorWord } from './failure.ts'
import { formProblems, SettingsForm } from './form.ts'
import { verbNames, type VerbName } from './verbs.ts'

/** One service in a manifest: what the provider can do there. `timeLimit` is in seconds. */
export type ServiceManifest<Name extends ServiceName> = {
  capabilities: ServiceContracts[Name]['capabilities']
  idempotency: Idempotency
  timeLimit?: number
  verbs: VerbName[]
}

/** All that is known about a provider without running it: plain JSON. */
export type Manifest = {
  code: string
  name: string
  version: string
  docs?: string
  settings: SettingsForm
  requestSettings: SettingsForm
  errors: { map: Record<string, ProviderErrorWord> }
  services: { [Name in ServiceName]?: ServiceManifest<Name> }
}

/** Seconds. */
const longestTimeLimit = 600

const closed = { additionalProperties: false }

/** Which number (seconds) each kind of idempotency is given with. */
const idempotencyNeeds: Record<Idempotency['kind'], string[]> = { key: ['ttl'], lookup: ['visibleAfter'], none: [] }

const IdempotencySchema = Type.Unsafe<Idempotency>({
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { enum: Object.keys(idempotencyNeeds) },
    ttl: { type: 'number', exclusiveMinimum: 0 },
    visibleAfter: { type: 'number', minimum: 0 }
  },
  allOf: Object.entries(idempotencyNeeds).map(([kind, required]) => ({ if: { properties: { kind: { const: kind } } }, then: { required } })),
  ...closed
})

const serviceSchema = (name: ServiceName): object => Type.Object({
  capabilities: services[name].capabilities,
  idempotency: IdempotencySchema,
  timeLimit: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: longestTimeLimit })),
  verbs: Type.Array(Type.Enum([...verbNames]), { uniqueItems: true })
}, closed)

const ManifestSchema = Type.Unsafe<Manifest>(Type.Object({
  code: ProviderCode,
  name: Type.String({ minLength: 1, maxLength: 80 }),
  version: Type.String({ minLength: 1 }),
  docs: Type.Optional(Type.String({ format: 'uri', pattern: '^https://' })),
  settings: SettingsForm,
  requestSettings: SettingsForm,
  errors: Type.Object({ map: Type.Record(Type.String(), Type.Enum(Object.keys(providerErrors))) }, closed),
  services: Type.Unsafe<Manifest['services']>({
    type: 'object',
    minProperties: 1,
    properties: Object.fromEntries(serviceNames.map((name) => [name, serviceSchema(name)])),
    ...closed
  })
}, closed))

const fitManifest = compile(ManifestSchema)

/** Checks a manifest that was read as JSON. */
export function readManifest (json: unknown): Fit<Manifest> {
  const fit = fitManifest(json)
  if (!fit.ok) return fit
  const { settings, requestSettings } = fit.value
  const problems = [
    ...formProblems(settings, '/settings'),
    ...formProblems(requestSettings, '/requestSettings'),
    ...serviceNames.flatMap((name) => verbProblems(fit.value.services[name], `/services/${name}/verbs`))
  ]
  return problems.length === 0 ? fit : { ok: false, problems }
}

function verbProblems (service: ServiceManifest<ServiceName> | undefined, path: string): Problem[] {
  if (service === undefined) return []
  const needed: VerbName[] = service.idempotency.kind === 'lookup' ? ['dispatch', 'lookup'] : ['dispatch']
  return needed
    .filter((verb) => !service.verbs.includes(verb))
    .map((verb) => ({ path, code: 'required', message: `The verb "${verb}" is required.` }))
}
