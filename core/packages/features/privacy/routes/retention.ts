import { auditAuthorOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { RetentionBody, RetentionView } from '../contract/retention.ts'
import type { Retentions } from '../service/retention.ts'

const tags = ['Privacy']

/** For how long a company keeps the data of what it sends. */
export const retentionRoutes: FastifyPluginCallbackTypebox<{ retentions: Retentions }> = (app, { retentions }, done) => {
  app.get('/api/v1/company/retention', {
    config: { errors: [] },
    schema: {
      operationId: 'readRetention',
      tags,
      summary: 'Reads for how many days the data of each service are kept.',
      response: { 200: RetentionView }
    }
  }, async ({ actor }) => retentions.read(actor.companyId))

  app.put('/api/v1/company/retention', {
    config: { errors: ['validation_error', 'validation_failed'] },
    schema: {
      operationId: 'setRetention',
      tags,
      summary: 'Says for how many days the data of each service are kept: at most as long as the operator says.',
      description:
        'From the next night on, documents, the data and texts of requests, exchanges with vendors, bodies of callbacks and events are ' +
        'deleted so many days after they were made, for good. What is queued, runs, waits or is in doubt keeps its data, and so does ' +
        'everything for a day after its end. Afterwards whoever repeats, corrects or says something of such a dispatch gets ' +
        '`document_expired`. Credits, the ledger, timelines, results and counts stay.',
      body: RetentionBody,
      response: { 200: RetentionView }
    }
  }, async (request) => retentions.set(auditAuthorOf(request), request.body))
  done()
}
