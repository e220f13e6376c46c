import { capital, type ErrorWord, IdempotencyHeaders, isSince, type Mode, QueuedResponse, refusal, usualVersion, ValidationResponse,
  WaitingView } from '@dispatch/contract'
import { type Addresses, type DispatchAnswer, type DispatchCommand, type Pipeline, responseOf, type StoredTemplate } from '@dispatch/core'
import type { ServiceName } from '@dispatch/services'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { compileValidator } from '../hooks/body-parsing.ts'
import { traceparent } from '../hooks/trace-context.ts'

const validationErrors = ['template_not_found', 'expectation_failed', 'suppressed', 'validation_failed', 'configuration_missing',
  'budget_exceeded'] as const
/** The error of a validation that timed out, because the company's own template waited too long for a worker thread. */
const late = ['provider_unavailable', 'timeout'] as const
/** The errors that a client can cause with a dispatch. */
export const dispatchErrors = [
  ...validationErrors,
  'insufficient_credits',
  'idempotency_in_progress',
  'idempotency_key_reused',
  'provider_error',
  'authentication_error',
  'distant_service_error',
  'provider_unavailable',
  'timeout',
  'recording_unknown',
  'outcome_unknown',
  'document_damaged',
  'approval_required'
] as const

/**
 * The pipeline validates the body and builds the response itself, the same way for every caller. So the schemas of these routes are only
 * for the documentation, except the query.
 */
const ownReading: { validatorCompiler: FastifySchemaCompiler<TSchema>, serializerCompiler: FastifySerializerCompiler<object> } = {
  validatorCompiler: (part) => part.httpPart === 'querystring' ? compileValidator(part) : (value: unknown) => ({ value }),
  serializerCompiler: () => (answer: unknown) => JSON.stringify(answer)
}

const mode = {
  async: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: the dispatch is queued and the answer comes at once; the result is sent to the callbackUrl, and can be read.'
    })
  )
}

/** The query of a retry: synchronous or asynchronous. */
export const ModeQuery = Type.Object(mode, { additionalProperties: false })

/** The query of a dispatch. */
const WayQuery = Type.Object({
  ...mode,
  sandbox: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: the vendors do it in their test environments, and nothing is charged; 422 where one has none, or its ' +
        'configuration cannot reach it.'
    })
  ),
  strict: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'true: warnings are refused (422); so they are with the header `Prefer: handling=strict` (RFC 7240).'
    })
  )
}, { additionalProperties: false })

/** The name of an operation, as generated clients have it: dispatchInvoicing, validateInvoicingEmail. */
export function operationOf (verb: 'dispatch' | 'validate', path: readonly ServiceName[]): string {
  return verb + path.map(capital).join('')
}

type Documentation = { operationId: string, readonly [name: string]: unknown }

const sending = { scopes: ['send', 'propose'], testable: true } as const

/** What all routes have that dispatch. `documentation`: what a route says of itself; `wholes`: how its success reads. */
export function dispatchRouteOptions (
  documentation: Documentation & { summary: string },
  wholes: readonly TSchema[],
  errors: readonly ErrorWord[] = []
) {
  return {
    ...ownReading,
    config: { ...sending, errors: [...errors, ...dispatchErrors], replayable: true, limit: 'dispatch' as const },
    schema: {
      tags: ['Dispatch'],
      querystring: WayQuery,
      headers: IdempotencyHeaders,
      response: { 200: Type.Union([...wholes, QueuedResponse]), 202: WaitingView },
      ...documentation
    }
  }
}

/** What all routes have that validate; `url` is that of the dispatch. */
export function validationRouteOptions (url: string, documentation: Documentation, errors: readonly ErrorWord[] = []) {
  return {
    ...ownReading,
    config: { ...sending, errors: [...errors, ...validationErrors, ...late], validates: true, limit: 'validation' as const },
    schema: {
      tags: ['Dispatch'],
      summary: `Validates POST ${url}.`,
      querystring: WayQuery,
      response: { 200: ValidationResponse },
      ...documentation
    }
  }
}

/** Templates with a short sample first. */
export function bySample (one: StoredTemplate, other: StoredTemplate): number {
  return JSON.stringify(one.sample).length - JSON.stringify(other.sample).length
}

/** The caller and the options of a dispatch. */
export function callerOf (request: FastifyRequest):
  & Pick<DispatchCommand, 'actor' | 'requestId' | 'mode' | 'sandbox' | 'strict' | 'version' | 'traceparent'>
  & {
    mode: Mode
  }
{
  const { async = false, sandbox = false, strict = false } = request.query as Static<typeof WayQuery>
  const parent = traceparent()
  return {
    actor: request.actor,
    requestId: request.id,
    mode: async ? 'asynchronous' : 'synchronous',
    ...(sandbox ? { sandbox } : {}),
    ...(strict || prefersStrict(request) ? { strict: true } : {}),
    version: request.apiVersion,
    ...(parent === undefined ? {} : { traceparent: parent })
  }
}

/** Several preferences are separated by commas, and their parameters by semicolons. */
function prefersStrict ({ headers: { prefer = [] } }: FastifyRequest): boolean {
  return [prefer].flat().join(',').split(/[,;]/).some((preference) => /^\s*handling\s*=\s*"?strict"?\s*$/i.test(preference))
}

/** Runs a dispatch and sends its result. A header marks the replay of an earlier request. */
export async function answerDispatch (
  { pipeline, addresses }: { pipeline: Pipeline, addresses: Addresses },
  call: DispatchCommand,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<DispatchAnswer | WaitingView> {
  // Before 1.1.0 an answer without a dispatch means nothing to a client.
  const mayWait = isSince('1.1.0', call.version ?? usualVersion)
  const { replayed, ...answer } = mayWait ? await pipeline.request(call) : await pipeline.dispatch(call)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if ('waiting' in answer) {
    reply.code(202)
    return answer.waiting
  }
  request.dispatchId = answer.result.dispatchId
  return responseOf(answer.result, addresses, request.apiVersion)
}

/** X-Idempotency-Key, or Idempotency-Key; both must say the same. */
export function idempotencyKeyOf ({ headers }: FastifyRequest): Pick<DispatchCommand, 'idempotencyKey'> {
  const { 'idempotency-key': alias, 'x-idempotency-key': key = alias } = headers
  if (alias !== undefined && alias !== key) {
    throw refusal('validation_error', [{
      path: '/headers/Idempotency-Key',
      code: 'contradiction',
      message: 'It differs from X-Idempotency-Key; give one of the two.'
    }])
  }
  if (key === undefined) return {}
  if (typeof key === 'string' && key.length >= 1 && key.length <= 255) return { idempotencyKey: key }
  throw refusal('validation_error', [{
    path: '/headers/X-Idempotency-Key',
    code: 'length',
    message: 'An idempotency key has 1 to 255 characters.'
  }])
}
