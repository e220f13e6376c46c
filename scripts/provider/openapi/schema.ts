import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Description } from './description.ts'

/** What a schema of a description says, as far as a request or an answer is made of it. */
export type Shape = {
  type: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | undefined
  /** Whether its text is the bytes of a file, as they are or in base64. */
  isFile: boolean
  fields: readonly { name: string, schema: Json | undefined, isRequired: boolean }[]
  items: Json | undefined
  /** The only value, or that which counts where none is given, or the first of those that are possible. */
  fixed: Json | undefined
  choices: readonly Json[]
}

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean'] as const

/** Reads a schema: all of its parts (`allOf`), and of several forms the first that is an object or a list, else the first. */
export function shapeOf (description: Description, schema: Json | undefined, depth = 0): Shape {
  const own = description.follow(schema)
  if (!isRecord(own) || depth > 20) return nothing
  const known = shapes.get(own)
  if (known !== undefined) return known
  // A part that is the schema itself adds nothing to it.
  shapes.set(own, nothing)
  const shape = madeOf(description, own, depth)
  shapes.set(own, shape)
  return shape
}

/** Each schema is read once, however often it is referred to. */
const shapes = new WeakMap<object, Shape>()

function madeOf (description: Description, own: JsonObject, depth: number): Shape {
  const parts = listIn(own, 'allOf').map((part) => shapeOf(description, part, depth + 1))
  const forms = [...listIn(own, 'oneOf'), ...listIn(own, 'anyOf')].map((one) => description.follow(one)).filter((one) =>
    isRecord(one) && one['type'] !== 'null' && !isOnlyRule(one)
  )
  // A thing written out is one that a request of ours has; its id at the vendor is not.
  const form = forms.find((one) => ['object', 'array'].includes(shapeOf(description, one, depth + 1).type ?? '')) ?? forms[0]
  const all = joined([read(own), ...parts, ...form === undefined ? [] : [shapeOf(description, form, depth + 1)]])
  // A rule may ask for what another part declares.
  const required = new Set(
    [own, ...listIn(own, 'anyOf').slice(0, 1)].flatMap((one) => isRecord(one) ? listIn(one, 'required') : [])
  )
  return { ...all, fields: all.fields.map((field) => ({ ...field, isRequired: field.isRequired || required.has(field.name) })) }
}

const nothing: Shape = { type: undefined, isFile: false, fields: [], items: undefined, fixed: undefined, choices: [] }

/** A form that says only which fields are needed together. */
function isOnlyRule (schema: JsonObject): boolean {
  return Object.keys(schema).every((name) => ['required', 'not', 'description', 'title'].includes(name))
}

function read (schema: JsonObject): Shape {
  const { type, format, contentEncoding, properties, items, enum: choices, const: only, default: usual } = schema
  const named = isList(type) ? type.find((one) => one !== 'null') : type
  const required = listIn(schema, 'required')
  const listed = isList(choices) ? choices.filter((choice) => choice !== null) : []
  return {
    type: types.find((one) => one === named) ?? (isRecord(properties) ? 'object' : items === undefined ? undefined : 'array'),
    isFile: format === 'binary' || format === 'byte' || contentEncoding === 'base64',
    fields: isRecord(properties)
      ? Object.entries(properties).map(([name, one]) => ({ name, schema: one, isRequired: required.includes(name) }))
      : [],
    items,
    fixed: only ?? usual ?? (listed.length === 1 ? listed[0] : undefined),
    choices: listed
  }
}

function joined (shapes: readonly Shape[]): Shape {
  const fields = new Map<string, Shape['fields'][number]>()
  for (const field of shapes.flatMap((shape) => shape.fields)) {
    const before = fields.get(field.name)
    fields.set(field.name, { ...field, isRequired: field.isRequired || before?.isRequired === true })
  }
  return {
    type: shapes.find(({ type }) => type !== undefined)?.type,
    isFile: shapes.some(({ isFile }) => isFile),
    fields: [...fields.values()],
    items: shapes.find(({ items }) => items !== undefined)?.items,
    fixed: shapes.find(({ fixed }) => fixed !== undefined)?.fixed,
    choices: shapes.find(({ choices }) => choices.length > 0)?.choices ?? []
  }
}

/** A list in an object; empty where it is none. */
export function listIn (object: object, name: string): readonly Json[] {
  const value: unknown = (object as Record<string, unknown>)[name]
  return Array.isArray(value) ? value as Json[] : []
}

/** An object in an object; empty where it is none. */
export function recordIn (object: object, name: string): JsonObject {
  const value: unknown = Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
  return isRecord(value) ? value as JsonObject : {}
}

/** A text in an object; empty where it is none. */
export function textIn (object: object, name: string): string {
  const value: unknown = Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}

export function isList (value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
