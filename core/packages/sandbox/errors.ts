import { isRecord } from '@dispatch/common'
import { type Failure, failureOf } from '@dispatch/host/provider'
import { failureError } from '@dispatch/vendor-io/outcome'

/** An error on its way between the processes: a failure as it counts for a call, or any other by its words. */
export type ErrorData = { failure: Failure } | { name: string, message: string, stack?: string }

/** Characters of an error's words. */
const longestWords = 4_000

/** What crosses of an error. */
export function errorDataOf (thrown: unknown): ErrorData {
  const failure = failureOf(thrown)
  if (failure !== undefined) return { failure: { ...failure, message: cut(failure.message) } }
  if (!(thrown instanceof Error)) return { name: 'Error', message: cut(textOf(thrown)) }
  return {
    name: cut(textOf(thrown.name)),
    message: cut(textOf(thrown.message)),
    ...(typeof thrown.stack === 'string' && { stack: cut(thrown.stack) })
  }
}

/** The error that crossed, or one that says that it cannot be read. */
export function errorFrom (data: unknown): Error {
  if (!isRecord(data)) return new Error('It failed, and did not say why.')
  const { failure, name, message, stack } = data
  if (isRecord(failure)) return knownFailure(failure)
  const error = new Error(typeof message === 'string' ? cut(message) : 'It failed, and did not say why.')
  if (typeof name === 'string') error.name = cut(name)
  if (typeof stack === 'string') error.stack = cut(stack)
  return error
}

/** What comes from outside is a failure only if `failureOf` reads it. */
function knownFailure (data: Readonly<Record<string, unknown>>): Error {
  const { message, word, code, status, at, retryAfter, body, ours } = data as Failure
  const error = failureError({
    message,
    ...(word !== undefined && { word }),
    ...(code !== undefined && { code }),
    ...(status !== undefined && { status }),
    ...(at !== undefined && { at }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(body !== undefined && { body }),
    ...(ours !== undefined && { ours })
  })
  return failureOf(error) === undefined ? new Error('It reported a failure that cannot be read.') : error
}

function textOf (thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return 'Something was thrown that is no text.'
  }
}

function cut (text: string): string {
  return text.slice(0, longestWords)
}
