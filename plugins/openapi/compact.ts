import { isRecord } from '@dispatch/common'
import { data, type OpenApiObject } from './components.ts'

/**
 * A finished document in fewer words. A field loses its examples where the example of any body or answer has the same values: most of them
 * stand where the field is used, in its own body.
 */
export function compact (document: OpenApiObject): OpenApiObject {
  return mapSchemas(document, withoutShown(shownIn(document)))
}

/** Rewrites each schema of a part of the document, the inner ones first. */
function mapSchemas (part: unknown, rewrite: (schema: OpenApiObject) => OpenApiObject): OpenApiObject {
  const visit = (one: unknown, isFields = false): unknown => {
    if (Array.isArray(one)) return one.map((item: unknown) => visit(item))
    if (!isRecord(one)) return one
    const whole = Object.fromEntries(
      Object.entries(one).map(([key, value]) => [key, !isFields && data.has(key) ? value : visit(value, !isFields && key === 'properties')])
    )
    return isFields ? whole : rewrite(nullableBy(whole))
  }
  return visit(part) as OpenApiObject
}

/** What is of one type or null says so in one word. */
function nullableBy (schema: OpenApiObject): OpenApiObject {
  const { anyOf, ...own } = schema
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema
  const [one, other] = anyOf as readonly OpenApiObject[]
  const isNull = other?.['type'] === 'null' && Object.keys(other).length === 1
  const isPlain = typeof one?.['type'] === 'string' && !('enum' in one) && !('const' in one)
  return isNull && isPlain ? { ...one, ...own, type: [one['type'], 'null'] } : schema
}

/** Schemas without the examples that an example of a body or of an answer shows. */
function withoutShown (shown: ReadonlySet<string>): (schema: OpenApiObject) => OpenApiObject {
  return (schema) => {
    const { examples, ...own } = schema
    return Array.isArray(examples) && examples.every((value) => shown.has(JSON.stringify(value))) ? own : schema
  }
}

/** All values within the examples of bodies and answers, as JSON. */
function shownIn (document: OpenApiObject): Set<string> {
  const shown = new Set<string>()
  const show = (value: unknown): void => {
    shown.add(JSON.stringify(value))
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(show)
  }
  const look = (part: unknown): void => {
    if (Array.isArray(part)) part.forEach(look)
    if (!isRecord(part)) return
    for (const [key, value] of Object.entries(part)) {
      if (key === 'example' || key === 'value') show(value)
      else if (key !== 'schema' && key !== 'schemas') look(value)
    }
  }
  look(document)
  return shown
}
