import { Type, type TObject, type TProperties, type TSchema } from 'typebox'
import { AnyJsonObject, CallbackUrl, Metadata, ProviderCode } from '../contract/common.ts'
import { refusal, type Problem } from '../contract/errors.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { compile, guarded, type Check } from '../contract/schema.ts'
import { services, type ServiceName } from './index.ts'

/** A dispatch request whose shape is right, with every field in its one place. */
export type DispatchRequest = {
  services: readonly ServiceName[]
  providerName?: string
  template: { id: number, data: JsonObject }
  metadata: Readonly<Record<string, string>>
  /** The runtime parameters of the provider. */
  settings: JsonObject
  callbackUrl?: string
  /** What the request carries for each of its services. */
  fields: Readonly<Record<string, JsonObject>>
  /** Where a service's field stands in the client's body, or belongs: a JSON pointer. */
  at: (service: ServiceName, field: string) => string
}

/** The schema of the body for these services: the CompositeRequest of the specification, narrowed to what they take. */
export function requestSchema (names: readonly ServiceName[]): TObject {
  const lifted = names.flatMap((name) => services[name].lifted.map((field) => [field, optional(services[name].fields.properties[field])] as const))
  return Type.Object({
    providerName: Type.Optional(ProviderCode),
    template: Type.Object({
      id: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The template.' }),
      data: Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'The data of the document; its schema belongs to the template.' })
    }, { additionalProperties: false }),
    metadata: Type.Optional(Metadata),
    settings: Type.Optional(Type.Unsafe<JsonObject>({ ...AnyJsonObject, description: 'Runtime parameters of the provider, as it declares them.' })),
    callbackUrl: Type.Optional(CallbackUrl),
    ...Object.fromEntries(lifted),
    ...Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Partial(services[name].fields, { additionalProperties: false }))]))
  }, { additionalProperties: false })
}

function optional (schema: TSchema | undefined): TProperties[string] {
  if (schema === undefined) throw new Error('A service lifts a field that it does not have.')
  return Type.Optional(schema)
}

type Body = Pick<DispatchRequest, 'template' | 'providerName' | 'callbackUrl'> & Partial<Pick<DispatchRequest, 'metadata' | 'settings'>> & Record<string, unknown>

/** Compiles the reader of the bodies for these services; it throws a `validation_error` with all problems of the shape. */
export function createRequestReader (names: readonly ServiceName[]): (body: unknown) => DispatchRequest {
  const check: Check<unknown> = guarded(compile(requestSchema(names)))
  return (body) => {
    const fit = check(body)
    const problems = [
      ...(fit.ok ? [] : fit.problems),
      ...(isObject(body) ? names.flatMap((name) => liftedProblems(name, body)) : [])
    ]
    if (problems.length > 0) throw refusal('validation_error', problems)
    return settle(names, body as Body)
  }
}

/** A field may stand at the top or in its service's object; it must stand somewhere if required, and not say two things. */
function liftedProblems (name: ServiceName, body: Record<string, unknown>): Problem[] {
  const { lifted, required } = services[name]
  const inside = isObject(body[name]) ? body[name] : {}
  const missing = required.filter((field) => !Object.hasOwn(inside, field) && !(lifted.includes(field) && Object.hasOwn(body, field)))
  const contradicting = lifted.filter((field) => Object.hasOwn(inside, field) && Object.hasOwn(body, field) && JSON.stringify(inside[field]) !== JSON.stringify(body[field]))
  return [
    ...missing.map((field) => ({ path: lifted.includes(field) ? `/${field}` : `/${name}/${field}`, code: 'required', message: `The field "${field}" is required${lifted.includes(field) ? ` (here or in "${name}")` : ''}.` })),
    ...contradicting.map((field) => ({ path: `/${name}/${field}`, code: 'contradiction', message: `Says something else than "/${field}"; give it in one place.` }))
  ]
}

function settle (names: readonly ServiceName[], body: Body): DispatchRequest {
  const { providerName, template, metadata = {}, settings = {}, callbackUrl } = body
  return {
    services: names,
    ...(providerName === undefined ? {} : { providerName }),
    template,
    metadata,
    settings,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    fields: Object.fromEntries(names.map((name) => [name, fieldsOf(name, body)])),
    at: (service, field) => placeOf(service, field, body)
  }
}

function fieldsOf (name: ServiceName, body: Body): JsonObject {
  const atTop = services[name].lifted.filter((field) => Object.hasOwn(body, field)).map((field) => [field, body[field] as Json] as const)
  return { ...Object.fromEntries(atTop), ...(body[name] as JsonObject | undefined) }
}

function placeOf (service: ServiceName, field: string, body: Body): string {
  const inside = body[service]
  const isInside = isObject(inside) && Object.hasOwn(inside, field)
  return services[service].lifted.includes(field) && !isInside ? `/${field}` : `/${service}/${field}`
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
