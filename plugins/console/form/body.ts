import { withoutDirectionControls } from '@dispatch/common'

/** What was sent, by what is read of it. */
const asSent = new WeakMap<URLSearchParams, URLSearchParams>()

/** A form that was sent. Nobody types what turns a text around: it comes along with what is pasted, and is no part of what is read here. */
export function formIn (body: string): URLSearchParams {
  const sent = new URLSearchParams(body)
  const read = new URLSearchParams([...sent].map(([name, value]) => [name, withoutDirectionControls(value)]))
  asSent.set(read, sent)
  return read
}

/** A password, or another secret, as it was typed: each of its characters counts. Undefined without such a field. */
export function secretIn (body: URLSearchParams, name: string): string | undefined {
  return (body.has(name) ? (asSent.get(body) ?? body).get(name) : null) ?? undefined
}

/** The fields of a form as they were sent, for a page that has it sent again. */
export function sentIn (body: URLSearchParams): [name: string, value: string][] {
  const names = new Set(body.keys())
  return [...asSent.get(body) ?? body].filter(([name]) => names.has(name))
}
