import { checkWith, createAjv, type Validator } from '@dispatch/common'

/** The OpenAPI document of the service, as a client reads it. */
export type Document = Readonly<Record<string, any>>

/** The part that a reference leads to, or the part itself. */
export function resolved (document: Document, part: any): any {
  if (typeof part?.$ref !== 'string') return part
  const [, ...tokens] = (part.$ref as string).split('/')
  return resolved(document, tokens.reduce((node: any, token) => node?.[token], document))
}

export type Operation = { path: string, method: string, operation: any }

/** Every operation, with what it refers to in its place, but for schemas, and with the parameters of its path. */
export function operationsOf (document: Document): Operation[] {
  const follow = (part: any): any => resolved(document, part)
  return Object.entries<Record<string, any>>(document['paths']).flatMap(([path, { parameters: common = [], ...methods }]) =>
    Object.entries<any>(methods).map(([method, { parameters = [], requestBody, responses, ...operation }]) => ({
      path,
      method: method.toUpperCase(),
      operation: {
        ...operation,
        parameters: [...parameters, ...common].map(follow),
        requestBody: follow(requestBody),
        responses: Object.fromEntries(Object.entries<any>(responses).map(([code, answer]) => [code, follow(answer)]))
      }
    }))
  )
}

/** Compiles schemas of the document, with all that they refer to. */
export function schemasOf (document: Document): (schema: unknown) => Validator<unknown> {
  const ajv = createAjv({ discriminator: true })
  ajv.addSchema({ $id: 'openapi:document', $defs: asJsonSchema(document['components'].schemas) as object })
  const known = new Map<string, Validator<unknown>>()
  return (schema) => {
    const text = JSON.stringify(schema)
    // Most answers share a few schemas, and to compile one takes longer than all that is checked with it.
    const found = known.get(text) ?? checkWith(ajv.compile(asJsonSchema(schema) as object))
    known.set(text, found)
    return found
  }
}

/** References lead to the one document; what a discriminator means Ajv sees by itself, and bytes are a text. */
function asJsonSchema (schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"openapi:document#/$defs/'),
    (key, value: unknown) => key === 'mapping' || (key === 'format' && (value === 'byte' || value === 'binary')) ? undefined : value)
}
