import type { FastifyPluginAsync } from 'fastify'
import { listPages } from './suppressions.ts'
import { templatePages } from './templates.ts'

/** The pages of suppressions. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(templatePages)
  await app.register(listPages)
}
