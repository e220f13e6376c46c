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
}

/** Schemas that others refer to, by the address before the `#`. */
export type Vocabulary = Readonly<Record<string, object>>

/** The type of the data of a template, in TypeScript. Where a schema says nothing, the type is `unknown`. */
export function typeOf (schema: JsonSchema, vocabulary: Vocabulary, root: JsonSchema = schema, indent = ''): string {
  if (schema.$ref !== undefined) {
    const [address = '', pointer = ''] = schema.$ref.split('#')
    const base = address === '' ? root : vocabulary[address] as JsonSchema | undefined
    const target = pointer.split('/').slice(1).reduce<unknown>((part, token) => (part as Record<string, unknown> | undefined)?.[token],
      base)
    if (base === undefined || target === undefined) return 'unknown'
    // What stands beside a reference adds to it.
    const { $ref: _, ...more } = schema
    return typeOf({ ...target, ...more }, vocabulary, base, indent)
  }
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
    const wanted = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('').replace(/^(?=\d|$)/, 'Template')}Data`
    const type = taken.has(wanted) ? `${wanted}${id}` : wanted
    taken.add(type)
    return `/** The data of the template "${name.replaceAll('*/', '* /')}" (${id}). */\nexport type ${type} = ${
      typeOf(schema, vocabulary)
    }\n`
  })
  return `// Written by \`dispatch types\` from the schemas of the templates.\n\n${types.join('\n')}`
}
