import { at, boundedValidator, compile, isRecord, type Json, type JsonObject, lazy, pointer, type Problem, type Validator, withoutMembers,
  withoutNulls } from '@dispatch/common'
import { givenDocument, type ServiceName, serviceNames, services, takesDocument } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import { type TObject, type TSchema, Type } from 'typebox'
import { refusal } from '../errors.ts'
import { type RequestedSchedule, scheduleFields } from '../schedule.ts'
import { isSince, laterField, latestVersion, type Version } from '../versions.ts'
import { createMisplacedFieldHint } from './misplaced-fields.ts'
import { deferredStepSchema, requestSchema } from './request-schema.ts'
import { createStepLocator, isGiven, pointerTo, type StepLocation, takesTemplate, valueOf } from './step-locations.ts'

/** A dispatch request whose shape is right, with every field in its one place. */
export type DispatchRequest = {
  services: readonly ServiceName[]
  metadata: Readonly<Record<string, string>>
  callbackUrl?: string
  /** When it is sent; at once unless given. */
  schedule?: RequestedSchedule
  /** One for each of its services, in their order. */
  steps: readonly RequestStep[]
  /** A step that is done once an event of the dispatch has come. */
  deferred: readonly RequestStep[]
}

/** The members of a request that belong to a step. */
export type RequestStep = {
  service: ServiceName
  /** The service's own fields. */
  fields: JsonObject
  /** Absent when the request has the content itself, or when the step uses the document of an earlier step. */
  template?: TemplateReference
  providerName?: string
  /** The runtime parameters of the provider. */
  settings: JsonObject
  /** What the data of its document say of fields that the request leaves out. It counts where the template states these fields. */
  stated?: Readonly<Record<string, Stated>>
  /** It leaves its subject to its template: what is wrong with it where the template has none. */
  untitled?: readonly Problem[]
  /** The event that it waits for, such as `esign.completed`. */
  deferredOn?: string
  /** Where a field of the step stands in the client's body, or belongs: a JSON pointer. */
  at: (field: string) => string
}

/** A template by its number, or by its name, and the data for it, which stands at `path` in the client's body. */
export type TemplateReference = ({ id: number } | { name: string }) & { data: JsonObject, path: string }

/** What the data of a template say of a field, and where: a JSON pointer into the client's body. */
export type Stated = { value: Json, path: string }

/** Reads a body. Throws a `validation_error` with all problems of its shape, and with those that were `found` before. */
export type RequestReader = (body: unknown, found?: readonly Problem[]) => DispatchRequest

/**
 * Compiles the reader of the bodies for these services, as a version of the API has them. Reading throws `validation_error` with all
 * problems of the shape.
 */
export function createRequestReader (path: readonly ServiceName[], version: Version = latestVersion): RequestReader {
  const schema = requestSchema(path, version)
  const check: Validator<unknown> = boundedValidator(compile(schema))
  const placesIn = createStepLocator(path, version)
  const placed = createMisplacedFieldHint(path, schema)
  const dated = createLaterFieldHint(path, version)
  return (written, found = []) => {
    const given = withoutUnsetFields(written)
    const fit = check(given)
    const body = fit.ok ? fit.value : given
    const { steps, deferred } = isRecord(body) ? placesIn(body) : { steps: [], deferred: [] }
    const all = [...steps, ...deferred]
    const stated = new Map(steps.map((place) => [place, statedFor(place, steps)]))
    const faults = new Map(all.map((place) => [place, fieldFaults(place, stated.get(place), subjectLeft(place, version))]))
    const problems = [
      ...found,
      ...(fit.ok ? [] : fit.problems.map(placed).map(dated)),
      ...all.flatMap((place) => [...faults.get(place)?.problems ?? [], ...templateProblems(place)])
    ]
    if (problems.length > 0) throw refusal('validation_error', problems)
    const step = (place: StepLocation): RequestStep => ({
      ...stepIn(place),
      ...notEmpty(stated.get(place)?.fields),
      ...faults.get(place)?.left
    })
    const { metadata = {}, callbackUrl } = body as Pick<DispatchRequest, 'callbackUrl'> & Partial<Pick<DispatchRequest, 'metadata'>>
    return {
      services: path,
      metadata,
      ...(callbackUrl === undefined ? {} : { callbackUrl }),
      ...scheduleIn(body as RequestedSchedule),
      steps: steps.map(step),
      deferred: deferred.map((place) => ({ ...step(place), deferredOn: place.inside['on'] as string }))
    }
  }
}

/** Says of an unknown field that a later version of the API has it. */
function createLaterFieldHint (path: readonly ServiceName[], version: Version): (problem: Problem) => Problem {
  if (version === latestVersion) return (problem) => problem
  const later = requestSchema(path)
  return (problem) => {
    const tokens = problem.path.split('/').slice(1)
    const found = tokens.reduce<Partial<TObject> | undefined>((schema, token) => schema?.properties?.[token], later)
    return problem.code !== 'unknown_field' || found === undefined
      ? problem
      : { ...problem, message: laterField(tokens.at(-1) ?? '', version) }
  }
}

/** What a body that fits its schema says of when it is sent. */
function scheduleIn (body: RequestedSchedule): Pick<DispatchRequest, 'schedule'> {
  const given = Object.entries(body).filter(([field]) => Object.hasOwn(scheduleFields, field))
  return given.length === 0 ? {} : { schedule: Object.fromEntries(given) }
}

/** What any request may say at its top level, and in the object of each service. */
const anyFields = lazy(() => ({
  top: new Set<string>([...serviceNames, ...serviceNames.flatMap((name) => Object.keys(requestSchema([name]).properties))]),
  own: serviceNames.map((name) => ({ name, known: new Set(Object.keys(deferredStepSchema(name).own.properties)) }))
}))

/**
 * A body without null for what other requests may have: a program that writes all fields of a type writes null for those that it leaves
 * out. A name that no request has stays a mistake.
 */
function withoutUnsetFields (body: unknown): unknown {
  if (!isRecord(body)) return body
  const { top, own } = anyFields()
  return withoutMembers(body, [
    ...unsetIn(body, top, ''),
    ...own.flatMap(({ name, known }) => unsetIn(body[name], known, `/${name}`))
  ])
}

function unsetIn (object: unknown, known: ReadonlySet<string>, base: string): string[] {
  return isRecord(object)
    ? Object.keys(object).filter((field) => object[field] === null && known.has(field)).map((field) => pointer(base, field))
    : []
}

/** What the data of a document say for a step, and what keeps the rest of it from being one of its fields. */
type Statements = { fields: Readonly<Record<string, Stated>>, problems: readonly FieldProblem[] }
type FieldProblem = Problem & { field: string }

/** What the data say of the fields that a step leaves out: those of its own template, or of the document that it takes. */
function statedFor (place: StepLocation, [first]: readonly StepLocation[]): Statements | undefined {
  const left = place.stated.filter((field) => !isGiven(place, field))
  const { data, path = '' } = (left.length === 0 ? undefined : documentOf(place, first)) ?? {}
  if (!isRecord(data)) return undefined
  const [fields, problems]: [Record<string, Stated>, FieldProblem[]] = [{}, []]
  for (const field of left) {
    const { place: where = '', read = (stated: Json): Json => stated } = services[place.service].stated?.[field] ?? {}
    const given = at(data, where)
    if (given === undefined || given === null) continue
    const fit = checkOf(place.service, field)(read(given))
    if (fit.ok) fields[field] = { value: fit.value, path: path + where }
    else problems.push(...fit.problems.map((problem) => ({ ...problem, field, path: path + where + problem.path })))
  }
  return { fields, problems }
}

/** The template of the document that a step sends: its own, or that of the first step. */
function documentOf (place: StepLocation, first: StepLocation | undefined): Pick<TemplateReference, 'data' | 'path'> | undefined {
  if (takesTemplate(place) && isGiven(place, 'template')) return templateIn(place)
  const isTaking = place === first || takesDocument(place.service, place.inside as JsonObject)
  return first !== undefined && isTaking ? templateIn(first) : undefined
}

function checkOf (service: ServiceName, field: string): Validator<Json> {
  const key = `${service}/${field}`
  const known = checks.get(key)
  if (known !== undefined) return known
  const schema: TSchema | undefined = services[service].fields.properties[field]
  if (schema === undefined) throw new Error(`The service "${service}" has no field "${field}".`)
  const check = boundedValidator(compile(Type.Unsafe<Json>(schema)))
  checks.set(key, check)
  return check
}

const checks = new Map<string, Validator<Json>>()

/** What the data say of fields that a step leaves out. Whether that counts is known with its template. */
function notEmpty (stated: Statements['fields'] = {}): Pick<RequestStep, 'stated'> {
  return Object.keys(stated).length === 0 ? {} : { stated }
}

/** The field that a step leaves to the subject of its own template. Whether that has one is known with the template. */
function subjectLeft (place: StepLocation, version: Version): string | undefined {
  const { subject } = services[place.service].template ?? {}
  if (subject === undefined || !isSince('1.1.0', version) || isGiven(place, subject)) return undefined
  return takesTemplate(place) && isGiven(place, 'template') ? subject : undefined
}

/**
 * Reads a field at the top level or in its service's object. A required field must be in one of them; two different values are wrong.
 * `left`: where a `subject` is left to the template, what is wrong with it if that has none.
 */
function fieldFaults (
  place: StepLocation,
  stated: Statements | undefined,
  subject: string | undefined
): { problems: Problem[], left: Pick<RequestStep, 'untitled'> } {
  const found = fieldProblems(place, stated)
  const { own = [], others = [] } = Object.groupBy(found, ({ field }) => field !== undefined && field === subject ? 'own' : 'others')
  return { problems: others.map(withoutField), left: subject === undefined ? {} : { untitled: own.map(withoutField) } }
}

function withoutField ({ field: _, ...problem }: Partial<FieldProblem> & Problem): Problem {
  return problem
}

function fieldProblems (place: StepLocation, stated: Statements | undefined): (Partial<FieldProblem> & Problem)[] {
  const { service, base, inside, body, lifted } = place
  const missing = services[service].required.filter((field) => !isGiven(place, field) && stated?.fields[field] === undefined)
  const contradicting = lifted.filter((field) =>
    Object.hasOwn(inside, field) && Object.hasOwn(body, field) && !isDeepStrictEqual(inside[field], body[field])
  )
  return [
    ...missing.map((field) => ({
      field,
      path: pointerTo(place, field),
      code: 'required',
      message: `The field "${field}" is required${lifted.includes(field) ? ` (here or in "${service}")` : ''}${orInData(place, field)}.`
    })),
    ...stated?.problems ?? [],
    ...contradicting.map((field) => ({
      path: `${base}/${field}`,
      code: 'contradiction',
      message: `It differs from "/${field}"; give it in one place only.`
    }))
  ]
}

/** Where the data of a template may state a field instead, in words. */
function orInData ({ service, stated }: StepLocation, field: string): string {
  const place = stated.includes(field) ? services[service].stated?.[field]?.place : undefined
  return place === undefined ? '' : `, or "${place.slice(1).replaceAll('/', '.')}" in the data of a template that has it`
}

/** Checks that there is a template (by number or by name) or a field that replaces it, and no combination that is not allowed. */
function templateProblems (place: StepLocation): Problem[] {
  const { unless, exclusive = false, byName, orGiven = false } = services[place.service].template ?? {}
  if (!takesTemplate(place)) return []
  const ways = [
    ...(unless === undefined ? [] : [{ field: unless, exclusive }]),
    ...(byName === undefined ? [] : [{ field: byName, exclusive: true }]),
    ...(orGiven && place.top.includes(givenDocument) ? [{ field: givenDocument, exclusive: true }] : [])
  ].map((way) => ({ ...way, path: pointerTo(place, way.field), given: isGiven(place, way.field) }))
  if (ways.length === 0) return []
  if (!isGiven(place, 'template')) {
    const others = ways.map(({ path }) => `"${path.slice(1)}"`).join(' or ')
    return ways.some(({ given }) => given)
      ? []
      : [{ path: pointerTo(place, 'template'), code: 'required', message: `The field "template" is required, or ${others} instead.` }]
  }
  return ways.filter(({ given, exclusive }) => given && exclusive).map(({ path }) => ({
    path,
    code: 'contradiction',
    message: `It replaces "${pointerTo(place, 'template')}"; give one of the two.`
  }))
}

/** The step of a body that fits its schema. */
function stepIn (place: StepLocation): RequestStep {
  const { service } = place
  const template = templateIn(place)
  const providerName = valueOf(place, 'providerName') as string | undefined
  const own = [...Object.keys(services[service].fields.properties), givenDocument].filter((field) => isGiven(place, field))
  return {
    service,
    fields: Object.fromEntries(own.map((field) => [field, valueOf(place, field) as Json])),
    ...(template === undefined ? {} : { template }),
    ...(providerName === undefined ? {} : { providerName }),
    settings: withoutNulls(valueOf(place, 'settings') as JsonObject | undefined ?? {}),
    at: (field) => pointerTo(place, field)
  }
}

function templateIn (place: StepLocation): TemplateReference | undefined {
  const byId = valueOf(place, 'template') as { id: number, data: JsonObject } | undefined
  if (byId !== undefined) return { ...byId, path: `${pointerTo(place, 'template')}/data` }
  const { byName = '' } = services[place.service].template ?? {}
  const named = valueOf(place, byName) as { templateName: string, data: JsonObject } | undefined
  return named && { name: named.templateName, data: named.data, path: `${pointerTo(place, byName)}/data` }
}
