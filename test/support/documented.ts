import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Answer } from './service.ts'

type Responses = Record<string, { $ref?: string, description?: string }>
type Document = { paths: Record<string, Record<string, { responses: Responses }>>, components: { responses: Responses } }

/** The errors that a service has answered, each with the request that it answers. */
export type Errors = {
  note: (method: string, path: string, answer: Answer) => void
  /** The errors that an operation of the OpenAPI document has answered and does not name at that status, or at all of its kind. */
  undocumented: (read: () => Promise<Document>) => Promise<string[]>
}

/** What an address is answered that is no operation's, though it may look like one. */
const ofNoOperation: ReadonlySet<string> = new Set(['not_found', 'unknown_service'])

type Seen = { method: string, path: string, status: string, word: string }

/** Where the processes of a run leave a document for each other; the runner removes it. */
export const sharedDocument = (run: string): string => join(tmpdir(), `dispatch-openapi-${run}.json`)

const run = process.env['DISPATCH_TEST_RUN']

/** The document that a service of this run wrote: to write it takes longer than most tests. What it lacks may be in another's. */
let written: Document | undefined

function readShared (): Document | undefined {
  return run !== undefined && existsSync(sharedDocument(run)) ? JSON.parse(readFileSync(sharedDocument(run), 'utf8')) : undefined
}

/** Another process finds the whole of it, or nothing. */
function share (document: Document): void {
  if (run === undefined || existsSync(sharedDocument(run))) return
  const own = sharedDocument(`${run}-${process.pid}`)
  writeFileSync(own, JSON.stringify(document))
  renameSync(own, sharedDocument(run))
}

export function createErrors (): Errors {
  const seen = new Map<string, Seen>()
  return {
    note (method, path, { status, body }) {
      const word: unknown = status < 400 ? undefined : body?.error
      if (typeof word !== 'string' || ofNoOperation.has(word)) return
      // As it is sent: `/a/./b` is `/a/b`.
      const bare = new URL(path, 'http://localhost').pathname
      seen.set(`${method} ${bare} ${status} ${word}`, { method: method.toLowerCase(), path: bare, status: String(status), word })
    },
    async undocumented (read) {
      if (seen.size === 0) return []
      written ??= readShared()
      const missing = [...seen.values()].filter((error) => written === undefined || !isDocumented(written, error))
      if (missing.length === 0) return []
      const own = written = await read()
      share(own)
      return missing.filter((error) => !isDocumented(own, error))
        .map(({ method, path, status, word }) => `${method} ${path}: ${status} ${word}`)
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
  return [responses[status], responses[`${status[0]}XX`], responses['default']].some((response) => {
    const told = response?.$ref === undefined ? response : components.responses[response.$ref.split('/').at(-1) ?? '']
    return told?.description?.includes(`\`${word}\``) === true
  })
}

function patternOf (template: string): RegExp {
  return new RegExp(`^${template.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')).join('[^/]+')}$`)
}
