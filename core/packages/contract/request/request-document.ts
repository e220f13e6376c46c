import type { JsonObject } from '@dispatch/common'
import { givenDocument, needsProvider, type ServiceName, services } from '@dispatch/services'
import { type TObject, type TProperties, Type } from 'typebox'
import { chainBeginners, chainFollowers } from './chains.ts'
import { capital, deferredField, optionFields, requestSchema, type StepSchema, stepSchemas } from './request-schema.ts'

/*
 * The bodies of dispatch requests as they are documented. The schemas that read them leave it to the reader to tell what is missing,
 * because a field may stand in one of two places; whoever generates types needs to know it beforehand. What fits the one fits the other,
 * except that the data of a template may state what is missing: only its own schema knows them.
 */

/** A form and the name of its schema. */
type NamedForm = StepSchema & { title: string }

/** One of several ways is taken: at least one (`anyOf`), or one alone (`oneOf`). */
type Alternatives = { title?: string } & ({ anyOf: JsonObject[] } | { oneOf: JsonObject[] })

/** The body for these services, with what must be there. */
export function documentedRequest (path: readonly ServiceName[]): TObject {
  const forms = path.map((_, index) => formIn(path, index))
  const { properties } = requestSchema(path)
  const own = Object.fromEntries(
    forms.map((form) => [form.service, isNeeded(form) ? ownSchema(form) : Type.Optional(ownSchema(form))])
  ) as TProperties
  return withOptions(
    `${path.map(capital).join('')}Request`,
    { ...properties, ...own, ...deferredField(path, deferredSchema) },
    forms.flatMap((form) => [...liftedWays(form, properties), ...isInside(form) ? [] : templateWays(form, properties)])
  )
}

/** The body of any chain: each takes what its services take. */
export function documentedChain (): TObject {
  const makers = chainBeginners.filter((name) => !chainFollowers.includes(name))
  const provided = makers.filter(needsProvider).slice(0, 1)
  const forms = [...makers.map((name) => formIn([name], 0)), ...chainFollowers.map((name) => formIn([...provided, name], 1))]
  const properties = Object.assign({}, ...chainBeginners.map((name) => requestSchema([name]).properties)) as TProperties
  const own = Object.fromEntries(forms.map((form) => [form.service, Type.Optional(ownSchema(form))])) as TProperties
  return withOptions(
    'ChainRequest',
    { ...properties, ...own, ...deferredField(forms.map(({ service }) => service), deferredSchema) },
    makers.flatMap((name) => templateWays(formIn([name], 0), properties))
  )
}

/** What every request may say beside what it sends. */
const Options = Type.Object(optionFields, { title: 'RequestOptions' })

/** A body: the options that all have, once for all of them, and its own fields. */
function withOptions (title: string, fields: TProperties, ways: Alternatives[]): TObject {
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(optionFields, name)))
  const isWhole = Object.keys(optionFields).every((name) => Object.hasOwn(fields, name))
  if (!isWhole) return Type.Object(fields, { title, additionalProperties: false, ...together(ways) })
  return Type.Object(own, { title, unevaluatedProperties: false, allOf: [Options, ...ways] })
}

/**
 * The form of a step in a path. A service has three of them: it comes first, behind a file (which has no provider), or behind a provider.
 */
function formIn (path: readonly ServiceName[], index: number): NamedForm {
  const form = stepSchemas(path)[index]
  if (form === undefined) throw new Error(`There is no step ${index} in ${path.join('/')}.`)
  const name = capital(form.service)
  if (index > 0) return { ...form, title: Object.hasOwn(form.own.properties, 'providerName') ? `${name}Step` : `${name}AfterFile` }
  return {
    ...form,
    title: requiredInside(form).length === services[form.service].required.length ? `${name}Fields` : `Partial${name}Fields`
  }
}

function deferredSchema (form: StepSchema): TObject {
  return ownSchema({ ...form, title: `Deferred${capital(form.service)}` })
}

/** The service's own object: what can stand nowhere else is required. */
function ownSchema (form: NamedForm): TObject {
  const { service, own, title } = form
  const required = Object.fromEntries(
    requiredInside(form).map((field) => [field, services[service].fields.properties[field]])
  ) as TProperties
  return Type.Object({ ...own.properties, ...required }, {
    title,
    ...mayBeStated(form),
    additionalProperties: false,
    ...isInside(form) ? together(templateWays(form, own.properties)) : {}
  })
}

/** Says which fields may be left out, and where their values stand then. */
function mayBeStated ({ service, stated }: StepSchema): { description?: string } {
  const places = stated.map((field) => `${field} (${services[service].stated?.[field]?.place.slice(1).replaceAll('/', '.') ?? ''})`)
  const { subject } = services[service].template ?? {}
  const said = [
    ...places.length === 0 ? [] : [`The data of a template for ${service} may state instead: ${places.join(', ')}.`],
    ...subject === undefined ? [] : [`A template that has a subject makes what "${subject}" leaves out.`]
  ]
  return said.length === 0 ? {} : { description: said.join(' ') }
}

/** The fields that nothing else has: neither the top, nor a template or its data. */
function requiredInside ({ service, top, stated }: StepSchema): string[] {
  const { required, template } = services[service]
  return required.filter((field) => !top.includes(field) && !stated.includes(field) && field !== template?.subject)
}

/** Whether all that the template, or what takes its place, can be stands in the service's own object. */
function isInside ({ top, own }: StepSchema): boolean {
  return !top.includes('template') && own.properties['template'] !== undefined
}

function isNeeded (form: StepSchema): boolean {
  return requiredInside(form).length > 0 || (isInside(form) && templateWays(form, form.own.properties).length > 0)
}

/** A required field that may stand at the top or in the service's own object. */
function liftedWays (form: StepSchema, body: TProperties): Alternatives[] {
  return services[form.service].required.filter((field) => form.top.includes(field) && !form.stated.includes(field)).map((field) => ({
    title: `Having${capital(field)}`,
    anyOf: placesOf(form, field, body)
  }))
}

/** The template and what can take its place; `around`: the fields of the object that they stand in. */
function templateWays (form: StepSchema, around: TProperties): Alternatives[] {
  const { unless, byName, exclusive = false, orGiven = false } = services[form.service].template ?? {}
  const given = orGiven && form.top.includes(givenDocument) ? givenDocument : undefined
  const instead = [unless, byName, given].filter((field) => field !== undefined)
  if (instead.length === 0 || !(form.top.includes('template') || isInside(form))) return []
  const ways = ['template', ...instead].map((field) => isInside(form) ? having(around, field) : anyOf(placesOf(form, field, around)))
  const title = `${isInside(form) ? 'Own' : 'Having'}TemplateOr${instead.map(capital).join('Or')}`
  return [exclusive || byName !== undefined || given !== undefined ? { title, oneOf: ways } : { title, anyOf: ways }]
}

/** Bodies that have the field, in each of the places where it may stand. */
function placesOf ({ service, own, top }: StepSchema, field: string, body: TProperties): JsonObject[] {
  const inside = own.properties[field] === undefined ? [] : [having({ [service]: having(own.properties, field) }, service)]
  return top.includes(field) ? [having(body, field), ...inside] : inside
}

function having (properties: Readonly<Record<string, unknown>>, field: string): JsonObject {
  return { type: 'object', required: [field], properties: { [field]: properties[field] as JsonObject } }
}

function anyOf (ways: JsonObject[]): JsonObject {
  const [only, ...others] = ways
  return only !== undefined && others.length === 0 ? only : { anyOf: ways }
}

/** What all hold at once. */
function together (all: Alternatives[]): { allOf?: Alternatives[] } {
  return all.length === 0 ? {} : { allOf: all }
}
