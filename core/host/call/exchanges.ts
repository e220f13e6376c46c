import { isCredentialField } from '../http/credentials.ts'
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

/** The most exchanges of one call that are noted, and the most characters of a body or an answer. */
const [most, longest] = [20, 4_000]

/** Notes what one call asks of its vendor. Costs a few references until it is read. */
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

export function createNotebook (): Notebook {
  const lines: { method: string, line: Line, took: () => number }[] = []
  return {
    begin (method) {
      if (lines.length >= most) return undefined
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
  const told = Object.entries(headers).map(([name, value]) => [name, isCredentialField(name) ? masked(value) : redact.text(value)])
  return {
    url: redact.text(url),
    headers: Object.fromEntries(told) as Record<string, string>,
    ...body === undefined ? {} : { body: bodyOf(body, redact) },
    ...status === undefined ? {} : { status },
    ...answer === undefined
      ? {}
      : { answer: cut(redact.text((typeof answer === 'string' ? answer : JSON.stringify(answer)).slice(0, longest * 2))) },
    ...failure === undefined ? {} : { failure: redact.text(failure) }
  }
}

/** A text of bytes; what is no text in it reads as U+FFFD, also the NUL that no text of the database may have. */
function bodyOf (body: NonNullable<Line['body']>, redact: Redactor): string {
  if (!(body instanceof Uint8Array)) return body.bytes === undefined ? '…' : `… (${body.bytes} bytes)`
  // A secret that the cut goes through would be half of it: the redactor sees a little more than is shown.
  const text = new TextDecoder().decode(body.subarray(0, longest * 2))
  return cut(redact.text(text))
}

function cut (text: string): string {
  const plain = text.replaceAll('\0', '\uFFFD')
  return plain.length > longest ? `${plain.slice(0, longest).toWellFormed()}…` : plain
}

/** A credential without its proof: the scheme stays. */
export function masked (value: string): string {
  const [, scheme] = /^(\S+) /.exec(value) ?? []
  return scheme === undefined ? marker : `${scheme} ${marker}`
}
