import { HoldQuery, HoldView, page, QueueView, ReleaseBody, ReleaseView, ResolveBody } from '@dispatch/contract'
import type { Pipeline, ReleaseQueue } from '@dispatch/core'
import { findHold, listHolds } from '@dispatch/credits'
import type { Database } from '@dispatch/database'
import { readBacklog } from '@dispatch/tables'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { pageOf } from './paging.ts'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

type Options = { database: Database, release: ReleaseQueue, pipeline: Pick<Pipeline, 'resolveHold'> }
type Named = { Params: { id: string } }

/** The state of the queue, for operators; and the release of waiting dispatches when a provider works again. */
export const queueRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database, release, pipeline }, done) => {
  async function read (id: string): Promise<HoldView> {
    const hold = await findHold(database, uuidIn(id, 'step'))
    if (hold === undefined) throw resourceNotFound('step', id)
    return hold
  }

  app.get('/api/v1/queue', {
    config: { scopes: ['platform'], roles: ['operator'], errors: [] },
    schema: {
      operationId: 'readQueue',
      tags: ['Platform'],
      summary: 'Shows what waits in the queue, for how long, and what is retried (operators).',
      response: { 200: QueueView }
    }
  }, () => readBacklog(database))

  app.get('/api/v1/queue/holds', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'listHolds',
      tags: ['Platform'],
      summary: 'Lists the steps of all companies that hold credits or are in doubt, the oldest first (operators).',
      querystring: HoldQuery,
      response: { 200: page(HoldView) }
    }
  }, async ({ query: { uncertain = false, limit = 25, cursor } }) => {
    const found = await listHolds(database, { uncertain, limit: limit + 1, ...cursor === undefined ? {} : { after: cursor } })
    return pageOf(found, limit, ({ stepId }) => stepId)
  })

  app.get<Named>('/api/v1/queue/holds/:id', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'readHold',
      tags: ['Platform'],
      summary: 'Reads one step of any company: what it holds, and whether it is in doubt (operators).',
      response: { 200: HoldView }
    }
  }, ({ params }) => read(params.id))

  app.post('/api/v1/queue/holds/:id/resolve', {
    config: { scopes: ['platform'], roles: ['operator'], irreversible: true, errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'resolveHold',
      tags: ['Platform'],
      summary: 'Records the outcome of an uncertain step of any company, as an operator has found it out (operators).',
      description: 'The dispatch goes on as after POST /api/v1/dispatches/{id}/resolve. The audit log of the company says who has ' +
        'recorded what, and why.',
      body: ResolveBody,
      response: { 200: HoldView }
    }
  }, async (request) => {
    const { actor, params, body } = request
    const stepId = uuidIn((params as Named['Params']).id, 'step')
    await pipeline.resolveHold({ actor, author: auditAuthorOf(request), stepId, ...body })
    return read(stepId)
  })

  app.post('/api/v1/queue/release', {
    config: { scopes: ['send', 'platform'], everyService: true, roles: ['admin', 'operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'releaseQueue',
      tags: ['Dispatches'],
      summary: 'Lets dispatches that wait for another try go on at once, after the outage of a provider: those of the company (admins), ' +
        'or of all (operators).',
      body: ReleaseBody,
      response: { 200: ReleaseView }
    }
  }, async (request) => ({ released: await release(request.body, { actor: request.actor, author: auditAuthorOf(request) }) }))
  done()
}
