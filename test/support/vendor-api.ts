import { memoizeByIdentity } from '@dispatch/common'
import type { ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '../../core/packages/common/json.ts'
import type { ReceivedRequest } from '../../core/packages/conformance/vendor/requests.ts'
import { leftOut } from './vendor-apis.ts'

/** A vendor's own description of its API (OpenAPI 3.1); `problems` says what in a request does not fit it. */
export type VendorApi = { problems: (request: ReceivedRequest) => string[] }

type Parameter = { name: string, in: 'path' | 'query' | 'header', required?: boolean, schema: object }
type Operation = {
  operationId: string
  parameters?: (Parameter | { $ref: string })[]
  requestBody?: { required?: boolean, content: Record<string, { schema: object }> }
  servers?: Server[]
}
type Server = { url: string }
type PathItem = Record<string, Operation> & { parameters?: Operation['parameters'], servers?: Server[] }
type Document = { servers: Server[], paths: Record<string, PathItem>, components: Record<string, Record<string, unknown>> }

const folder = process.env['DISPATCH_VENDOR_APIS'] ?? new URL('../../../shared/vendor-apis', import.meta.url).pathname

/** What a test says when it skips for want of a description. */
export const absent = `There is no description of the vendor's API in ` +
  `${process.env['DISPATCH_VENDOR_APIS'] === undefined ? '../shared/vendor-apis' : 'DISPATCH_VENDOR_APIS'}.`

/**
 * Reads a vendor's description; undefined where there is none. A schema that does not compile throws. `hosts` are names that
 * the vendor serves the same paths under, beside those in the description.
 */
export async function vendorApi (vendor: string, hosts: readonly string[] = []): Promise<VendorApi | undefined> {
  const file = join(folder, `${vendor}.json`)
  return existsSync(file)
    ? describe(completed(JSON.parse(await readFile(file, 'utf8')) as Document, leftOut[vendor] as Document['paths'] | undefined), hosts)
    : undefined
}

/** The values of an enumeration of a vendor's description; undefined where there is none. */
export async function enumerationOf (vendor: string, schema: string): Promise<string[] | undefined> {
  const file = join(folder, `${vendor}.json`)
  if (!existsSync(file)) return undefined
  const { components } = JSON.parse(await readFile(file, 'utf8')) as { components: { schemas: Record<string, { enum?: string[] }> } }
  return components.schemas[schema]?.enum
}

/** The description with the operations that its copy leaves out. */
function completed ({ paths, ...document }: Document, more: Document['paths'] = {}): Document {
  const added = Object.entries(more).map(([path, item]) => [path, { ...paths[path], ...item }] as const)
  return { ...document, paths: { ...paths, ...Object.fromEntries(added) } }
}

/** An operation with bodies that the vendor takes and refuses; each refused one breaks the rule that it is called by. */
export type Example = {
  operationId: string
  method: string
  host: string
  path: string
  mediaType: string
  accept: ExampleBody[]
  reject: ExampleBody[]
}
type ExampleBody = { name: string, body: JsonObject }

/** Reads the examples beside a vendor's description: of operations that have bodies, at addresses of the vendor's. */
export async function examplesOf (vendor: string): Promise<Example[]> {
  const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), 'utf8'))
  const { servers: [server] } = await read(`${vendor}.json`) as Document
  const { operations } = await read(`examples/${vendor}.json`) as { operations: (Omit<Example, 'accept'> & { accept?: ExampleBody[] })[] }
  const { hostname: host, pathname } = new URL(server?.url ?? '')
  // An account of Twilio's fits every parameter of a path.
  const addressed = (path: string): string => pathname.replace(/\/$/, '') + path.replaceAll(/\{\w+\}/g, `AC${'0'.repeat(32)}`)
  return operations.flatMap(({ accept, ...operation }) =>
    accept === undefined ? [] : [{ ...operation, accept, host, path: addressed(operation.path) }]
  )
}

function describe (document: Document, hosts: readonly string[]): VendorApi {
  // A form or a multipart body is text on the wire: it becomes what the schema asks for.
  const [forTyped, forTexts] = [createAjv(document), createAjv(ofTexts(document), { coerceTypes: true })]
  // Each schema of the description is compiled with the first value of it: those of some vendors take a tenth of a second.
  const typed = memoizeByIdentity((schema: object) => forTyped.compile(referring(schema)))
  const texts = memoizeByIdentity((schema: object) => forTexts.compile(referring(schema)))
  const textOf = memoizeByIdentity(({ name, schema }: Parameter) =>
    forTexts.compile(referring({ type: 'object', properties: { [name]: schema } }))
  )
  return {
    problems (request) {
      const found = find(document, request, hosts)
      if (found === undefined) return [`${request.method} https://${request.host}${request.path} is not in the description.`]
      const { operation, parameters, values } = found
      const query = nested(request.search)
      const known = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
      return [
        ...Object.keys(query).filter((name) => !known.includes(name)).map((name) =>
          `The query parameter "${name}" is not in the description.`
        ),
        ...parameters.flatMap((parameter) => {
          const { name, in: place, required = false } = parameter
          const value = { path: values, query, header: request.headers }[place][place === 'header' ? name.toLowerCase() : name]
          if (value === undefined) return required ? [`The parameter "${name}" is missing.`] : []
          return misfits(textOf(parameter), { [name]: value }, place)
        }),
        ...bodyProblems(operation, request, { typed, texts })
      ]
    }
  }
}

function misfits (fits: ValidateFunction, value: unknown, what: string): string[] {
  if (fits(value)) return []
  return (fits.errors ?? []).map(({ instancePath, message = '', params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`)
}

function bodyProblems (
  { operationId, requestBody }: Operation,
  request: ReceivedRequest,
  { typed, texts }: Readonly<Record<'typed' | 'texts', (schema: object) => ValidateFunction>>
): string[] {
  if (request.body.length === 0) return requestBody?.required === true ? [`${operationId} needs a body.`] : []
  const type = (request.headers['content-type'] ?? '').replace(/;.*$/, '')
  const schema = requestBody?.content[type]?.schema
  if (schema === undefined) return [`${operationId} takes no body of the type "${type}".`]
  if (request.json !== undefined) return misfits(typed(schema), request.json, 'body')
  // Bytes as they are, such as those of a file.
  if (request.pairs === undefined && request.parts === undefined) return misfits(texts(schema), request.body.toString('latin1'), 'body')
  const pairs = request.pairs ?? (request.parts ?? []).map(({ name, body }): [string, string] => [name, body.toString()])
  return misfits(texts(schema), nested(pairs), 'body')
}

function find (
  document: Document,
  { method, host, path }: ReceivedRequest,
  hosts: readonly string[]
): { operation: Operation, parameters: Parameter[], values: Record<string, unknown> } | undefined {
  // A path without parameters comes before one that has some in its place.
  const parametersIn = ([path]: [string, unknown]): number => path.split('{').length
  for (const [template, item] of Object.entries(document.paths).sort((one, other) => parametersIn(one) - parametersIn(other))) {
    const operation = item[method.toLowerCase()]
    if (operation === undefined) continue
    for (const { url } of operation.servers ?? item.servers ?? document.servers) {
      const { hostname, pathname } = new URL(url)
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const match = new RegExp(`^${pathname.replace(/\/$/, '')}${template.replaceAll(/\{\w+\}/g, '([^/]+)').replaceAll('.', '\\.')}$`).exec(
        path
      )
      if (match === null || ![hostname, ...hosts].includes(host)) continue
      const parameters = [...item.parameters ?? [], ...operation.parameters ?? []].map((parameter) => resolve(document, parameter))
      return {
        operation,
        parameters,
        values: Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')]))
      }
    }
  }
  return undefined
}

function resolve (document: Document, parameter: Parameter | { $ref: string }): Parameter {
  if (!('$ref' in parameter)) return parameter
  const [kind = '', name = ''] = parameter.$ref.split('/').slice(2)
  return document.components[kind]?.[name] as Parameter
}

/** Bracketed keys as what they mean: `a[b]=1` is an object, `a[0]=1`, `a[]=1` and a repeated key are lists. */
export function nested (pairs: readonly (readonly [string, string])[]): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [key, value] of pairs) put(root, [...key.matchAll(/[^[\]]+|\[\]/g)].map(([token]) => token), value)
  return listed(root) as Record<string, unknown>
}

function put (into: Record<string, unknown>, [token = '', ...rest]: string[], value: string): void {
  const name = token === '[]' ? String(Object.keys(into).length) : token
  if (rest.length > 0) put((into[name] ??= {}) as Record<string, unknown>, rest, value)
  else into[name] = Object.hasOwn(into, name) ? [into[name], value].flat() : value
}

function listed (value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, field]) => [key, listed(field)] as const)
  const isList = entries.length > 0 && entries.every(([key], index) => key === String(index))
  return isList ? entries.map(([, field]) => field) : Object.fromEntries(entries)
}

/** Where a value may be one of several plain types, a text on the wire is more than one of them: one is enough. */
function ofTexts (document: Document): Document {
  const isPlain = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && Object.keys(schema).join('') === 'type'
  const changed = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(changed)
    return Object.fromEntries(
      Object.entries(value).map(
        ([key, inner]) => [key === 'oneOf' && Array.isArray(inner) && inner.every(isPlain) ? 'anyOf' : key, changed(inner)]
      )
    )
  }
  return changed(document) as Document
}

const documentId = 'https://vendor.invalid/openapi.json'

/** Strict: what it does not understand in a schema is an error, not a rule that is passed over. */
function createAjv (document: Document, options: { coerceTypes?: boolean } = {}): Ajv2020 {
  const ajv = new Ajv2020({ ...options, strict: true, strictRequired: false, strictTypes: false, allErrors: true, allowUnionTypes: true })
  addFormats.default(ajv)
  // Of the document itself, outside of its schemas.
  ajv.addVocabulary(['openapi', 'info', 'servers', 'paths', 'components', 'security'])
  ajv.addSchema(document, documentId)
  return ajv
}

/** The schema with its references leading into the document. */
function referring (schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${documentId}#/`)) as object
}
