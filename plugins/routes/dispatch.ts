import { DispatchResponse, documentedRequest } from '@dispatch/contract'
import type { Addresses, Pipeline, StoredTemplate, Templates } from '@dispatch/core'
import { isServiceName, jsonServices, type ServiceName, services } from '@dispatch/services'
import type { FastifyPluginAsync } from 'fastify'
import { answerDispatch, bySample, callerOf, dispatchRouteOptions, idempotencyKeyOf, operationOf,
  validationRouteOptions } from './dispatch-route.ts'

/** `POST /api/{service}` and `POST /api/{service}/validate`, for every service of the core. */
export const dispatchRoutes: FastifyPluginAsync<{ pipeline: Pipeline, addresses: Addresses, templates: Templates }> = async (
  app,
  { pipeline, addresses, templates }
) => {
  const shared = await templates.listShared()
  for (const service of jsonServices) {
    const body: object = { ...documentedRequest([service]), examples: examplesOf(service, shared) }
    const url = `/api/${service}`

    app.post(url, dispatchRouteOptions({ operationId: operationOf('dispatch', [service]), summary: services[service].summary, body }, [
      DispatchResponse
    ]), (request, reply) =>
      answerDispatch({ pipeline, addresses }, {
        ...callerOf(request),
        ...idempotencyKeyOf(request),
        services: [service],
        body: request.body
      }, request, reply))

    app.post(`${url}/validate`, validationRouteOptions(url, { operationId: operationOf('validate', [service]), body }), (request) =>
      pipeline.validate({ ...callerOf(request), services: [service], body: request.body }, { lookUp: true }))
  }
}

/** Requests for the shared templates with the shortest samples that were made for the service, or else for the shortest that could be. */
function examplesOf (service: ServiceName, shared: readonly StoredTemplate[]): object[] {
  const { example, fields, content } = services[service]
  const own = shared.filter(({ source }) => source.service === service)
  const fitting = own.length > 0
    ? own.toSorted(bySample).slice(0, 2)
    : shared.filter(({ source }) => isServiceName(source.service) && services[source.service].content === content).sort(bySample).slice(0,
      1)
  return fitting.map(({ id, sample, source: { documentType } }) => ({
    template: { id, data: sample },
    ...(documentType === undefined || !('documentType' in fields.properties) ? {} : { documentType }),
    ...example,
    metadata: { orderId: 'A-1001' }
  }))
}
