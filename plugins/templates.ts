import { DispatchError, page, templateFormats, TemplateQuery, TemplateView, type StoredTemplate, type Templates } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { integerIn, largestId } from './paths.ts'

/** The templates that a company may use: the shared ones and its own. */
export const templatesRoutes: FastifyPluginCallbackTypebox<{ templates: Templates }> = (app, { templates }, done) => {
  app.get('/api/v1/templates', {
    config: { errors: ['validation_error'] },
    schema: { tags: ['Templates'], summary: 'Lists the templates that the company may use.', querystring: TemplateQuery, response: { 200: page(TemplateView) } }
  }, async ({ actor, query }) => {
    const { limit = 25, cursor, ...filter } = query
    const found = await templates.list(actor.companyId, filter, { limit, ...(cursor === undefined ? {} : { after: Math.min(Number(cursor), largestId) }) })
    const last = found.at(-1)
    return { data: found.map(viewOf), nextCursor: found.length < limit || last === undefined ? null : String(last.id) }
  })

  app.get<{ Params: { id: string } }>('/api/v1/templates/:id', {
    config: { errors: ['template_not_found'] },
    schema: { tags: ['Templates'], summary: 'Reads a template: the schema of its data and a sample.', response: { 200: TemplateView } }
  }, async ({ actor, params }) => {
    const id = integerIn(params.id)
    const template = id === undefined ? undefined : await templates.find(actor.companyId, id)
    if (template === undefined) throw new DispatchError('template_not_found', `There is no template "${params.id.slice(0, 60)}": GET /api/v1/templates lists those that you may use.`)
    return viewOf(template)
  })
  done()
}

function viewOf ({ id, name, version, source, schema, sample, updatedAt, companyId }: StoredTemplate): TemplateView {
  const { service, documentType, locale } = source
  return {
    id,
    name,
    version,
    service,
    ...(documentType === undefined ? {} : { documentType }),
    formats: [...templateFormats],
    locale,
    schema,
    sample,
    updatedAt: updatedAt.toISOString(),
    companyId
  }
}
