import { isRecord, type Json, type JsonObject, memoizeByIdentity, type Problem } from '@dispatch/common'
import { isKnownField, requiredFields } from '@dispatch/documents'
import { isDeepStrictEqual } from 'node:util'
import type { AnyService, FactsTemplate, Findings, SharedFact } from './service.ts'

/** What both say; `at` and `place` tell where the fields and the data stand in the request. */
type Statement = { fields: JsonObject, data: JsonObject, template: FactsTemplate, at: (field: string) => string, place: string }

/** What a service's fields and the data of a template say differently. `again`: the fields are those of a retry. */
export function contradictions (
  { name, shared = [] }: Pick<AnyService, 'name' | 'shared'>,
  { fields, data, template, at: where, place }: Statement,
  when: 'first' | 'again'
): Findings {
  const { services = [], vocabulary, sample = {} } = template
  const stated = shared.filter((fact) => fact.vocabulary === undefined ? services.includes(name) : fact.vocabulary === vocabulary)
  const differing = stated.filter((fact) => (when === 'first' || fact.isRecipient !== true) && fact.differ(fields, data))
  const isTrial = ({ isRecipient, data: pointer }: SharedFact<JsonObject>): boolean => {
    const [, whole = ''] = pointer.split('/')
    return isRecipient === true && isDeepStrictEqual(data[whole], sample[whole])
  }
  const { tried = [], meant = [] } = Object.groupBy(differing, (fact) => isTrial(fact) ? 'tried' : 'meant')
  return {
    problems: meant.flatMap((fact) => {
      const [here, there] = [pointerOf(where, fact.field), place + fact.data]
      return [[here, there], [there, here]].map(([path = '', twin = '']) => ({
        path,
        code: 'contradiction',
        message: `It differs from "${twin}"; give one of the two, or the same.`
      }))
    }),
    warnings: tried.map(({ field, data: pointer }): Problem => ({
      path: place + pointer,
      code: 'sample_data',
      message: `It is that of the template's sample, and differs from "${pointerOf(where, field)}".`
    }))
  }
}

/** A place below the fields of a service, as a place in the request. */
function pointerOf (where: (field: string) => string, pointer: string): string {
  const [, first = '', ...rest] = pointer.split('/')
  return [where(first), ...rest].join('/')
}

/** Whether a template states a field of a service: it is made for the service, and its data have a place for the field. */
export function isStatedIn ({ services = [], ...template }: FactsTemplate, { name, stated = {} }: Stating, field: string): boolean {
  const place = stated[field]?.place
  return place !== undefined && services.includes(name) && hasPlace(template, place.split('/').slice(1))
}

type Stating = Pick<AnyService, 'name' | 'stated'>

/** The data of a template, with what the service's fields alone say and the template has a place for. */
export function toldData ({ tells }: Pick<AnyService, 'tells'>, fields: JsonObject, data: JsonObject, template: FactsTemplate): JsonObject {
  const reported = tells?.(fields) ?? {}
  return Object.keys(reported).length === 0 ? data : withFacts(template, data, reported)
}

/** The data of a template, with facts that they leave out and the template has a place for. */
export function withFacts (template: FactsTemplate, data: JsonObject, facts: JsonObject): JsonObject {
  return filled(template, data, facts, [])
}

function filled (template: FactsTemplate, data: JsonObject, reported: JsonObject, above: readonly string[]): JsonObject {
  const added = Object.entries(reported).flatMap(([name, value]): [string, Json][] => {
    const given = Object.hasOwn(data, name) ? data[name] ?? undefined : undefined
    const path = [...above, name]
    if (isRecord(value) && (given === undefined || isRecord(given))) {
      if (given === undefined && needsMore(template, path, value)) return []
      const below = filled(template, given ?? {}, value, path)
      return isDeepStrictEqual(below, given ?? {}) ? [] : [[name, below]]
    }
    return given === undefined && hasPlace(template, path) ? [[name, value]] : []
  })
  return added.length === 0 ? data : { ...data, ...Object.fromEntries(added) }
}

/** Whether an object needs more than is told of it: data that leave it out would not fit with a part of it. */
function needsMore ({ schema = {} }: FactsTemplate, path: readonly string[], reported: JsonObject): boolean {
  return lookedUp(neededOf, schema, path, requiredFields).some((name) => !Object.hasOwn(reported, name))
}

/** Whether a template has a word for a fact, by the vocabulary of its data or by their schema. */
function hasPlace ({ vocabulary, schema = {} }: FactsTemplate, path: readonly string[]): boolean {
  return (vocabulary === 'invoice' && isKnown(invoiceWords, path)) || isKnown(schema, path)
}

const invoiceWords: JsonObject = { $ref: 'dispatch:invoice' }

function isKnown (schema: JsonObject, path: readonly string[]): boolean {
  return lookedUp(knownOf, schema, path, isKnownField)
}

type Known<Value> = (schema: JsonObject) => Map<string, Value>

/** What a schema says of a path, found once. */
function lookedUp<Value> (
  known: Known<Value>,
  schema: JsonObject,
  path: readonly string[],
  find: (schema: JsonObject, path: readonly string[]) => Value
): Value {
  const key = path.join('/')
  const found = known(schema).get(key) ?? find(schema, path)
  known(schema).set(key, found)
  return found
}

const knownOf = memoizeByIdentity<JsonObject, Map<string, boolean>>(() => new Map())
const neededOf = memoizeByIdentity<JsonObject, Map<string, string[]>>(() => new Map())
