import { capital, chainBeginners, chainFollowers, ChainResponse, chains, documentedChain, documentedRequest, type ErrorWord, isPath,
  longestChain, type ServicePath } from '@dispatch/contract'
import type { Addresses, Pipeline, StoredTemplate, Templates } from '@dispatch/core'
import { isServiceName, linkToken, services } from '@dispatch/services'
import type { FastifyPluginAsync, FastifyRequest, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { routeNotFound } from '../hooks/errors.ts'
import { answerDispatch, bySample, callerOf, dispatchRouteOptions, idempotencyKeyOf, validationRouteOptions } from './dispatch-route.ts'

const parameters = ['first', 'second', 'third', 'fourth'].slice(0, longestChain)

/**
 * `POST /api/{first}/{second}[/{third}[/{fourth}]]`, and the same with `/validate`. Every chain of two services has a route with its own
 * body schema. Longer chains are too many: all chains of one length share a route. A path that is not a chain reaches a shared route too.
 */
export const chainRoutes: FastifyPluginAsync<{ pipeline: Pipeline, addresses: Addresses, templates: Templates }> = async (
  app,
  { pipeline, addresses, templates }
) => {
  const [invoice] = (await templates.listShared()).filter(({ source }) => source.service === services.invoicing.name).sort(bySample)

  /** Of one chain alone: even the shortest invoice is large. */
  const example = (path: ServicePath): { examples?: object[] } =>
    invoice === undefined || path.join('/') !== `${services.invoicing.name}/${services.email.name}`
      ? {}
      : { examples: [exampleOf(invoice)] }

  function add (
    url: string,
    servicesOf: (request: FastifyRequest) => ServicePath,
    { summary, description, names, errors = [], onRequest, ...documentation }: Documented
  ): void {
    const more = onRequest === undefined ? {} : { onRequest }
    app.post(url, {
      ...more,
      ...dispatchRouteOptions({
        operationId: `dispatch${names}`,
        summary,
        ...description === undefined ? {} : { description },
        ...documentation
      }, [ChainResponse], ['partially_dispatched', ...errors])
    }, (request, reply) =>
      answerDispatch({ pipeline, addresses }, {
        ...callerOf(request),
        ...idempotencyKeyOf(request),
        services: servicesOf(request),
        body: request.body
      }, request, reply))

    app.post(`${url}/validate`, {
      ...more,
      ...validationRouteOptions(url.replaceAll(/:(\w+)/g, '{$1}'), { operationId: `validate${names}`, ...documentation }, errors)
    }, (request) => pipeline.validate({ ...callerOf(request), services: servicesOf(request), body: request.body }, { lookUp: true }))
  }

  for (const path of chains.filter(({ length }) => length === 2)) {
    add(`/api/${path.join('/')}`, () => path, {
      names: path.map(capital).join(''),
      summary: `Dispatches through ${path.join(', then ')}.`,
      body: { ...documentedRequest(path), ...example(path) }
    })
  }

  const schema = documentedChain()
  for (const names of parameters.map((_, index) => parameters.slice(0, index + 1)).slice(1)) {
    add(`/api/${names.map((name) => `:${name}`).join('/')}`, chainOf, {
      names: `ChainOf${names.length}`,
      summary: `Dispatches through ${names.length} services, one after the other.`,
      // Valid chains of two services have routes of their own.
      hide: names.length === 2,
      params: ChainParams(names),
      description: chainsOf(names.length),
      body: schema,
      errors: ['unknown_chain'],
      // Before the body is read: what is no chain has none.
      onRequest: (request, _reply, next) => {
        next(pathOf(request) === undefined ? routeNotFound(request) : undefined)
      }
    })
  }
}

/** What a chain's two routes have. `names`: its services, in the names of its operations. */
type Documented = {
  names: string
  summary: string
  description?: string
  body: object
  errors?: readonly ErrorWord[]
  onRequest?: onRequestHookHandler
  readonly [name: string]: unknown
}

/** The services in the path of a request; undefined when they are no chain. */
function pathOf ({ params }: FastifyRequest): ServicePath | undefined {
  const names = Object.values(params as Record<string, string>)
  const known = names.filter(isServiceName)
  return known.length === names.length && isPath(known) ? known : undefined
}

function chainOf (request: FastifyRequest): ServicePath {
  const path = pathOf(request)
  if (path === undefined) throw routeNotFound(request)
  return path
}

/** The services of an example. */
const shown = [services.invoicing, services.email, services.sms, services.upload].map(({ name }) => name)

/** Which services may stand where. */
function ChainParams (names: readonly string[]) {
  return Type.Object(
    Object.fromEntries(
      names.map((name, index) => [name, Type.Enum([...index === 0 ? chainBeginners : chainFollowers], { examples: [shown[index]] })])
    )
  )
}

/** Those of a length, in words: there are too many to be listed. */
function chainsOf (length: number): string {
  const [first, next] = [chainBeginners, chainFollowers].map((names) => names.map((name) => `\`${name}\``).join(', '))
  const last = chainFollowers.filter((name) => services[name].chain.last === true).map((name) => `\`${name}\``).join(', ')
  return `The first service must be one of ${first}; the next ones are others of ${next}, no service twice, and none after ${last}: ` +
    `${chains.filter((path) => path.length === length).length} chains of ${length} services.`
}

/** A document of an invoicing template, and its e-mail. */
function exampleOf ({ id, sample, source: { documentType } }: StoredTemplate): object {
  return {
    documentType,
    template: { id, data: sample },
    email: { ...services.email.example, body: `Your document: ${linkToken}` },
    metadata: { orderId: 'A-1001' }
  }
}
