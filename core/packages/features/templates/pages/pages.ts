import type { FastifyPluginAsync } from 'fastify'
import { assetPages } from './assets.ts'
import { blockEditorPages } from './block-editor.ts'
import { brandPages } from './brand.ts'
import { partialBlockPages } from './partial-blocks.ts'
import { partialPages } from './partials.ts'
import { templateDifferencePage } from './template-difference.ts'
import { templateEditorPages } from './template-editor.ts'
import { templatePages } from './template.ts'
import { templatesPage } from './templates.ts'

/** The pages of templates and of their pictures. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(templatesPage)
  await app.register(assetPages)
  await app.register(brandPages)
  await app.register(partialPages)
  await app.register(partialBlockPages)
  await app.register(templatePages)
  await app.register(templateEditorPages)
  await app.register(blockEditorPages)
  await app.register(templateDifferencePage)
}
