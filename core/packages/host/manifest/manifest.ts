import { compile, type Fit, ownField, patternFault, pointer, type Problem } from '@dispatch/common'
import { ApiVersion, type DeliveryService, deliveryServices, type DeliveryStatus, deliveryStatusesOf, hasRecipients, isDeliveryService,
  ProviderCode } from '@dispatch/contract'
import { isServiceName, type ProvidedName, providedNames, senderProblems, type ServiceContracts, type ServiceName, serviceNames,
  services } from '@dispatch/services'
import type { ErrorReading } from '@dispatch/vendor-io/outcome'
import { type TProperties, Type } from 'typebox'
import { byService } from '../settings/by-service.ts'
import { hostProblems, hostSettingProblems } from '../settings/hosts.ts'
import { requestSettingsSchemaProblems, secretNames, SettingsSchema, settingsSchemaProblems } from '../settings/settings-schema.ts'
import { misshapenVerifiers, WebhookManifests, webhookProblems } from '../webhook/webhook.ts'
import { carriesFaults, ManifestCarries } from './carries.ts'
import { type Connect, connectProblems, ConnectSchema, factNames } from './connect.ts'
import type { Idempotency, Poll, Sandbox } from './definition.ts'
import { ErrorsSchema, refusalFaults } from './errors.ts'
import { ignoresFaults, ManifestIgnores } from './ignores.ts'
import { limitFaults, ManifestLimits, schemaFaults } from './limits.ts'
import { type VerbName, verbNames } from './verbs.ts'

/** One service in a manifest: its capabilities and limits. `timeLimit` is in seconds. */
export type ServiceManifest<Name extends ServiceName> = {
  capabilities: ServiceContracts[Name]['capabilities']
  /** Further limits of the vendor for a request. */
  limits?: ManifestLimits
  /** What the vendor's own document has of the data. */
  carries?: ManifestCarries
  /** Fields of a request with which the vendor does nothing. */
  ignores?: ManifestIgnores
  idempotency: Idempotency
  timeLimit?: number
  checkpoint?: true
  /** The vendor keeps drafts that were never issued. */
  draftsStay?: true
  /** For e-mail: the provider can send again to temporarily refused recipients only. */
  rest?: true
  notProcessed?: number[]
  /** The delivery status for each of the vendor's words. */
  statuses?: Record<string, DeliveryStatus>
  poll?: Poll
  verbs: VerbName[]
}

/** All facts about a provider that are known without running its code: plain JSON. */
export type Manifest = {
  code: string
  name: string
  version: string
  docs?: string
  settings: SettingsSchema
  requestSettings: SettingsSchema
  /** The settings whose values the vendor can be asked for. */
  suggestions?: string[]
  hosts: string[]
  connect?: Connect | Connect[]
  sandbox?: Sandbox
  needs?: 'disk'[]
  since?: string
  errors: ErrorReading
  services: { [Name in ServiceName]?: ServiceManifest<Name> }
  webhooks?: WebhookManifests
}

/** The delivery statuses that a provider reports, from its vendor's answers or events, in their usual order. */
export function statusesOf ({ services, webhooks }: Pick<Manifest, 'services' | 'webhooks'>, service: DeliveryService): DeliveryStatus[] {
  const events = isDeliveryService(service) ? webhooks?.[service]?.events : undefined
  const reported: string[] = [...Object.values(services[service]?.statuses ?? {}), ...Object.values(events ?? {})]
  return deliveryStatusesOf(service).filter((status) => reported.includes(status))
}

/** Seconds. */
const longestTimeLimit = 600

const closed = { additionalProperties: false }

/** The number (seconds) that each kind of idempotency needs. */
const idempotencyNeeds: Record<Idempotency['kind'], string[]> = { key: ['ttl'], lookup: ['visibleAfter'], none: [] }

const IdempotencySchema = Type.Unsafe<Idempotency>({
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { enum: Object.keys(idempotencyNeeds) },
    ttl: { type: 'number', exclusiveMinimum: 0 },
    visibleAfter: { type: 'number', minimum: 0 }
  },
  allOf: Object.entries(idempotencyNeeds).map(([kind, required]) => ({
    if: { properties: { kind: { const: kind } } },
    then: { required }
  })),
  ...closed
})

const SandboxSchema = Type.Unsafe<Sandbox>(Type.Union([
  Type.Object({ kind: Type.Literal('flag'), needs: Type.Optional(Type.Array(Type.String(), { uniqueItems: true })) }, closed),
  Type.Object({
    kind: Type.Literal('configuration'),
    key: Type.Optional(Type.Object({ setting: Type.String(), test: Type.String({ minLength: 1 }) }, closed))
  }, closed)
]))

/** Seconds: at most once a minute, and at most for 400 days. */
const PollSchema = Type.Object({
  after: Type.Optional(Type.Number({ minimum: 60 })),
  every: Type.Optional(Type.Number({ minimum: 60 })),
  until: Type.Optional(Type.Number({ maximum: 400 * 24 * 3600 }))
}, closed)

/** The fields of a service whose steps' status is polled. */
function followed (service: ProvidedName): TProperties {
  if (!isDeliveryService(service)) return {}
  return {
    statuses: Type.Optional(Type.Record(Type.String(), Type.Enum([...deliveryStatusesOf(service)]))),
    poll: Type.Optional(PollSchema)
  }
}

/** The fields that mean the same in every service. */
const sameFields = {
  limits: Type.Optional(ManifestLimits),
  carries: Type.Optional(ManifestCarries),
  ignores: Type.Optional(ManifestIgnores),
  idempotency: IdempotencySchema,
  timeLimit: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: longestTimeLimit })),
  checkpoint: Type.Optional(Type.Unsafe<true>({ const: true })),
  draftsStay: Type.Optional(Type.Unsafe<true>({ const: true })),
  notProcessed: Type.Optional(Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), { uniqueItems: true })),
  verbs: Type.Array(Type.Enum([...verbNames]), { uniqueItems: true })
}

const ServicesSchema = Type.Unsafe<Manifest['services']>({
  minProperties: 1,
  ...byService(providedNames, {
    own: (name) => ({
      capabilities: services[name].capabilities,
      ...followed(name),
      ...hasRecipients(name) ? { rest: Type.Optional(Type.Unsafe<true>({ const: true })) } : {}
    }),
    shared: sameFields,
    required: ['idempotency', 'verbs']
  })
})

const hostLabel = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'

/**
 * A DNS name in lower case of at least two labels; `*.` before it, or settings in place of labels before these. Addresses and ports are not
 * permitted.
 */
const HostPattern = Type.String({
  pattern: `^(named )?(\\*\\.)?((${hostLabel}|\\{[A-Za-z][A-Za-z0-9]*\\})\\.)*${hostLabel}\\.[a-z][a-z0-9-]*$`,
  description: 'a host name such as "api.example.com", "*.example.com" for every name below, "{account}.example.com" with a setting, or ' +
    '"named *.example.com" for those that the vendor names'
})

const ManifestSchema = Type.Unsafe<Manifest>(Type.Object({
  code: ProviderCode,
  name: Type.String({ minLength: 1, maxLength: 80 }),
  version: Type.String({ minLength: 1 }),
  docs: Type.Optional(Type.String({ format: 'uri', pattern: '^https://' })),
  settings: SettingsSchema,
  requestSettings: SettingsSchema,
  suggestions: Type.Optional(Type.Array(Type.String(), { uniqueItems: true, maxItems: 20 })),
  hosts: Type.Array(HostPattern, { uniqueItems: true }),
  connect: Type.Optional(ConnectSchema),
  sandbox: Type.Optional(SandboxSchema),
  needs: Type.Optional(Type.Array(Type.Literal('disk'), { uniqueItems: true })),
  since: Type.Optional(ApiVersion),
  errors: ErrorsSchema,
  services: ServicesSchema,
  webhooks: Type.Optional(WebhookManifests)
}, closed))

const fitManifest = compile(ManifestSchema)

/** Checks a manifest that was parsed from JSON. */
export function readManifest (json: unknown): Fit<Manifest> {
  const fit = fitManifest(json)
  if (!fit.ok) return fit
  const misshapen = Object.entries(fit.value.webhooks ?? {}).flatMap(([service, webhook]) =>
    misshapenVerifiers(webhook, `/webhooks/${service}`)
  )
  if (misshapen.length > 0) return { ok: false, problems: misshapen }
  const { settings, requestSettings, hosts } = fit.value
  const problems = [
    ...settingsSchemaProblems(settings, '/settings'),
    ...requestSettingsSchemaProblems(requestSettings, '/requestSettings'),
    ...hostProblems(hosts),
    ...hostSettingProblems(hosts, settings, factNames(fit.value)),
    ...refusalFaults(fit.value.errors.refusals ?? []),
    ...connectProblems(fit.value),
    ...sandboxProblems(fit.value),
    ...suggestionProblems(fit.value),
    ...fit.value.services.email === undefined ? [] : senderProblems(settings),
    ...switchProblems(fit.value),
    ...addressPageProblems(fit.value),
    ...serviceNames.flatMap((name) => verbProblems(name, fit.value.services[name], `/services/${name}/verbs`)),
    ...serviceNames.flatMap((name) => subscribeProblems(fit.value, name)),
    ...serviceNames.flatMap((name) => limitFaults(fit.value.services[name]?.limits ?? [], `/services/${name}/limits`)),
    ...serviceNames.flatMap((name) => ignoresFaults(fit.value.services[name]?.ignores ?? [], `/services/${name}/ignores`)),
    ...serviceNames.flatMap((name) => carriesFaults(fit.value.services[name]?.carries ?? [], `/services/${name}/carries`)),
    ...deliveryServices.flatMap((service) => webhooksOf(fit.value, service))
  ]
  return problems.length === 0 ? fit : { ok: false, problems }
}

function webhooksOf ({ webhooks, services, settings }: Manifest, service: DeliveryService): Problem[] {
  const webhook = webhooks?.[service]
  if (webhook === undefined) return []
  const path = `/webhooks/${service}`
  const offered = isServiceName(service) ? services[service] : undefined
  if (offered === undefined) return [{ path, code: 'no_service', message: `The provider does not offer "${service}".` }]
  const unconfirmed = webhook.confirm !== undefined && !offered.verbs.includes('status')
  return [
    ...webhookProblems(webhook, settings, path),
    ...(unconfirmed ? [{ path: `${path}/confirm`, code: 'required', message: 'The verb "status" is required to confirm an event.' }] : [])
  ]
}

/** Who registers a webhook has one, and takes it back. */
function subscribeProblems ({ services, webhooks }: Manifest, name: ServiceName): Problem[] {
  const { verbs = [] } = services[name] ?? {}
  const path = `/services/${name}/verbs`
  const pair = (['subscribe', 'unsubscribe'] as const).filter((verb) => verbs.includes(verb))
  if (pair.length === 0) return []
  const hasWebhook = isDeliveryService(name) && webhooks?.[name] !== undefined
  return [
    ...pair.length === 2 ? [] : [{ path, code: 'required', message: 'The verbs "subscribe" and "unsubscribe" need each other.' }],
    ...hasWebhook ? [] : [{ path, code: 'required', message: `The verb "${pair[0] ?? ''}" needs a webhook of "${name}" in "webhooks".` }]
  ]
}

function sandboxProblems ({ sandbox, settings }: Manifest): Problem[] {
  const needs = sandbox?.kind === 'flag' ? sandbox.needs ?? [] : sandbox?.key === undefined ? [] : [sandbox.key.setting]
  const unknown = needs.filter((name) => !Object.hasOwn(settings.properties, name)).map((name) => ({
    path: '/sandbox',
    code: 'unknown_setting',
    message: `There is no setting "${name}".`
  }))
  const fault = sandbox?.kind === 'configuration' && sandbox.key !== undefined ? patternFault(sandbox.key.test) : undefined
  return [...unknown, ...fault === undefined ? [] : [{ path: '/sandbox/key/test', code: 'schema', message: fault }]]
}

/** A secret is no choice among values that everybody may read. */
function suggestionProblems ({ suggestions = [], settings }: Manifest): Problem[] {
  return suggestions.flatMap((name) => {
    const path = pointer('/suggestions', name)
    if (!Object.hasOwn(settings.properties, name)) return [{ path, code: 'unknown_setting', message: `There is no setting "${name}".` }]
    return secretNames(settings).includes(name) ? [{ path, code: 'secret', message: `The setting "${name}" is a secret.` }] : []
  })
}

/** A setting that turns something on must be there, and be a yes or no. */
function switchProblems ({ services: { esign }, settings }: Manifest): Problem[] {
  const name = esign?.capabilities.usesPhoneNumber
  if (typeof name !== 'string' || ownField(ownField(settings.properties, name), 'type') === 'boolean') return []
  return [{
    path: '/services/esign/capabilities/usesPhoneNumber',
    code: 'unknown_setting',
    message: `There is no setting "${name}" that is a yes or no.`
  }]
}

/** The setting that says where the window of an envelope is must be there. */
function addressPageProblems ({ services: { postal }, settings }: Manifest): Problem[] {
  const { when = {}, windows } = postal?.capabilities.addressPage ?? {}
  const path = '/services/postal/capabilities/addressPage'
  return [
    ...schemaFaults(when, `${path}/when`),
    ...windows === undefined || Object.hasOwn(settings.properties, windows.setting)
      ? []
      : [{ path: `${path}/windows/setting`, code: 'unknown_setting', message: `There is no setting "${windows.setting}".` }]
  ]
}

/** Whether the provider makes the document itself. It is fetched after the acceptance, with the verb `document`. */
export function makesDocument (service: ServiceManifest<ServiceName> | undefined): boolean {
  return service !== undefined && 'document' in service.capabilities
}

function verbProblems (name: ServiceName, service: ServiceManifest<ServiceName> | undefined, path: string): Problem[] {
  if (service === undefined) return []
  const { idempotency, statuses } = service
  const receiving = service.verbs.filter((verb) => verb === 'received' || verb === 'receivedFile')
  const needed = new Set<VerbName>([
    'dispatch',
    ...idempotency.kind === 'lookup' ? ['lookup' as const] : [],
    // Whether it was said after all, the look-up tells.
    ...service.verbs.includes('say') ? ['lookup' as const, 'status' as const] : [],
    // What is listed is fetched, and the other way round.
    ...receiving.length > 0 ? ['received' as const, 'receivedFile' as const] : [],
    // Whether it was taken back, the status tells.
    ...statuses === undefined && !service.verbs.includes('cancel') ? [] : ['status' as const],
    ...makesDocument(service) ? ['document' as const] : []
  ])
  const mute = service.verbs.includes('cancel') && statuses !== undefined && !Object.values(statuses).includes('cancelled')
  const says = service.verbs.includes('say') && (services[name].says === undefined || idempotency.kind !== 'lookup')
  return [
    ...[...needed].filter((verb) => !service.verbs.includes(verb)).map((verb) => ({
      path,
      code: 'required',
      message: `The verb "${verb}" is required.`
    })),
    ...says
      ? [{ path, code: 'unknown_verb', message: `Of "${name}" nothing is said later, or its vendor cannot find it by a reference.` }]
      : [],
    ...service.verbs.includes('recipients') && services[name].electronicAddress === undefined
      ? [{ path, code: 'unknown_verb', message: `What "${name}" sends goes to no electronic address, which a directory could know.` }]
      : [],
    ...receiving.length > 0 && services[name].electronicAddress === undefined
      ? [{ path, code: 'unknown_verb', message: `What "${name}" sends goes to no electronic address, so nothing comes to one.` }]
      : [],
    ...mute ? [{ path, code: 'required', message: 'The verb "cancel" needs a word of "statuses" for "cancelled".' }] : []
  ]
}
