import { isCredentialField } from './credential-fields.ts'
import { marker, type Redactor } from './redact.ts'

/** One request of a provider to its vendor, and the answer, as people may see them: without secrets, and long texts cut off. */
export type Exchange = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
  status?: number
  answer?: string
  /** Why there is no answer, or one that cannot be used. */
  failure?: string
  milliseconds: number
}

/** One call of a provider for a step, which has ended. */
export type EndedCall = {
  companyId: number
  dispatchId: string
  service: string
  provider: string
  outcome: string
  exchanges: readonly Exchange[]
  at: Date
}

/** The most exchanges of one call that are noted, and the most headers of each. */
const [maxExchanges, maxHeaders] = [20, 50]

/** The most characters that are shown of a body, an answer or a failure, of an address, and of a header; and that are read of each. */
const [longest, longestUrl, longestHeader, longestRead] = [4_000, 2_000, 500, 65_536]

/** Notes what one call asks of its vendor. What was sent and answered stays in memory until it is read, at the end of the call. */
export type Notebook = {
  /** Begins a line; undefined where there are enough. */
  begin: (method: string) => Line | undefined
  /** All lines as people may see them. */
  read: (redact: Redactor) => Exchange[]
}

/** What becomes known of an exchange while it goes on. */
export type Line = {
  url?: string
  headers?: Readonly<Record<string, string>>
  /** Bytes, or how many there are of a stream. */
  body?: Uint8Array | { bytes: number | undefined }
  status?: number
  answer?: unknown
  failure?: string
  end: () => void
}

/** Notes the requests of a call to a vendor, with their milliseconds; what goes beyond the most lines is left out. */
export function createNotebook (): Notebook {
  const lines: { method: string, line: Line, took: () => number }[] = []
  return {
    begin (method) {
      if (lines.length >= maxExchanges) return undefined
      const begun = performance.now()
      let milliseconds: number | undefined
      const line: Line = {
        end () {
          milliseconds ??= Math.round(performance.now() - begun)
        }
      }
      lines.push({ method, line, took: () => milliseconds ?? Math.round(performance.now() - begun) })
      return line
    },
    read: (redact) => lines.map(({ method, line, took }) => ({ method, ...shown(line, redact), milliseconds: took() }))
  }
}

function shown (
  { url = '', headers = {}, body, status, answer, failure }: Line,
  redact: Redactor
): Omit<Exchange, 'method' | 'milliseconds'> {
  const reported = (text: string, { max = longest, whole = true } = {}): string => cut(text, { max, whole }, redact)
  const fields = Object.entries(headers).slice(0, maxHeaders).map(
    ([name, value]) => [name, reported(maskedHeader(name, value), { max: longestHeader })]
  )
  return {
    url: reported(maskedPairs(url), { max: longestUrl }),
    headers: Object.fromEntries(fields) as Record<string, string>,
    ...body === undefined
      ? {}
      : { body: body instanceof Uint8Array ? reported(bodyOf(body), { whole: body.length <= longestRead }) : sizeOf(body) },
    ...status === undefined ? {} : { status },
    ...answer === undefined ? {} : { answer: reported(typeof answer === 'string' ? answer : JSON.stringify(answer, maskedField)) },
    ...failure === undefined ? {} : { failure: reported(failure) }
  }
}

/** A text of bytes, without the values of fields that hold credentials, whether they are known to this call or not. */
function bodyOf (bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes.subarray(0, longestRead))
  if (!/^\s*[[{]/.test(text) || bytes.length > longestRead) return maskedPairs(text)
  try {
    return JSON.stringify(JSON.parse(text), maskedField)
  } catch {
    // It only looks like JSON.
    return text
  }
}

function sizeOf ({ bytes }: { bytes: number | undefined }): string {
  return bytes === undefined ? '…' : `… (${bytes} bytes)`
}

function maskedField (name: string, value: unknown): unknown {
  return isCredentialField(name) && typeof value === 'string' ? marker : value
}

/** Pairs of a query or a form. */
function maskedPairs (text: string): string {
  return text.replaceAll(/(?<=^|[?&])([\w.~%+[\]-]{1,100})=([^&#\s]*)/g,
    (pair, name: string) => isCredentialField(name) ? `${name}=${marker}` : pair)
}

/** A credential without its proof: the scheme of a sign-in stays. */
export function maskedHeader (name: string, value: string): string {
  if (!isCredentialField(name)) return value
  const [, scheme] = /authorization$/i.test(name) ? /^(\S+) /.exec(value) ?? [] : []
  return scheme === undefined ? marker : `${scheme} ${marker}`
}

/**
 * So many characters at most, without secrets. Of a longer text somewhat more is redacted than is shown, because the end of what was read
 * may be a part of a secret; `whole`: there is no more of it. What a database refuses in a text, NUL and halves of a character, reads as
 * U+FFFD.
 */
function cut (text: string, { max, whole }: { max: number, whole: boolean }, redact: Redactor): string {
  const isWhole = whole && text.length <= longestRead
  const redacted = redact.text(text.slice(0, longestRead))
  const safe = isWhole ? redacted : redacted.slice(0, Math.max(0, redacted.length - redact.longest()))
  const shown = Buffer.from(safe.slice(0, max)).toString().replaceAll('\0', '\uFFFD')
  return isWhole && safe.length <= max ? shown : `${shown}…`
}
