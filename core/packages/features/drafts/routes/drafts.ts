import { Uuid } from '@dispatch/common'
import { page } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { DraftBody, DraftQuery, DraftSummary, DraftView } from '../contract/drafts.ts'
import type { Drafts } from '../service/drafts.ts'

const tags = ['Drafts']
const Params = Type.Object({ id: Uuid })

/** Drafts of requests: kept while they are written, and sent by the operations that dispatch. */
export const draftsRoutes: FastifyPluginCallbackTypebox<{ drafts: Drafts }> = (app, { drafts }, done) => {
  app.get('/api/v1/drafts', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listDrafts',
      tags,
      summary: 'Lists the drafts of the user and those that others share, the last written first, 100 at most.',
      querystring: DraftQuery,
      response: { 200: page(DraftSummary) }
    }
  }, async ({ actor, query }) => ({ data: await drafts.list(actor, query), nextCursor: null }))

  app.post('/api/v1/drafts', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'createDraft',
      tags,
      summary: 'Keeps a request that is not finished.',
      body: DraftBody,
      response: { 201: DraftView }
    }
  }, async ({ actor, body }, reply) => reply.code(201).send(await drafts.create(actor, body)))

  app.get('/api/v1/drafts/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readDraft', tags, summary: 'Reads a draft.', params: Params, response: { 200: DraftView } }
  }, async ({ actor, params: { id } }) => drafts.read(actor, id))

  app.put('/api/v1/drafts/:id', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'writeDraft',
      tags,
      summary: 'Replaces a draft of the user; makes it where there is none with this id, which the client may choose.',
      params: Params,
      body: DraftBody,
      response: { 200: DraftView }
    }
  }, async ({ actor, params: { id }, body }) => drafts.write(actor, id, body))

  app.delete('/api/v1/drafts/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'deleteDraft', tags, summary: 'Deletes a draft of the user.', params: Params, response: { 204: Type.Null() } }
  }, async ({ actor, params: { id } }, reply) => {
    await drafts.remove(actor, id)
    return reply.code(204).send(null)
  })
  done()
}
