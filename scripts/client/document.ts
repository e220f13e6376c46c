/** An OpenAPI document, as far as a client is made of it. */
export type Document = {
  openapi: string
  info: { title: string, version: string, description: string }
  paths: Readonly<Record<string, PathItem>>
  webhooks: Readonly<Record<string, { $ref: string }>>
  components: Readonly<Record<string, Readonly<Record<string, Shared>>>> & { pathItems: Readonly<Record<string, { post: Operation }>> }
}

export type PathItem = Readonly<Record<string, Operation | readonly Shared[]>>
export type Operation = {
  operationId: string
  tags: readonly string[]
  summary: string
  description?: string
  deprecated?: boolean
  parameters?: readonly Shared[]
  requestBody?: Shared
  responses: Readonly<Record<string, Shared>>
}
export type Parameter = { name: string, in: string, required?: boolean, description?: string, schema?: object }
export type Schema = {
  $ref?: string
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  allOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
}
/** What a body, or an answer, is. */
export type Content = { description?: string, content?: Readonly<Record<string, { schema: Schema }>> }
/** A part, or a reference to one. */
export type Shared = Partial<Parameter> & Content & Schema

/** The part that a reference leads to, or the part itself. */
export function resolved (document: Document, part: Shared): Shared {
  if (part.$ref === undefined) return part
  const [, , kind = '', name = ''] = part.$ref.split('/')
  const found = document.components[kind]?.[name]
  if (found === undefined) throw new Error(`The document has no ${part.$ref}.`)
  return resolved(document, found)
}

/** The operations of a document, each with its path, its method, and all its parameters. */
export function operationsOf (document: Document): { path: string, method: string, operation: Operation, parameters: Parameter[] }[] {
  return Object.entries(document.paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
    (Object.entries(methods) as [string, Operation][]).map(([method, operation]) => ({
      path,
      method,
      operation,
      parameters: [...operation.parameters ?? [], ...shared as readonly Shared[]].map((part) => resolved(document, part) as Parameter)
    }))
  )
}

/** The name of a schema that is one of the document's. */
export function nameOf ({ $ref }: Schema): string | undefined {
  return $ref?.slice($ref.lastIndexOf('/') + 1)
}
