/** A JSON Schema, as far as it says what data look like. */
export type JsonSchema = {
  $ref?: string
  type?: string | readonly string[]
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  allOf?: readonly JsonSchema[]
}

/** Schemas that others refer to, by the address before the `#`. */
export type Vocabulary = Readonly<Record<string, object>>

/** The type of the data of a template, in TypeScript. Where a schema says nothing, the type is `unknown`. */
export function typeOf (given: JsonSchema, vocabulary: Vocabulary, root: JsonSchema = given, indent = ''): string {
  const schema = resolved(given, vocabulary, root)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined && schema.properties === undefined) {
    return [...new Set(choices.map((choice) => typeOf(choice, vocabulary, root, indent)))].join(' | ')
  }
  if (typeof schema.type === 'object') return schema.type.map((type) => typeOf({ ...schema, type }, vocabulary, root, indent)).join(' | ')
  switch (schema.type ?? (schema.properties === undefined ? undefined : 'object')) {
    case 'string':
    case 'boolean':
    case 'null':
      return String(schema.type)
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly (${schema.items === undefined ? 'unknown' : typeOf(schema.items, vocabulary, root, indent)})[]`
    case 'object':
      return objectOf(schema, vocabulary, root, indent)
    default:
      return 'unknown'
  }
}

/** A schema with what it refers to, and what stands beside that. */
function resolved ({ $ref, allOf = [], ...more }: JsonSchema, vocabulary: Vocabulary, root: JsonSchema): JsonSchema {
  const parts = [...$ref === undefined ? [] : [referred($ref, vocabulary, root)], ...allOf]
  return [...parts.map((part) => resolved(part, vocabulary, root)), more].reduce((one, other) => merged(one, other, vocabulary, root))
}

/** The schema to which a reference leads; an empty one where it is not known. */
function referred ($ref: string, vocabulary: Vocabulary, root: JsonSchema): JsonSchema {
  const [address = '', pointer = ''] = $ref.split('#')
  const found = pointer.split('/').slice(1).reduce<unknown>((part, token) => (part as Record<string, unknown> | undefined)?.[token],
    address === '' ? root : vocabulary[address])
  return absolute(found ?? {}, address) as JsonSchema
}

/** A part of a schema, whose references into that schema name it. */
function absolute (part: unknown, address: string): unknown {
  if (Array.isArray(part)) return part.map((one) => absolute(one, address))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([name, value]: [string, unknown]) => [
      name,
      name === '$ref' && typeof value === 'string' && value.startsWith('#') ? `${address}${value}` : absolute(value, address)
    ])
  )
}

/** What two schemas say together, field by field. */
function merged (one: JsonSchema, other: JsonSchema, vocabulary: Vocabulary, root: JsonSchema): JsonSchema {
  const both = (first: JsonSchema | undefined, second: JsonSchema): JsonSchema =>
    first === undefined ? second : merged(resolved(first, vocabulary, root), resolved(second, vocabulary, root), vocabulary, root)
  const { properties, required, items } = other
  return {
    ...one,
    ...other,
    ...properties === undefined ? {} : {
      properties: {
        ...one.properties,
        ...Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, both(one.properties?.[name], schema)]))
      }
    },
    ...required === undefined ? {} : { required: [...one.required ?? [], ...required] },
    ...items === undefined ? {} : { items: both(one.items, items) }
  }
}

function objectOf (
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  vocabulary: Vocabulary,
  root: JsonSchema,
  indent: string
): string {
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const comment = schema.description === undefined ? '' : `${inner}/** ${schema.description.replaceAll('*/', '* /')} */\n`
    return `${comment}${inner}${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, vocabulary, root, inner)}`
  })
  // A misspelt field is found where the fields are known.
  if (typeof additionalProperties === 'object') fields.push(`${inner}[name: string]: unknown`)
  return fields.length === 0 ? '{ readonly [name: string]: unknown }' : `{\n${fields.join('\n')}\n${indent}}`
}

/** A module with a type for the data of each template: `InvoiceData`. */
export function typesOf (templates: readonly { id: number, name: string, schema: JsonSchema }[], vocabulary: Vocabulary): string {
  const taken = new Set<string>()
  const types = templates.map(({ id, name, schema }) => {
    const words = name.replaceAll(/[^\p{L}\p{N}_ ]+/gu, '').split(/[\s_]+/).filter((word) => word !== '')
    const desired = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('').replace(/^(?=\d|$)/, 'Template')}Data`
    const type = taken.has(desired) ? `${desired}${id}` : desired
    taken.add(type)
    return `/** The data of the template "${name.replaceAll('*/', '* /')}" (${id}). */\nexport type ${type} = ${
      typeOf(schema, vocabulary)
    }\n`
  })
  return `// Written by \`dispatch types\` from the schemas of the templates.\n\n${types.join('\n')}`
}
