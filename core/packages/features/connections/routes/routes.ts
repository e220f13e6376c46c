import type { FastifyPluginAsync } from 'fastify'
import { connectionsRoutes } from './connections.ts'
import { oauthAppsRoutes } from './oauth-apps.ts'

type Options = Parameters<typeof connectionsRoutes>[1] & Parameters<typeof oauthAppsRoutes>[1]

export const routes: FastifyPluginAsync<Options> = async (app, given) => {
  await app.register(connectionsRoutes, given)
  await app.register(oauthAppsRoutes, given)
}
