import { requireService } from '@dispatch/accounts'
import { type Database } from '@dispatch/database'
import { auditAuthorOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { BrandBody, BrandPreviewBody, BrandView } from '../contract/brand.ts'
import type { Brands } from '../service/brand.ts'
import type { TemplateEditor } from '../service/template-editor.ts'
import { File, show } from './template-editor.ts'
import { findTemplate } from './templates.ts'

/** The template that shows a brand: a letter. */
const usual = 30

/** How the documents of a company look. */
export const brandRoutes: FastifyPluginCallbackTypebox<{ brands: Brands, templateEditor: TemplateEditor, database: Database }> = (
  app,
  { brands, templateEditor, database },
  done
) => {
  app.get('/api/v1/company/brand', {
    config: { errors: [] },
    schema: {
      operationId: 'readBrand',
      tags: ['Templates'],
      summary: 'Reads the brand of the company: its logo, its colours and its font.',
      response: { 200: BrandView }
    }
  }, async ({ actor: { companyId } }) => brands.read(companyId))

  app.put('/api/v1/company/brand', {
    config: { errors: ['validation_error', 'validation_failed'] },
    schema: {
      operationId: 'updateBrand',
      tags: ['Templates'],
      summary: 'Sets the brand of the company (admins).',
      description: 'Templates with `brand: true`, as those that come with the service, follow it from the next dispatch on. What was ' +
        'accepted before keeps the brand that it was accepted with. `logo` names a picture of the company (`POST /api/v1/assets`); the ' +
        'brand keeps that picture, whatever becomes of it there. Colours that nobody can read on white are refused.',
      body: BrandBody,
      response: { 200: BrandView }
    }
  }, async (request) => brands.write(auditAuthorOf(request), request.body))

  app.post('/api/v1/company/brand/preview', {
    config: { errors: ['validation_error', 'validation_failed', 'template_not_found', 'provider_unavailable'] },
    schema: {
      operationId: 'previewBrand',
      tags: ['Templates'],
      summary: 'Generates a preview of a template in a brand that is not stored (admins).',
      body: BrandPreviewBody,
      response: { 200: File }
    }
  }, async ({ actor, body: { brand, templateId = usual, format } }, reply) => {
    const template = await findTemplate(database, actor.companyId, String(templateId))
    requireService(actor, template.source.service)
    const kept = await brands.of(actor.companyId, brand)
    return show(reply, await templateEditor.previewBrand(actor.companyId, template, kept, format))
  })
  done()
}
