import { checkWith, createAjv, type Validator } from '@dispatch/common'

/** The OpenAPI document of the service, as a client reads it. */
export type Document = Readonly<Record<string, any>>

/** The part that a reference leads to, or the part itself. */
export function resolved (document: Document, part: any): any {
  if (typeof part?.$ref !== 'string') return part
  const [, ...tokens] = (part.$ref as string).split('/')
  return resolved(document, tokens.reduce((node: any, token) => node?.[token], document))
}

/** Compiles schemas of the document, with all that they refer to. */
export function schemasOf (document: Document): (schema: unknown) => Validator<unknown> {
  const ajv = createAjv({ discriminator: true })
  ajv.addSchema({ $id: 'openapi:document', $defs: asJsonSchema(document['components'].schemas) as object })
  return (schema) => checkWith(ajv.compile(asJsonSchema(schema) as object))
}

/** References lead to the one document; what a discriminator means Ajv sees by itself. */
function asJsonSchema (schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"openapi:document#/$defs/'),
    (key, value: unknown) => key === 'mapping' ? undefined : value)
}
