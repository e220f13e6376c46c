import {
  chainBeginners, chainFollowers, chains, ChainResponse, chainSchema, isPath, isServiceName, linkToken, longestChain, services,
  type Addresses, type Pipeline, type ServiceName, type ServicePath, type StoredTemplate, type Templates
} from '@dispatch/core'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { answerDispatch, callerOf, dispatching, keyOf, validating } from './calls.ts'
import { notFound } from './errors.ts'

const places = ['first', 'second', 'third', 'fourth'].slice(0, longestChain)

/** `POST /api/{first}/{second}[/{third}[/{fourth}]]`, and the same with `/validate`: one route for all chains of a length. */
export const chainRoutes: FastifyPluginAsync<{ pipeline: Pipeline, addresses: Addresses, templates: Templates }> = async (app, { pipeline, addresses, templates }) => {
  const [invoice] = (await templates.listShared()).filter(({ source }) => source.service === 'invoicing')
  const schema = chainSchema()
  for (const names of places.map((_, index) => places.slice(0, index + 1)).slice(1)) {
    const url = `/api/${names.map((name) => `:${name}`).join('/')}`
    const documented = {
      params: ChainParams(names),
      description: chainsOf(names.length),
      body: { ...schema, ...(invoice === undefined ? {} : { examples: [exampleOf(names.length, invoice)] }) }
    }
    // Before the body is read: what is no chain has none.
    const known = { onRequest: (request: FastifyRequest, _reply: unknown, next: (error?: Error) => void) => { next(pathOf(request) === undefined ? notFound(request) : undefined) } }

    app.post(url, { ...known, ...dispatching({ operationId: `dispatchChainOf${names.length}`, summary: `Dispatches by ${names.length} services, one after the other.`, ...documented }, [ChainResponse], ['unknown_chain', 'partially_dispatched']) }, (request, reply) =>
      answerDispatch({ pipeline, addresses }, { ...callerOf(request), ...keyOf(request), services: chainOf(request), body: request.body }, request, reply))

    app.post(`${url}/validate`, { ...known, ...validating(url.replaceAll(/:(\w+)/g, '{$1}'), { operationId: `validateChainOf${names.length}`, ...documented }, ['unknown_chain']) }, (request) =>
      pipeline.validate({ ...callerOf(request), services: chainOf(request), body: request.body }))
  }
}

/** The services in the path of a request; undefined when they are no chain. */
function pathOf ({ params }: FastifyRequest): ServicePath | undefined {
  const names = Object.values(params as Record<string, string>)
  const known = names.filter(isServiceName)
  return known.length === names.length && isPath(known) ? known : undefined
}

function chainOf (request: FastifyRequest): ServicePath {
  const path = pathOf(request)
  if (path === undefined) throw notFound(request)
  return path
}

/** The services of the example, in its order. */
const shown = ['invoicing', 'email', 'sms', 'upload'] as const satisfies ServiceName[]

/** Which services may stand where. */
function ChainParams (names: readonly string[]) {
  return Type.Object(Object.fromEntries(names.map((name, index) => [name, Type.Enum([...index === 0 ? chainBeginners : chainFollowers], { examples: [shown[index]] })])))
}

function chainsOf (length: number): string {
  return `The chains of ${length} services:\n\n${chains.filter((path) => path.length === length).map((path) => `\`${path.join('/')}\``).join(', ')}`
}

/** An invoice, and what is done with it. */
function exampleOf (length: number, { id, sample, source: { documentType } }: StoredTemplate): object {
  const text = `Your invoice: ${linkToken}`
  const later = { email: { ...services.email.example, body: text }, sms: { phoneNumber: '+33612345678', message: text }, upload: {} }
  return {
    documentType,
    template: { id, data: sample },
    ...Object.fromEntries(Object.entries(later).slice(0, length - 1)),
    metadata: { orderId: 'A-1001' }
  }
}
