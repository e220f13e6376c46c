import type { FastifyPluginAsync } from 'fastify'
import { connectPages } from './connect.ts'
import { oauthAppPages } from './oauth-apps.ts'

export const pages: FastifyPluginAsync = async (app) => {
  await app.register(connectPages)
  await app.register(oauthAppPages)
}
