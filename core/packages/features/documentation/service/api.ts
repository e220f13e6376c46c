import { isRecord } from '@dispatch/common'
import { errorTable } from '@dispatch/contract'

type Part = Readonly<Record<string, unknown>>
/** An OpenAPI document, as far as pages are made of it. */
export type ApiDocument = {
  info: { version: string }
  tags: readonly { name: string, description: string }[]
  paths: Readonly<Record<string, Part>>
  webhooks: Readonly<Record<string, { $ref: string, summary: string }>>
  components: Readonly<Record<string, Readonly<Record<string, Part>>>>
}
type Operation = Part & { operationId: string, tags: readonly string[], summary: string, description: string }
type Parameter = { name: string, in: string, required?: boolean, description?: string, schema: Part }
type ApiPage = { address: string, title: string, markdown: string, isFound: boolean }

/**
 * The reference: a page for each operation, for the callbacks and for each named type, below a list of all. `isFound`: the search knows it;
 * types are reached from what has them.
 */
export function apiPages (document: ApiDocument): ApiPage[] {
  const follow = (part: unknown): Part => followed(document, part as Part)
  const operations = Object.entries(document.paths).flatMap(([path, { parameters = [], ...methods }]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      operation,
      parameters: [...(operation['parameters'] ?? []) as Part[], ...parameters as Part[]].map((one) => follow(one) as Parameter)
    }))
  )
  const pages = operations.map(({ path, method, operation, parameters }): ApiPage => ({
    address: `reference/${operation.operationId}`,
    title: operation.summary.replace(/\.$/, ''),
    markdown: [
      `# ${operation.summary.replace(/\.$/, '')}`,
      `\`${method} ${path}\` (\`${operation.operationId}\`) · [try it](/docs/try/#/${
        encodeURIComponent(operation.tags[0] ?? '')
      }/${operation.operationId})`,
      operation.description,
      ...parameters.length === 0 ? [] : ['## Parameters', parameterTable(parameters)],
      ...operation['requestBody'] === undefined ? [] : ['## Body', ...mediaOf(follow(operation['requestBody']), follow)],
      '## Answers',
      ...Object.entries(operation['responses'] as Part).flatMap(([status, response]) => answerOf(status, follow(response), follow))
    ].join('\n\n'),
    isFound: true
  }))
  const requested = typesWithin(document, operations.map(({ operation }) => operation['requestBody']))
  const types = Object.entries(document.components['schemas'] ?? {}).map(([name, schema]): ApiPage => ({
    address: `reference/types/${name}`,
    title: name,
    markdown: [`# ${name}`, ...describe(schema, requested.has(name) ? 'Needed.' : 'Always there.'), '[All operations](/docs/reference)']
      .join(
        '\n\n'
      ),
    isFound: false
  }))
  return [listOf(document, operations), ...pages, callbacksOf(document, follow), ...types]
}

function followed (document: ApiDocument, part: Part): Part {
  const { $ref } = part
  if (typeof $ref !== 'string') return part
  const [, , kind = '', name = ''] = $ref.split('/')
  return followed(document, document.components[kind]?.[name] ?? {})
}

/** The names of the types that parts of a document are made of. */
function typesWithin (document: ApiDocument, parts: readonly unknown[]): Set<string> {
  const seen = new Set<string>()
  const look = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(look)
    if (!isRecord(part)) return
    const { $ref } = part
    if (typeof $ref === 'string' && !seen.has($ref)) {
      seen.add($ref)
      look(followed(document, part))
    }
    for (const [key, inner] of Object.entries(part)) if (!['example', 'examples'].includes(key)) look(inner)
  }
  parts.forEach(look)
  const schemas = '#/components/schemas/'
  return new Set([...seen].filter(($ref) => $ref.startsWith(schemas)).map(($ref) => $ref.slice(schemas.length)))
}

type Listed = { path: string, method: string, operation: Operation }

/** Operations of a group that the document does not introduce. */
const others = { name: 'Others', description: 'What belongs to no group.' }

function listOf ({ info, tags }: ApiDocument, operations: readonly Listed[]): ApiPage {
  const known = new Set(tags.map(({ name }) => name))
  const groupOf = ({ operation: { tags: [tag = ''] } }: Listed): string => known.has(tag) ? tag : others.name
  const groups = [...tags, others].flatMap(({ name, description }) => {
    const rows = operations.filter((one) => groupOf(one) === name).map(({ path, method, operation }) =>
      `| \`${method} ${path}\` | [${cell(operation.summary)}](/docs/reference/${operation.operationId}) |`
    )
    return rows.length === 0 ? [] : [`## ${name}`, description, ['| request | |', '|---|---|', ...rows].join('\n')]
  })
  return {
    address: 'reference',
    title: 'API reference',
    markdown: [
      '# API reference',
      `All operations of version ${info.version}. Programs read the [OpenAPI document](/openapi/${info.version}.json); what the service sends by ` +
      'itself is among the [callbacks](/docs/reference/callbacks). Requests can be [tried](/docs/try/) in the browser.',
      ...groups
    ].join('\n\n'),
    isFound: false
  }
}

function callbacksOf ({ webhooks }: ApiDocument, follow: (part: unknown) => Part): ApiPage {
  const bodies = Object.groupBy(Object.entries(webhooks), ([, { $ref }]) => $ref)
  const parts = Object.entries(bodies).flatMap(([$ref, list = []]) => {
    const { summary, requestBody } = follow({ $ref })['post'] as Operation & { requestBody: Part }
    return [
      `## ${summary.replace(/\.$/, '')}`,
      ['| type | |', '|---|---|', ...list.map(([type, { summary: when }]) => `| \`${type}\` | ${cell(when)} |`)].join('\n'),
      ...mediaOf(follow(requestBody), follow)
    ]
  })
  return {
    address: 'reference/callbacks',
    title: 'Callbacks of the API',
    markdown: ['# Callbacks of the API',
      'What the service sends to the endpoints of a company, signed: [how to receive it](/docs/callbacks).', ...parts].join('\n\n'),
    isFound: true
  }
}

function parameterTable (parameters: readonly Parameter[]): string {
  return ['| name | in | type | |', '|---|---|---|---|',
    ...parameters.map(({ name, in: place, required, description, schema }) =>
      `| \`${name}\` | ${place} | ${typeOf(schema)} | ${joined(required === true ? 'Needed.' : undefined, description, saidOf(schema))} |`
    )].join('\n')
}

function answerOf (status: string, response: Part, follow: (part: unknown) => Part): string[] {
  const text = String(response['description']).replaceAll(/`([a-z_]+)`(?= \(\d|:)/g,
    (whole, word: string) => Object.hasOwn(errorTable, word) ? `[${whole}](/docs/errors/${word})` : whole)
  const headers = Object.keys(response['headers'] ?? {})
  return [
    `### ${status === 'default' ? 'Any other' : status}`,
    text,
    ...headers.length === 0 ? [] : [`Headers: ${headers.map((name) => `\`${name}\``).join(', ')}.`],
    ...mediaOf(response, follow)
  ]
}

/** The type of each medium, with an example. */
function mediaOf (part: Part, follow: (part: unknown) => Part): string[] {
  return Object.entries((part['content'] ?? {}) as Record<string, Part>).flatMap(([type, { schema, example, examples }]) => {
    const shown = examples === undefined ? example : follow(Object.values(examples as Part)[0])['value']
    return [
      `\`${type}\`: ${typeOf(schema as Part)}`,
      ...shown === undefined ?
        [] :
        [`\`\`\`${typeof shown === 'string' ? '' : 'json'}\n${
          typeof shown === 'string' ? shown.trimEnd() : JSON.stringify(shown, null, 2)
        }\n\`\`\``]
    ]
  })
}

/** Describes a schema in one line of Markdown. */
function typeOf (schema: Part): string {
  const { $ref, type, enum: values, const: only, items, anyOf, oneOf, allOf, additionalProperties, format } = schema
  if (typeof $ref === 'string') {
    const name = $ref.slice($ref.lastIndexOf('/') + 1)
    return `[\`${name}\`](/docs/reference/types/${name})`
  }
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``).join(', ')
  const ways = (anyOf ?? oneOf) as readonly Part[] | undefined
  if (ways !== undefined && type !== 'object') return ways.map(typeOf).join(' or ')
  if (Array.isArray(allOf) && type === undefined) return (allOf as Part[]).map(typeOf).join(' and ')
  const kinds = [(type ?? 'object') as string | readonly string[]].flat().map((kind) => {
    if (kind === 'array') return `list of ${isRecord(items) ? typeOf(items) : 'anything'}`
    if (kind === 'object' && isRecord(additionalProperties)) return `object of ${typeOf(additionalProperties)}`
    return kind
  })
  return `${kinds.join(' or ')}${typeof format === 'string' ? ` (${format})` : ''}`
}

const limits: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters at least:',
  maxLength: 'characters at most:',
  minItems: 'items at least:',
  maxItems: 'items at most:',
  pattern: 'as',
  default: 'by default'
}

/** What a value of a schema must keep besides its type. */
function saidOf (schema: Part): string | undefined {
  const said = Object.entries(limits).filter(([word]) => schema[word] !== undefined).map(([word, text]) => {
    const value = schema[word]
    return `${text} \`${cell(typeof value === 'string' ? value : JSON.stringify(value))}\``
  })
  return said.length === 0 ? undefined : `${said.join(', ')}.`.replace(/^./, (letter) => letter.toUpperCase())
}

/** A schema as text, and a table of its fields. `needed`: what is said of those that are never left out. */
function describe (schema: Part, needed: string): string[] {
  const { description, allOf, oneOf, anyOf, properties } = schema
  const bases = ((allOf ?? []) as readonly Part[]).filter(({ $ref }) => $ref !== undefined)
  const ways = (oneOf ?? anyOf ?? []) as readonly Part[]
  return [
    ...typeof description === 'string' ? [description] : [],
    ...properties === undefined || bases.length > 0
      ? [typeOf({ ...schema, ...bases.length > 0 ? { type: undefined, allOf: bases } : {} })]
      : [],
    ...ways.length > 0 && properties !== undefined ? [`One of: ${ways.map(typeOf).join(', ')}.`] : [],
    ...saidOf(schema) === undefined ? [] : [saidOf(schema) ?? ''],
    ...properties === undefined ? [] : [['| field | type | |', '|---|---|---|', ...rowsOf(schema, '', needed)].join('\n')]
  ]
}

/** The fields of an object, and those of the objects within it that have no name. */
function rowsOf ({ properties = {}, required = [] }: Part, before: string, needed: string): string[] {
  return Object.entries(properties as Record<string, Part>).flatMap(([name, schema]) => {
    const isNeeded = (required as readonly string[]).includes(name)
    const inner = innerOf(schema)
    return [
      `| \`${before}${name}\` | ${typeOf(schema)} | ${
        joined(isNeeded ? needed : undefined, schema['description'] as string | undefined, saidOf(schema))
      } |`,
      ...inner === undefined ? [] : rowsOf(inner.schema, `${before}${name}${inner.isList ? '[]' : ''}.`, needed)
    ]
  })
}

function innerOf (schema: Part): { schema: Part, isList: boolean } | undefined {
  if (isRecord(schema['properties'])) return { schema, isList: false }
  const { items, anyOf } = schema
  if (isRecord(items) && isRecord(items['properties'])) return { schema: items, isList: true }
  const [one] = (anyOf ?? []) as readonly Part[]
  return one !== undefined && isRecord(one['properties']) ? { schema: one, isList: false } : undefined
}

function joined (...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).map(cell).join(' ')
}

/** A text within a row of a table. */
function cell (text: string): string {
  return text.replaceAll('\n', ' ').replaceAll(/(?<!\\)\|/g, '\\|')
}
