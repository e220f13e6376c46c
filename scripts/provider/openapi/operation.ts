import type { JsonObject } from '@dispatch/common'
import type { Meaning } from '@dispatch/services'
import type { Description } from './description.ts'
import { knownFields } from './request.ts'
import { listIn, recordIn, type Shape, shapeOf, textIn } from './schema.ts'

/** How a body is written: as the options of the host's `http` name it. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'document'

/** An operation of a vendor that sends something. `path` with its variables in braces. */
export type Operation = {
  name: string
  method: 'post' | 'put'
  path: string
  operation: JsonObject
  /** What counts for all operations of its path. */
  shared: JsonObject
  bodies: ReadonlyMap<BodyKind, Shape>
}

const kinds: readonly [RegExp, BodyKind][] = [
  [/^application\/(?:[\w.-]+\+)?json$/, 'json'],
  [/^multipart\/form-data$/, 'multipart'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^application\/(octet-stream|pdf)$/, 'document']
]

/** The operations of a description whose bodies the host can write. */
export function operationsOf (description: Description): Operation[] {
  return Object.entries(recordIn(description.root, 'paths')).flatMap(([path, value]) => {
    const shared = description.follow(value) as JsonObject
    return (['post', 'put'] as const).flatMap((method): Operation[] => {
      const operation = recordIn(shared, method)
      const body = description.follow(operation['requestBody']) as JsonObject | undefined
      const content = Object.entries(recordIn(body ?? {}, 'content'))
      const bodies = new Map(content.flatMap(([type, media]): [BodyKind, Shape][] => {
        const kind = kinds.find(([pattern]) => pattern.test(type.toLowerCase().split(';')[0]?.trim() ?? ''))?.[1]
        return kind === undefined ? [] : [[kind, shapeOf(description, recordIn({ media }, 'media')['schema'])]]
      }))
      if (bodies.size === 0) return []
      const { operationId } = operation
      const name = typeof operationId === 'string' && operationId !== '' ? operationId : `${method.toUpperCase()} ${path}`
      return [{ name, method, path, operation, shared, bodies }]
    })
  })
}

/** What is wanted of the operations: the words and meanings of a service. */
type Wanted = { verbs: string, means: readonly Meaning[] }

/** Words of what does not send anything, or only goes on with something. */
const others = /search|list|cancel|delete|remove|update|status|validate|generate|folder|refund|void|metadata|customer/i

/** The operations that may do a service, the most likely first. */
export function fittingOf (description: Description, all: readonly Operation[], { verbs, means }: Wanted): Operation[] {
  const pattern = new RegExp(verbs, 'i')
  const rated = all.map((one) => {
    const { name, path, operation, bodies } = one
    const known = Math.max(...[...bodies.values()].map((shape) => knownFields({ description, means }, shape)))
    const isBytes = bodies.has('document') && bodies.size === 1
    const words = `${name} ${path.replaceAll(/\{[^}]*\}/g, '')}`
    const tags = listIn(operation, 'tags').filter((tag) => typeof tag === 'string').join(' ')
    const score = (pattern.test(words) ? 3 : pattern.test(`${textIn(operation, 'summary')} ${tags}`) ? 1 : 0) + Math.min(known, 4) +
      (isBytes ? 2 : 0) - (others.test(words) ? 4 : 0)
    return { one, score }
  })
  return rated.filter(({ score }) => score >= 3).sort((a, b) => b.score - a.score).map(({ one }) => one)
}

/** The operation that is wanted. Throws an Error that offers those that fit. */
export function chosenOf (description: Description, wanted: Wanted & { service: string, operation: string | undefined }): Operation {
  const all = operationsOf(description)
  const { service, operation } = wanted
  if (operation !== undefined) {
    const named = all.find(({ name, method, path }) => name === operation || `${method.toUpperCase()} ${path}` === operation)
    if (named !== undefined) return named
    throw new Error(`It has no operation ${JSON.stringify(operation)} with a body that can be written. ${offered(all.slice(0, 20))}`)
  }
  const fitting = fittingOf(description, all, wanted)
  const [only, ...more] = fitting
  if (only !== undefined && more.length === 0) return only
  if (only === undefined) {
    throw new Error(`None of its operations looks like "${service}". Name one with --operation. ${offered(all.slice(0, 20))}`)
  }
  throw new Error(`Several operations fit "${service}". Name one with --operation. ${offered(fitting.slice(0, 20))}`)
}

function offered (operations: readonly Operation[]): string {
  return operations.length === 0
    ? 'It has no operation that sends anything.'
    : `It has:\n${operations.map(({ name, method, path }) => `  ${name}   ${method.toUpperCase()} ${path}`).join('\n')}`
}
