/**
 * The operations of the API as the client needs them: by group and method, `/api/invoicing POST body key` or `dispatches/{id} GET`: a path
 * without a slash before it is below `/api/v1/`. The words after path and method say what an operation takes and answers.
 */
export type Operations = Readonly<Record<string, Readonly<Record<string, string>>>>

/**
 * Traits: `body`: JSON. `form`: a file with fields. `key`: an idempotency key. `nothing`, `pages`, `events`, `raw`: what it answers besides
 * JSON; `raw` and `events` together: an answer whose body is the events.
 */
export type Operation = { method: string, path: string, traits: ReadonlySet<string> }

export function readOperation (text: string): Operation {
  const [path = '', method = '', ...traits] = text.split(' ')
  return { method, path: path.startsWith('/') ? path : `/api/v1/${path}`, traits: new Set(traits) }
}

/** The path with its parameters; each is one segment. */
export function fillPath (path: string, given: readonly unknown[]): string {
  const left = [...given]
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = left.shift()
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '') {
      throw new TypeError(`${path} needs "${name}" as a text or a number: it got ${value === '' ? 'an empty text' : typeof value}.`)
    }
    return encodeURIComponent(value)
  })
}

/** A query, whose objects are written as `metadata[orderId]=A-1`. What is undefined is left out. */
export function queryOf (parameters: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined
      ? []
      : typeof value === 'object' && value !== null && !(value instanceof Date)
      ? Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)])
      : [[name, value instanceof Date ? value.toISOString() : String(value as string | number | boolean)]]
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`
}
