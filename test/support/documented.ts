import type { Answer } from './service.ts'

type Responses = Record<string, { $ref?: string, description?: string }>
type Document = { paths: Record<string, Record<string, { responses: Responses }>>, components: { responses: Responses } }

/** The errors that a service has answered, each with the request that it answers. */
export type Errors = {
  note: (method: string, path: string, answer: Answer) => void
  /** Throws where an operation of the OpenAPI document has answered an error that it does not name at that status. */
  requireDocumented: (document: Document) => void
}

/** What an address is answered that is no operation's, though it may look like one. */
const ofNoOperation: ReadonlySet<string> = new Set(['not_found', 'unknown_service'])

export function createErrors (): Errors {
  const seen = new Map<string, { method: string, path: string, status: string, word: string }>()
  return {
    note (method, path, { status, body }) {
      const word: unknown = status < 400 ? undefined : body?.error
      if (typeof word !== 'string' || ofNoOperation.has(word)) return
      const [bare = ''] = path.split('?')
      seen.set(`${method} ${bare} ${status} ${word}`, { method: method.toLowerCase(), path: bare, status: String(status), word })
    },
    requireDocumented (document) {
      const missing = [...seen.values()].filter((error) => !isDocumented(document, error))
        .map(({ method, path, status, word }) => `${method} ${path}: ${status} ${word}`)
      if (missing.length > 0) throw new Error(`The OpenAPI document does not name these errors: ${missing.join('; ')}`)
    }
  }
}

function isDocumented (
  { paths, components }: Document,
  { method, path, status, word }: { method: string, path: string, status: string, word: string }
): boolean {
  const [template] = Object.keys(paths).filter((one) => patternOf(one).test(path)).sort((a, b) => a.split('{').length - b.split('{').length)
  const responses = paths[template ?? '']?.[method]?.responses
  // What no operation answers is no operation's error.
  if (responses === undefined) return true
  return [responses[status], responses['default']].some((response) => {
    const told = response?.$ref === undefined ? response : components.responses[response.$ref.split('/').at(-1) ?? '']
    return told?.description?.includes(`\`${word}\``) === true
  })
}

function patternOf (template: string): RegExp {
  return new RegExp(`^${template.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')).join('[^/]+')}$`)
}
