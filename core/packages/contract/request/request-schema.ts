import type { JsonObject } from '@dispatch/common'
import { GivenDocument, givenDocument, needsProvider, type ServiceName, serviceNames, services } from '@dispatch/services'
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { AnyJsonObject, CallbackUrl, Metadata, ProviderCode } from '../common.ts'
import { deferringServices, deliveryStatusesOf, isDeferringService } from '../delivery.ts'
import { scheduleFields } from '../schedule.ts'
import { isSince, latestVersion, type Version } from '../versions.ts'
import { chainFollowers } from './chains.ts'

const closed = { additionalProperties: false } as const

const TemplateData = Type.Unsafe<JsonObject>({
  ...AnyJsonObject,
  description: 'The data of the document; the template has their schema.'
})

/** A template by its number. */
const TemplateById = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The id of the template.' }),
  data: TemplateData
}, { ...closed, title: 'TemplateReference' })

/** A template by its name: the company's own before a shared one. */
const TemplateByName = Type.Object({
  templateName: Type.String({ minLength: 1, maxLength: 100 }),
  data: TemplateData
}, { ...closed, title: 'NamedTemplate' })

/** Who does a step, and with which runtime parameters. */
const providerFields = {
  providerName: Type.Optional(ProviderCode),
  settings: Type.Optional(
    Type.Unsafe<JsonObject>({
      ...AnyJsonObject,
      title: 'RequestSettings',
      description: 'The request settings that the provider declares.'
    })
  )
}

/**
 * What requests may say beside what they send, in the latest version of the API: all of it, unless they begin with a file, which is not
 * scheduled.
 */
export const optionFields: TProperties = {
  ...providerFields,
  metadata: Type.Optional(Metadata),
  callbackUrl: Type.Optional(CallbackUrl),
  ...scheduleFields
}

/**
 * Where a request says what a step needs: in the step's own object, and (the fields of `top`) at the top level. `stated`: those that may be
 * left out where the data of its document state them.
 */
export type StepSchema = { service: ServiceName, own: TObject, top: readonly string[], stated: readonly string[] }

/**
 * The steps of a path, in its order. The first has the template of the request, the first that needs a provider its `providerName` and
 * `settings`.
 */
export function stepSchemas (path: readonly ServiceName[], version: Version = latestVersion): StepSchema[] {
  const provided = Math.max(0, path.findIndex(needsProvider))
  return path.map((service, index) => ({
    service,
    own: Type.Object({
      ...fieldsIn(service, version),
      ...(index === 0 ? {} : ownTemplate(service)),
      ...(index <= provided ? {} : providerFields)
    }, closed),
    top: [
      ...topLevelFieldsOf(service, path),
      ...(index === 0 ? Object.keys(templateFields(service, version)) : []),
      ...(index === provided ? Object.keys(providerFields) : [])
    ],
    stated: Object.keys(services[service].stated ?? {})
  }))
}

/** The services that can be deferred: those that do something with a document, wherever it was made. A signature needs places for it. */
export const deferrable: readonly ServiceName[] = chainFollowers.filter((name) => services[name].signers === undefined)
export const maxDeferred = 5

/** A step that waits for an event: all of it stands in its own object. */
export function deferredStepSchema (service: ServiceName, version: Version = latestVersion): StepSchema {
  return {
    service,
    own: Type.Object({
      on: Type.Optional(Type.Unknown()),
      service: Type.Literal(service),
      ...providerFields,
      ...ownTemplate(service),
      ...fieldsIn(service, version)
    }, closed),
    top: [],
    stated: []
  }
}

/**
 * The schema of the body for these services in a version of the API: the CompositeRequest of the specification, narrowed to what they take.
 */
export function requestSchema (path: readonly ServiceName[], version: Version = latestVersion): TObject {
  const [first] = path
  return Type.Object({
    providerName: providerFields.providerName,
    ...(first === undefined ? {} : templateFields(first, version)),
    metadata: Type.Optional(Metadata),
    settings: providerFields.settings,
    callbackUrl: Type.Optional(CallbackUrl),
    ...(isSince('1.1.0', version) && first !== undefined && services[first].content !== 'upload' ? scheduleFields : {}),
    ...Object.fromEntries(
      path.flatMap((name) => {
        const known = fieldsIn(name, version)
        return topLevelFieldsOf(name, path).filter((field) => field in known).map((field) => [field, optional(known[field])])
      })
    ),
    ...Object.fromEntries(stepSchemas(path, version).map(({ service, own }) => [service, Type.Optional(own)])),
    ...deferredField(path, ({ own }) => own, version)
  }, closed)
}

/** The fields of a service in a version of the API, none of them required. */
function fieldsIn (service: ServiceName, version: Version): TProperties {
  return knownIn(Type.Partial(services[service].fields).properties, version)
}

function knownIn (fields: Record<string, TSchema & { 'x-since'?: Version }>, version: Version): TProperties {
  return Object.fromEntries(Object.entries(fields).filter(([, { 'x-since': since }]) => isSince(since, version)))
}

/** What a retry may put in place of the object of this service, in a version of the API. */
export function retrySchema (service: ServiceName, version: Version): TObject {
  return Type.Object({ [service]: Type.Object(knownIn(services[service].fields.properties, version), closed) }, closed)
}

/** What a retry may put in place of the object of the service that failed. */
export const RetryBody = Type.Object(Object.fromEntries(serviceNames.map((name) => [name, Type.Optional(services[name].fields)])), {
  ...closed,
  title: 'Retry',
  examples: serviceNames.flatMap(exampleOf),
  description: 'The corrected object of the failed service: it replaces the object of the request.'
})

function exampleOf (name: ServiceName): JsonObject[] {
  const { example } = services[name]
  const own = (example[name] ?? example) as JsonObject
  return Object.keys(own).length === 0 ? [] : [{ [name]: own }]
}

/** The fields of a service that may stand at the top level of a request for these services. */
export function topLevelFieldsOf (name: ServiceName, path: readonly ServiceName[]): readonly string[] {
  const { topLevelFields: lifted, topLevelFieldsAlone: liftedAlone = [] } = services[name]
  return path.length === 1 ? [...lifted, ...liftedAlone] : lifted
}

/** A template that nothing can take the place of is required here; whether one of several ways was taken is for the reader to say. */
function templateFields (name: ServiceName, version: Version): TProperties {
  const { template } = services[name]
  if (template === undefined) return {}
  const { unless, byName } = template
  const orGiven = template.orGiven === true && isSince('1.1.0', version)
  return {
    template: unless === undefined && byName === undefined && !orGiven ? TemplateById : Type.Optional(TemplateById),
    ...(orGiven ? { [givenDocument]: Type.Optional(GivenDocument) } : {}),
    ...(byName === undefined ? {} : { [byName]: Type.Optional(TemplateByName) })
  }
}

/** What takes the document of the chain has no template of its own. */
function ownTemplate (name: ServiceName): TProperties {
  const { template, chain } = services[name]
  return template === undefined || chain.consumes === 'document' ? {} : { template: Type.Optional(TemplateById) }
}

/** What can happen to a dispatch of these services after it was accepted: `esign.completed`, … */
export function eventsOf (path: readonly ServiceName[]): string[] {
  return path.filter(isDeferringService).flatMap((name) => deliveryStatusesOf(name).map((status) => `${name}.${status}`))
}

/** The field for what waits for an event, where there can be one; `ownOf`: the schema of each of its forms. */
export function deferredField (path: readonly ServiceName[], ownOf: (form: StepSchema) => TObject, version = latestVersion): TProperties {
  // In the order of the services, not of the path: what has the same events has the same name.
  const withEvents = deferringServices.filter((name) => path.includes(name))
  if (withEvents.length === 0) return {}
  const names = withEvents.map(capital).join('Or')
  return {
    deferred: Type.Optional(Type.Array(Type.Unsafe<JsonObject>({
      ...Type.Object({ on: Type.Enum(eventsOf(withEvents)), service: Type.Enum([...deferrable]) }),
      title: `DeferredActionOn${names}`,
      discriminator: { propertyName: 'service' },
      oneOf: deferrable.map((name) => ownOf(deferredStepSchema(name, version)))
    }), {
      title: `DeferredOn${names}`,
      maxItems: maxDeferred,
      description: 'An action for an event: a service\'s fields, "on", "service".'
    }))
  }
}

/** The name of a service or a field as it stands in longer names. */
export function capital (name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function optional (schema: TSchema | undefined): TProperties[string] {
  if (schema === undefined) throw new Error('A service lifts a field that it does not have.')
  return Type.Optional(schema)
}
