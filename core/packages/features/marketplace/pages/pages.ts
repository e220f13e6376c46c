import type { FastifyPluginAsync } from 'fastify'
import { adapterPages } from './adapter.ts'
import { listPages } from './list.ts'

/** The pages of the marketplace: the list of adapters, and each of them. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(listPages)
  await app.register(adapterPages)
}
