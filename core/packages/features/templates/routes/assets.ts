import { compile } from '@dispatch/common'
import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, pageOf, resourceNotFound } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { AssetBody, AssetImageBody, AssetName, AssetQuery, AssetUseView, AssetView } from '../contract/templates.ts'
import type { Assets } from '../service/assets.ts'

type Named = { Params: { name: string } }

const Picture = {
  description: 'The picture.',
  content: Object.fromEntries(['image/png', 'image/jpeg'].map((type) => [type, { schema: { type: 'string', format: 'binary' } }]))
}

/** The pictures of a company, which its templates name by `asset:<name>`. */
export const assetsRoutes: FastifyPluginCallbackTypebox<{ assets: Assets }> = (app, { assets }, done) => {
  app.get('/api/v1/assets', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listAssets',
      tags: ['Templates'],
      summary: 'Lists the pictures of the company for its templates, sorted by name.',
      querystring: AssetQuery,
      response: { 200: page(AssetView) }
    }
  }, async ({ actor: { companyId }, query: { limit = 25, cursor } }) => {
    const found = await assets.list(companyId, { limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) })
    return pageOf(found, limit, ({ name }) => name)
  })

  app.get<Named>('/api/v1/assets/:name', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readAsset', tags: ['Templates'], summary: 'Reads a picture in its stored form.', response: { 200: Picture } }
  }, async ({ actor: { companyId }, params }, reply) => {
    const name = assetIn(params.name)
    const picture = await assets.read(companyId, name)
    if (picture === undefined) throw resourceNotFound('asset', name)
    const headers = { 'content-type': picture.type, 'content-security-policy': 'default-src \'none\'; sandbox' }
    return reply.headers(headers).send(picture.bytes)
  })

  app.get<Named>('/api/v1/assets/:name/templates', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'listAssetTemplates',
      tags: ['Templates'],
      summary: 'Lists the templates that name a picture, in their published or newest version.',
      response: { 200: Type.Object({ data: Type.Array(AssetUseView) }, { title: 'AssetUses' }) }
    }
  }, async ({ actor: { companyId }, params }) => {
    const name = assetIn(params.name)
    if (await assets.read(companyId, name) === undefined) throw resourceNotFound('asset', name)
    return { data: await assets.uses(companyId, name) }
  })

  app.put<Named & { Body: AssetImageBody }>('/api/v1/assets/:name', {
    config: { errors: ['not_found', 'validation_failed', 'provider_unavailable'] },
    schema: {
      operationId: 'replaceAsset',
      tags: ['Templates'],
      summary: 'Replaces a picture; template versions that show it keep their copy (admins).',
      body: AssetImageBody,
      response: { 200: AssetView }
    }
  }, async (request) => {
    const name = assetIn(request.params.name)
    const replaced = await assets.replace(auditAuthorOf(request), { name, ...request.body })
    if (replaced === undefined) throw resourceNotFound('asset', name)
    return replaced
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
    return reply.code(201).send(await assets.store(auditAuthorOf(request), request.body))
  })

  app.delete<Named>('/api/v1/assets/:name', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteAsset',
      tags: ['Templates'],
      summary: 'Removes a picture; template versions that show it keep their copy (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const name = assetIn(request.params.name)
    if (!await assets.remove(auditAuthorOf(request), name)) throw resourceNotFound('asset', name)
    return reply.code(204).send()
  })
  done()
}

const isAssetName = compile(AssetName)

/** The name of a picture in a path. Throws `not_found` for anything else: nothing has such a name. */
function assetIn (name: string): string {
  if (!isAssetName(name).ok) throw resourceNotFound('asset', name)
  return name
}
