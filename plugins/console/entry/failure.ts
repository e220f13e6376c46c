import type { Sessions } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { DatabaseUnavailable } from '@dispatch/database'
import type { FastifyError, FastifyRequest } from 'fastify'
import type { Failure } from '../pages/errors.ts'
import { ApiRefused } from '../session/api.ts'
import { ForeignForm, OtherIdentity } from '../session/visit.ts'

export type SessionOptions = { sessions: Sessions }

/** What a page says of an error; one that is nobody's mistake is logged. */
export function failureOf (error: FastifyError, request: FastifyRequest): Failure {
  return { ...reasonOf(error, request), ofForm: request.method === 'POST' }
}

function reasonOf (error: FastifyError, { id: requestId, log }: FastifyRequest): Failure {
  if (error instanceof ForeignForm) return { status: 403, foreign: true, requestId }
  if (error instanceof OtherIdentity) return { status: 409, otherIdentity: true, requestId }
  if (error instanceof ApiRefused) return { status: error.refusal.status, error: error.refusal.error, requestId }
  if (error instanceof DispatchError) {
    const { status, word, message, retryAfter } = error
    return { status, error: { error: word, message, requestId }, ...retryAfter === undefined ? {} : { retryAfter }, requestId }
  }
  if (error instanceof DatabaseUnavailable) return { status: 503, requestId }
  const status = error.statusCode ?? 500
  if (status >= 500) log.error({ err: error }, 'request failed')
  return { status, requestId }
}
