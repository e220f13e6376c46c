import type { Database } from '@dispatch/database'
import type { FastifyPluginAsync } from 'fastify'
import type { Assets } from '../service/assets.ts'
import type { Brands } from '../service/brand.ts'
import type { Partials } from '../service/partials.ts'
import type { TemplateEditor } from '../service/template-editor.ts'
import type { TemplateStore } from '../store/templates.ts'
import { assetsRoutes } from './assets.ts'
import { brandRoutes } from './brand.ts'
import { partialsRoutes } from './partials.ts'
import { templateEditorRoutes } from './template-editor.ts'
import { templatesRoutes } from './templates.ts'

type Options = {
  database: Database
  templateStore: TemplateStore
  templateEditor: TemplateEditor
  assets: Assets
  brands: Brands
  partials: Partials
  now: () => Date
}

/** Templates, pictures and the brand: reading, writing, previewing. */
export const routes: FastifyPluginAsync<Options> = async (app, options) => {
  await app.register(templatesRoutes, options)
  await app.register(templateEditorRoutes, options)
  await app.register(assetsRoutes, options)
  await app.register(brandRoutes, options)
  await app.register(partialsRoutes, options)
}
