import {
  answerOf, DispatchHeaders, DispatchResponse, isServiceName, refusal, requestSchema, serviceNames, services, ValidationResponse,
  type Call, type DocumentUrl, type Pipeline, type ServiceName, type StoredTemplate, type Templates
} from '@dispatch/core'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'

/** The pipeline reads its bodies itself, the same for every way in; a route's schema is only for the documentation. */
export const validatorCompiler: FastifySchemaCompiler<object> = () => (value: unknown) => ({ value })

/** `POST /api/{service}` and `POST /api/{service}/validate`, for every service of the core. */
export const dispatchRoutes: FastifyPluginAsyncTypebox<{ pipeline: Pipeline, documentUrl: DocumentUrl, templates: Templates }> = async (app, { pipeline, documentUrl, templates }) => {
  const shared = await templates.listShared()
  for (const service of serviceNames.filter((name) => name !== 'upload')) {
    const body: object = { ...requestSchema([service]), examples: examplesOf(service, shared) }
    const { summary } = services[service]
    const callOf = (request: FastifyRequest): Call => ({ actor: request.actor, services: [service], body: request.body, requestId: request.id })

    app.post(`/api/${service}`, {
      validatorCompiler,
      config: { errors: dispatchErrors, answerHeaders: { 'Idempotency-Replayed': { type: 'string', description: '"true" where the request repeats one with the same idempotency key.' } } },
      schema: { tags: ['Dispatch'], summary, body, headers: DispatchHeaders, response: { 200: DispatchResponse } }
    }, async (request, reply) => {
      refuseAsynchronous(request)
      const idempotencyKey = idempotencyKeyOf(request)
      const { result, replayed } = await pipeline.dispatch({ ...callOf(request), ...(idempotencyKey === undefined ? {} : { idempotencyKey }) })
      request.dispatchId = result.dispatchId
      if (replayed) reply.header('idempotency-replayed', 'true')
      return answerOf(result, documentUrl)
    })

    app.post(`/api/${service}/validate`, {
      validatorCompiler,
      config: { errors: validationErrors, validates: true },
      schema: {
        tags: ['Dispatch'],
        summary: `Validates the body of POST /api/${service}: no provider is contacted, nothing is rendered or charged.`,
        body,
        response: { 200: ValidationResponse }
      }
    }, (request) => pipeline.validate(callOf(request)))
  }
}

/** A request for each shared template that was made for the service, or else for each that could be, with its own sample. */
function examplesOf (service: ServiceName, shared: readonly StoredTemplate[]): object[] {
  const { example, fields, content } = services[service]
  const own = shared.filter(({ source }) => source.service === service)
  const fitting = own.length > 0 ? own : shared.filter(({ source }) => isServiceName(source.service) && services[source.service].content === content)
  return fitting.map(({ id, sample, source: { documentType } }) => ({
    template: { id, data: sample },
    ...(documentType === undefined || !('documentType' in fields.properties) ? {} : { documentType }),
    ...example,
    metadata: { orderId: 'A-1001' }
  }))
}

const validationErrors = ['template_not_found', 'expectation_failed', 'validation_failed', 'configuration_missing'] as const
/** What a client can cause by a dispatch. */
export const dispatchErrors = [
  ...validationErrors, 'insufficient_credits', 'idempotency_in_progress', 'idempotency_key_reused', 'provider_error', 'authentication_error', 'distant_service_error',
  'provider_unavailable', 'timeout', 'outcome_unknown'
] as const

/** Who asks for the queue must not get a synchronous answer in its place. */
export function refuseAsynchronous ({ query }: FastifyRequest): void {
  const { async = 'false' } = query as Record<string, unknown>
  if (async !== 'false') throw refusal('validation_failed', [{ path: '/query/async', code: 'not_supported', message: 'Asynchronous mode is not there yet: leave "async" out and wait for the answer.' }])
}

/** X-Idempotency-Key, or Idempotency-Key; both must say the same. */
export function idempotencyKeyOf ({ headers }: FastifyRequest): string | undefined {
  const { 'idempotency-key': alias, 'x-idempotency-key': key = alias } = headers
  if (alias !== undefined && alias !== key) throw refusal('validation_error', [{ path: '/headers/Idempotency-Key', code: 'contradiction', message: 'Says something else than X-Idempotency-Key; give it once.' }])
  if (key === undefined || (typeof key === 'string' && key.length >= 1 && key.length <= 255)) return key
  throw refusal('validation_error', [{ path: '/headers/X-Idempotency-Key', code: 'length', message: 'An idempotency key has 1 to 255 characters.' }])
}
