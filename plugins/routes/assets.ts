import { AssetBody, type AssetFacts, AssetQuery, AssetView, type Database, listAssets, Nothing, page, readAssets, removeAsset, requireRole,
  storeAsset } from '@dispatch/core'
import type { TemplateWorkers } from '@dispatch/documents'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { nextCursorOf } from './paging.ts'
import { assetIn, resourceNotFound } from './path-parameters.ts'

type Named = { Params: { name: string } }

const Picture = {
  description: 'The picture.',
  content: Object.fromEntries(['image/png', 'image/jpeg'].map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))
}

/** The pictures of a company, which its templates name by `asset:<name>`. */
export const assetsRoutes: FastifyPluginCallbackTypebox<{ database: Database, workers: TemplateWorkers, now: () => Date }> = (
  app,
  { database, workers, now },
  done
) => {
  app.get('/api/v1/assets', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listAssets',
      tags: ['Templates'],
      summary: 'Lists the pictures of the company for its templates, by name.',
      querystring: AssetQuery,
      response: { 200: page(AssetView) }
    }
  }, async ({ actor: { companyId }, query: { limit = 25, cursor } }) => {
    const found = await listAssets(database, companyId, { limit, ...(cursor === undefined ? {} : { after: cursor }) })
    return { data: found.map(viewOf), nextCursor: nextCursorOf(found, limit, ({ name }) => name) }
  })

  app.get<Named>('/api/v1/assets/:name', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readAsset', tags: ['Templates'], summary: 'Reads a picture, as it is kept.', response: { 200: Picture } }
  }, async ({ actor: { companyId }, params }, reply) => {
    const name = assetIn(params.name)
    const [asset] = await readAssets(database, companyId, [name])
    const [, type, base64] = /^data:([^;]+);base64,(.*)$/s.exec(asset?.uri ?? '') ?? []
    if (type === undefined || base64 === undefined) throw resourceNotFound('asset', name)
    return reply.headers({ 'content-type': type, 'content-security-policy': 'default-src \'none\'; sandbox' }).send(
      Buffer.from(base64, 'base64')
    )
  })

  app.post('/api/v1/assets', {
    config: { errors: ['conflict', 'validation_failed', 'provider_unavailable'] },
    schema: {
      operationId: 'createAsset',
      tags: ['Templates'],
      summary: 'Stores a picture for the templates of the company, checked and flattened (admins).',
      body: AssetBody,
      response: { 201: AssetView }
    }
  }, async (request, reply) => {
    const { actor, body } = request
    requireRole(actor, 'admin')
    return reply.code(201).send(
      viewOf(await storeAsset({ database, workers }, { companyId: actor.companyId, author: auditAuthorOf(request), at: now() }, body))
    )
  })

  app.delete<Named>('/api/v1/assets/:name', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteAsset',
      tags: ['Templates'],
      summary: 'Removes a picture; versions of templates that show it keep theirs (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params } = request
    requireRole(actor, 'admin')
    const name = assetIn(params.name)
    if (!await removeAsset(database, { companyId: actor.companyId, author: auditAuthorOf(request), at: now() }, name)) {
      throw resourceNotFound('asset', name)
    }
    return reply.code(204).send()
  })
  done()
}

function viewOf ({ name, width, height, size, sha256, created_at: createdAt }: AssetFacts): AssetView {
  return { name, width, height, size, sha256, createdAt: createdAt.toISOString() }
}
