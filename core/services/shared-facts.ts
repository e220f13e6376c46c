import { isRecord, type Json, type JsonObject, memoizeByIdentity, type Problem } from '@dispatch/common'
import { isKnownField } from '@dispatch/documents'
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

/** The data of a template, with what the service's fields alone say and the template has a place for. */
export function toldData ({ tells }: Pick<AnyService, 'tells'>, fields: JsonObject, data: JsonObject, template: FactsTemplate): JsonObject {
  const told = tells?.(fields) ?? {}
  return Object.keys(told).length === 0 ? data : filled(data, told, [], (path) => hasPlace(template, path))
}

function filled (data: JsonObject, told: JsonObject, above: readonly string[], has: (path: readonly string[]) => boolean): JsonObject {
  const added = Object.entries(told).flatMap(([name, value]): [string, Json][] => {
    const given = Object.hasOwn(data, name) ? data[name] : undefined
    const path = [...above, name]
    if (isRecord(value) && (given === undefined || isRecord(given))) {
      const below = filled(given ?? {}, value, path, has)
      return isDeepStrictEqual(below, given ?? {}) ? [] : [[name, below]]
    }
    return given === undefined && has(path) ? [[name, value]] : []
  })
  return added.length === 0 ? data : { ...data, ...Object.fromEntries(added) }
}

/** Whether a template has a word for a fact, by the vocabulary of its data or by their schema. */
function hasPlace ({ vocabulary, schema = {} }: FactsTemplate, path: readonly string[]): boolean {
  return (vocabulary === 'invoice' && isKnown(invoiceWords, path)) || isKnown(schema, path)
}

const invoiceWords: JsonObject = { $ref: 'dispatch:invoice' }

function isKnown (schema: JsonObject, path: readonly string[]): boolean {
  const known = knownOf(schema)
  const key = path.join('/')
  const found = known.get(key) ?? isKnownField(schema, path)
  known.set(key, found)
  return found
}

const knownOf = memoizeByIdentity<JsonObject, Map<string, boolean>>(() => new Map())
