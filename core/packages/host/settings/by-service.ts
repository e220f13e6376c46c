import { type TProperties, type TSchema, Type } from 'typebox'

const closed = { additionalProperties: false }

/**
 * The schema of a part of a manifest that has an object for each service: with fields of its own, and with `shared` ones that mean the same
 * in every service, of which some are `required`. These stand once for all services, because each copy would compile to many KB of code.
 */
export function byService<Name extends string> (
  names: readonly Name[],
  { own, shared, required }: { own: (name: Name) => TProperties, shared: TProperties, required: readonly string[] }
): TSchema {
  const anything = Object.fromEntries(Object.keys(shared).map((field) => [field, Type.Optional(Type.Unknown())]))
  const each = names.map((name) => [name, Type.Object({ ...anything, ...own(name) }, closed)] as const)
  return {
    allOf: [
      { type: 'object', properties: Object.fromEntries(each), ...closed },
      { patternProperties: { [`^(${names.join('|')})$`]: { required, properties: shared } } }
    ]
  }
}
