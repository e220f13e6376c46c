import { compileJsonSchema, didYouMean, isRecord, memoizeByIdentity, pointer } from '@dispatch/common'
import type { Fault } from '../model/errors.ts'

type Schema = Readonly<Record<string, unknown>>

/** Keywords of a schema that apply to the parts of a value. */
const parts = new Set(['items', 'properties', 'required', 'additionalProperties'])
/** The compiler keeps everything that it has compiled, so each part of the model is compiled once. */
const checkOf = memoizeByIdentity((schema: Schema) =>
  compileJsonSchema(Object.fromEntries(Object.entries(schema).filter(([word]) => !parts.has(word))))
)

/**
 * Explains why a value does not fit the schema of the template model: each fault at its innermost place, with the nearest correct word. A
 * validator alone would list every branch of the union of blocks; here, a block's own key selects its branch.
 */
export function explain (schema: object, value: unknown): Fault[] {
  return explainNode({ ...schema }, value, '', {})
}

function explainNode (schema: Schema, value: unknown, at: string, definitions: Schema): Fault[] {
  const known = isRecord(schema['$defs']) ? { ...definitions, ...schema['$defs'] } : definitions
  const target = typeof schema['$ref'] === 'string' ? known[schema['$ref']] : schema
  if (!isRecord(target)) throw new TypeError(`The template model refers to ${String(schema['$ref'])}, which it does not define.`)
  if (Array.isArray(target['anyOf'])) return explainUnion(target['anyOf'].filter(isRecord), value, at, known)
  if (isRecord(target['properties']) && isRecord(value)) return explainObject(target, target['properties'], value, at, known)
  if (isRecord(target['items']) && Array.isArray(value)) return explainList(target, target['items'], value, at, known)
  return explainLeaf(target, value, at)
}

function explainUnion (branches: readonly Schema[], value: unknown, at: string, definitions: Schema): Fault[] {
  const objects = branches.filter((branch) => isRecord(branch['properties']))
  if (!isRecord(value)) {
    return explainNode(branches.find((branch) => branch['type'] === typeof value) ?? branches[0] ?? {}, value, at, definitions)
  }
  const chosen = objects.length === 1 ? objects[0] : objects.find((branch) => Object.hasOwn(value, kindOf(branch)))
  const kinds = objects.map(kindOf)
  const [first = '', second] = Object.keys(value).filter((key) => kinds.includes(key))
  if (second !== undefined) {
    return [{
      path: pointer(at, second),
      code: 'two_kinds',
      message: `A block has one kind, and this one has "${first}" and "${second}": begin each block with its own dash.`
    }]
  }
  if (chosen !== undefined) return explainNode(chosen, value, at, definitions)
  const [name = ''] = Object.keys(value)
  return [{
    path: name === '' ? at : pointer(at, name),
    code: 'unknown_block',
    message: `Unknown block "${name}"${didYouMean(name, kinds)}; expected one of ${kinds.join(', ')}.`
  }]
}

/** The key that names the kind of a block: the first one that its schema requires. */
function kindOf (branch: Schema): string {
  return Array.isArray(branch['required']) ? String(branch['required'][0]) : ''
}

function explainObject (schema: Schema, properties: Schema, value: Schema, at: string, definitions: Schema): Fault[] {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => ({
    path: at,
    code: 'required',
    message: `The field "${name}" is missing.`
  }))
  const wrong = Object.entries(value).flatMap(([name, field]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (isRecord(known)) return explainNode(known, field, pointer(at, name), definitions)
    return [{
      path: pointer(at, name),
      code: 'unknown_field',
      message: `Unknown field "${name}"${didYouMean(name, Object.keys(properties))}.`
    }]
  })
  return [...missing, ...wrong]
}

function explainList (schema: Schema, items: Schema, value: readonly unknown[], at: string, definitions: Schema): Fault[] {
  return [...explainLeaf(schema, value, at), ...value.flatMap((item, index) => explainNode(items, item, pointer(at, index), definitions))]
}

/** The problems of a value itself, without those of its parts, which have their own places. */
function explainLeaf (schema: Schema, value: unknown, at: string): Fault[] {
  const fit = checkOf(schema)(value, at)
  return fit.ok ? [] : fit.problems
}
