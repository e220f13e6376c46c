import { type Json, pointer, type Problem, problemsOf, stringFormats } from '@dispatch/common'
import { at } from '@dispatch/host/provider'
import { Clear, Set as setFormat } from 'typebox/format'
import { Settings } from 'typebox/system'
import { Errors } from 'typebox/value'

/** More than are ever told of a reply. */
Settings.Set({ maxErrors: 32 })
Clear()
for (const [name, check] of Object.entries(stringFormats)) setFormat(name, check)

type Found = { keyword: string, schemaPath: string, instancePath: string, params: Record<string, unknown>, message: string }

/** Lists of names that TypeBox tells in one error, and Ajv in one each. */
const lists: Readonly<Record<string, { list: string, one: string }>> = {
  required: { list: 'requiredProperties', one: 'missingProperty' },
  dependentRequired: { list: 'dependencies', one: 'missingProperty' },
  additionalProperties: { list: 'additionalProperties', one: 'additionalProperty' },
  unevaluatedProperties: { list: 'unevaluatedProperties', one: 'unevaluatedProperty' }
}

/**
 * What is wrong with a reply, in the words of the host's own checks. Interpreted: here nothing compiles code from texts, as Ajv does.
 */
export function problemsOfReply (schema: object, reply: Json): Problem[] {
  const found = Errors(schema, reply) as Found[]
  return problemsOf(found.filter(({ keyword }) => keyword !== 'boolean').flatMap((error) => eachOf(error, schema, reply)))
}

function eachOf ({ keyword, schemaPath, instancePath, params, message }: Found, schema: object, reply: Json): AjvError[] {
  const parentSchema = at(schema as Json, schemaPath.slice(1)) as object
  const list = lists[keyword]
  const names = list === undefined ? undefined : params[list.list]
  const error = { keyword, schemaPath: `${schemaPath}/${keyword}`, instancePath, message, parentSchema, data: at(reply, instancePath) }
  if (list === undefined || !Array.isArray(names)) {
    return [{ ...error, params, schema: at(parentSchema as Json, pointer('', keyword)) }]
  }
  return names.map((name: unknown) => ({ ...error, params: { ...params, [list.one]: name } }))
}

type AjvError = Parameters<typeof problemsOf>[0][number]
