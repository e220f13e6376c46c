import type { Json, JsonObject, Log } from '@dispatch/common'

/** Replaces known secrets, wherever they stand. */
export type Redactor = {
  text: (text: string) => string
  json: <Value extends Json>(value: Value) => Value
  /** The same for a vendor's id, by which it is asked later: a short secret may stand in one by chance, and is left there. */
  id: (id: string) => string
  /** Adds a secret that appeared during the call, such as an access token. */
  conceal: (secret: string) => void
  /** The length of the longest text that is replaced. */
  longest: () => number
}

/** Stands in place of a secret. */
export const marker = '[redacted]'

/** A redactor for these secrets: in clear text, inside JSON, a URL or a form, in base64 (as in a Basic header), in hex, backwards. */
export function createRedactor (secrets: readonly string[]): Redactor {
  const known = new Set(secrets)
  let forms = formsOfAll(known)
  let pattern: RegExp | undefined
  const text = (plain: string): string => {
    // Most texts hold no secret, and a search costs far less than compiling the regular expression.
    if (!forms.some((form) => plain.includes(form))) return plain
    pattern ??= patternOf(forms.filter(({ length }) => length <= longestInPattern))
    const without = forms.filter(({ length }) => length > longestInPattern).toSorted((a, b) => b.length - a.length)
      .reduce((left, form) => left.replaceAll(form, marker), plain)
    return without.replace(pattern, marker)
  }
  return {
    text,
    json: (value) => forms.length === 0 ? value : mapTexts(value, text),
    id (id) {
      const without = text(id)
      const holds = (secret: string): boolean => secret.length >= shortestInId && formsOf(secret).some((form) => id.includes(form))
      return without === id || ![...known].some(holds) ? id : without
    },
    conceal (secret) {
      if (known.has(secret)) return
      known.add(secret)
      forms = formsOfAll(known)
      pattern = undefined
    },
    longest: () => Math.max(0, ...forms.map(({ length }) => length))
  }
}

/**
 * The configuration for which a provider is asked something that takes no secrets: `account` names it, `redactor` makes what hides its
 * secrets, where the provider says anything.
 */
export type OfConfiguration = { account?: string, redactor?: () => Redactor }

export const nothingToHide = (): Redactor => createRedactor([])

/** In characters. A regular expression of much longer texts, such as keys in PEM, may be too large for V8. */
const longestInPattern = 1_000

function formsOfAll (secrets: ReadonlySet<string>): string[] {
  return [...secrets].filter(({ length }) => length >= shortestSecret).flatMap(formsOf)
}

/** The longest first: where one form begins with another one, the whole is replaced. */
export function patternOf (forms: readonly string[]): RegExp {
  const longestFirst = forms.toSorted((a, b) => b.length - a.length)
  return new RegExp(longestFirst.length === 0 ? '(?!)' : longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
}

/** An error with the secrets replaced in its words and its stack; the same one where it has none. */
export function redactError (thrown: unknown, { text }: Pick<Redactor, 'text'>): unknown {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? text(thrown) : thrown
  const { name, message, stack = '' } = thrown
  if (text(`${name} ${message} ${stack}`) === `${name} ${message} ${stack}` && thrown.cause === undefined) return thrown
  const redacted = new Error(text(message), thrown.cause === undefined ? {} : { cause: redactError(thrown.cause, { text }) })
  return Object.assign(redacted, { name: text(name), stack: text(stack) })
}

/** The log, with secrets replaced in every message and field. Values that JSON cannot carry are left out. */
export function redactLog (log: Log, redact: Redactor): Log {
  const line = (level: keyof Log) => (facts: object, message: string): void => {
    log[level](redact.json(plainFacts(facts)), redact.text(message))
  }
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
}

/** A copy of a JSON value with the secrets replaced in every text, also in keys. A number that reads as a secret becomes a text. */
export function mapTexts<Value extends Json> (value: Value, text: (text: string) => string): Value
export function mapTexts (value: Json, text: (text: string) => string): Json {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number') return text(String(value)) === String(value) ? value : text(String(value))
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), mapTexts(item, text)]))
}

/** Characters. A shorter text occurs by chance everywhere, and protects nothing. */
const shortestSecret = 4
const shortestInner = 6
const shortestInId = 8

function formsOf (secret: string): string[] {
  return [...new Set([...writtenForms(secret), ...innerBase64(secret), ...plainEncodings(secret)])]
}

/** Backwards and in hexadecimal: what an adapter that computes with a secret may write by accident. A net, and no promise. */
function plainEncodings (secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex')
  return [Array.from(secret).toReversed().join(''), hex, hex.toUpperCase()]
}

/** A text as it is, and as it is written inside JSON, a URL, a part of a URL, and a form: always in this order. */
export function writtenForms (text: string): string[] {
  const plain = text.toWellFormed()
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURI(plain),
    encodeURIComponent(plain),
    new URLSearchParams({ _: plain }).toString().slice(2)
  ]
}

/**
 * The base64 characters that depend on the secret only, for each of the three positions at which the secret can begin in a group of three
 * bytes.
 */
export function innerBase64 (secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.from('\0'.repeat(before) + secret)
    const inner = bytes.toString('base64').slice(Math.ceil(before * 8 / 6), Math.floor(bytes.length * 8 / 6))
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  }).filter((inner) => inner.length >= shortestInner)
}

function plainFacts (facts: object): JsonObject {
  if (isFlat(facts)) return facts
  try {
    return JSON.parse(JSON.stringify(facts, errorFacts)) as JsonObject
  } catch (cause) {
    return { unreadable: String(cause) }
  }
}

/** Only texts and other simple values: the usual line, which needs no copy. */
function isFlat (facts: object): facts is Record<string, string | number | boolean> {
  return Object.values(facts).every((value) => ['string', 'number', 'boolean'].includes(typeof value))
}

/** JSON.stringify writes an error as an empty object. */
function errorFacts (_key: string, value: unknown): unknown {
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack, cause: value.cause } : value
}
