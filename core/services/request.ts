import { isDeepStrictEqual } from 'node:util'
import { refusal, type Problem } from '../contract/errors.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { compile, guarded, type Check } from '../contract/schema.ts'
import { services, type ServiceName } from './index.ts'
import { liftedOf, requestSchema } from './request-schema.ts'

/** A dispatch request whose shape is right, with every field in its one place. */
export type DispatchRequest = {
  services: readonly ServiceName[]
  providerName?: string
  /** Not where the request brings the content itself. */
  template?: TemplateReference
  metadata: Readonly<Record<string, string>>
  /** The runtime parameters of the provider. */
  settings: JsonObject
  callbackUrl?: string
  /** What the request carries for each of its services. */
  fields: Readonly<Record<string, JsonObject>>
  /** Where a service's field stands in the client's body, or belongs: a JSON pointer. */
  at: (service: ServiceName, field: string) => string
}

/** A template by its number, or by its name, and the data for it, which stands at `path` in the client's body. */
export type TemplateReference = ({ id: number } | { name: string }) & { data: JsonObject, path: string }

/** Reads a body. Throws a `validation_error` with all problems of its shape, and with those that were `found` before. */
export type RequestReader = (body: unknown, found?: readonly Problem[]) => DispatchRequest

/** Compiles the reader of the bodies for these services. */
export function createRequestReader (names: readonly ServiceName[]): RequestReader {
  const check: Check<unknown> = guarded(compile(requestSchema(names)))
  return (body, found = []) => {
    const fit = check(body)
    const problems = [
      ...found,
      ...(fit.ok ? [] : fit.problems),
      ...(isObject(body) ? names.flatMap((name) => [...fieldProblems(name, names, body), ...templateProblems(name, names, body)]) : [])
    ]
    if (problems.length > 0) throw refusal('validation_error', problems)
    return settle(names, body as Body)
  }
}

/** A field may stand at the top or in its service's object; it must stand somewhere if required, and not say two things. */
function fieldProblems (name: ServiceName, names: readonly ServiceName[], body: Fields): Problem[] {
  const lifted = liftedOf(name, names)
  const inside = insideOf(name, body)
  const missing = services[name].required.filter((field) => !isGiven(name, field, names, body))
  const contradicting = lifted.filter((field) => Object.hasOwn(inside, field) && Object.hasOwn(body, field) && !isDeepStrictEqual(inside[field], body[field]))
  return [
    ...missing.map((field) => ({ path: placeOf(name, field, names, body), code: 'required', message: `The field "${field}" is required${lifted.includes(field) ? ` (here or in "${name}")` : ''}.` })),
    ...contradicting.map((field) => ({ path: `/${name}/${field}`, code: 'contradiction', message: `Says something else than "/${field}"; give it in one place.` }))
  ]
}

/** A template may be named in two ways, or be replaced by a field of the service: one of them is needed, some must not stand beside it. */
function templateProblems (name: ServiceName, names: readonly ServiceName[], body: Fields): Problem[] {
  const { unless, exclusive = false, byName } = services[name].template ?? {}
  const ways = [
    ...(unless === undefined ? [] : [{ path: placeOf(name, unless, names, body), given: isGiven(name, unless, names, body), exclusive }]),
    ...(byName === undefined ? [] : [{ path: `/${byName}`, given: Object.hasOwn(body, byName), exclusive: true }])
  ]
  if (ways.length === 0) return []
  if (!Object.hasOwn(body, 'template')) {
    const others = ways.map(({ path }) => `"${path.slice(1)}"`).join(' or ')
    return ways.some(({ given }) => given) ? [] : [{ path: '/template', code: 'required', message: `The field "template" is required, or ${others} in its place.` }]
  }
  return ways.filter(({ given, exclusive }) => given && exclusive).map(({ path }) => ({ path, code: 'contradiction', message: 'Stands in the place of "/template"; give one of the two.' }))
}

type Fields = Readonly<Record<string, unknown>>

/** A body that fits its schema. */
type Body = Pick<DispatchRequest, 'providerName' | 'callbackUrl'> & Partial<Pick<DispatchRequest, 'metadata' | 'settings'>> & { template?: { id: number, data: JsonObject } } & Fields

function settle (names: readonly ServiceName[], body: Body): DispatchRequest {
  const { providerName, metadata = {}, settings = {}, callbackUrl } = body
  const template = templateOf(names, body)
  return {
    services: names,
    ...(providerName === undefined ? {} : { providerName }),
    ...(template === undefined ? {} : { template }),
    metadata,
    settings,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    fields: Object.fromEntries(names.map((name) => [name, fieldsOf(name, names, body)])),
    at: (service, field) => placeOf(service, field, names, body)
  }
}

function templateOf (names: readonly ServiceName[], body: Body): TemplateReference | undefined {
  if (body.template !== undefined) return { ...body.template, path: '/template/data' }
  const byName = names.map((name) => services[name].template?.byName).find((field) => field !== undefined && Object.hasOwn(body, field))
  if (byName === undefined) return undefined
  const { templateName, data } = body[byName] as { templateName: string, data: JsonObject }
  return { name: templateName, data, path: `/${byName}/data` }
}

function fieldsOf (name: ServiceName, names: readonly ServiceName[], body: Body): JsonObject {
  const atTop = liftedOf(name, names).filter((field) => Object.hasOwn(body, field)).map((field) => [field, body[field] as Json] as const)
  return { ...Object.fromEntries(atTop), ...(body[name] as JsonObject | undefined) }
}

function isGiven (name: ServiceName, field: string, names: readonly ServiceName[], body: Fields): boolean {
  return Object.hasOwn(insideOf(name, body), field) || (liftedOf(name, names).includes(field) && Object.hasOwn(body, field))
}

function placeOf (name: ServiceName, field: string, names: readonly ServiceName[], body: Fields): string {
  const isInside = Object.hasOwn(insideOf(name, body), field)
  return liftedOf(name, names).includes(field) && !isInside ? `/${field}` : `/${name}/${field}`
}

function insideOf (name: ServiceName, body: Fields): Fields {
  const inside = body[name]
  return isObject(inside) ? inside : {}
}

function isObject (value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
