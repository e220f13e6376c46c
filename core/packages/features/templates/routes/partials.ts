import { compile } from '@dispatch/common'
import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, pageOf, resourceNotFound } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { PartialAnswer, PartialBody, PartialDetail, PartialName, PartialsQuery, PartialView } from '../contract/partials.ts'
import { AssetUseView } from '../contract/templates.ts'
import type { Partials } from '../service/partials.ts'

type Named = { Params: { name: string } }

/** What the templates of a company share: partials that they include by name, and layouts. */
export const partialsRoutes: FastifyPluginCallbackTypebox<{ partials: Partials }> = (app, { partials }, done) => {
  app.get('/api/v1/partials', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listPartials',
      tags: ['Templates'],
      summary: 'Lists the partials and layouts of the company, sorted by name.',
      querystring: PartialsQuery,
      response: { 200: page(PartialView) }
    }
  }, async ({ actor: { companyId }, query: { limit = 25, cursor } }) => {
    const found = await partials.list(companyId, { limit: limit + 1, ...cursor !== undefined && { after: cursor } })
    return pageOf(found, limit, ({ name }) => name)
  })

  app.get<Named>('/api/v1/partials/:name', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readPartial',
      tags: ['Templates'],
      summary: 'Reads a partial or a layout with its YAML.',
      response: { 200: PartialDetail }
    }
  }, async ({ actor: { companyId }, params }) => {
    const name = nameIn(params.name)
    return await partials.read(companyId, name) ?? missing(name)
  })

  app.get<Named>('/api/v1/partials/:name/templates', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'listPartialTemplates',
      tags: ['Templates'],
      summary: 'Lists the templates that include a partial, in their published or newest version.',
      response: { 200: Type.Object({ data: Type.Array(AssetUseView) }, { title: 'PartialUses' }) }
    }
  }, async ({ actor: { companyId }, params }) => {
    const name = nameIn(params.name)
    if (await partials.read(companyId, name) === undefined) return missing(name)
    return { data: await partials.uses(companyId, name) }
  })

  app.put<Named & { Body: PartialBody }>('/api/v1/partials/:name', {
    config: { errors: ['not_found', 'conflict', 'validation_failed', 'provider_unavailable'] },
    schema: {
      operationId: 'storePartial',
      tags: ['Templates'],
      summary: 'Stores a partial or its next version, with a new draft of each template that includes it (admins).',
      description: 'Dispatches go on with the published versions, which have in them what they included when they were saved, until the ' +
        'new drafts are published. Where one of the templates would be refused with it, nothing is stored.',
      body: PartialBody,
      response: { 200: PartialAnswer }
    }
  }, async (request) => {
    const by = { author: auditAuthorOf(request), services: request.actor.services }
    return partials.store(by, nameIn(request.params.name), request.body)
  })

  app.delete<Named>('/api/v1/partials/:name', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'deletePartial',
      tags: ['Templates'],
      summary: 'Removes a partial that no template includes (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const name = nameIn(request.params.name)
    if (!await partials.remove(auditAuthorOf(request), name)) missing(name)
    return reply.code(204).send()
  })
  done()
}

const isName = compile(PartialName)

/** The name of a partial in a path. Throws `not_found` for anything else: nothing has such a name. */
function nameIn (name: string): string {
  return isName(name).ok ? name : missing(name)
}

function missing (name: string): never {
  throw resourceNotFound('partial', name)
}
