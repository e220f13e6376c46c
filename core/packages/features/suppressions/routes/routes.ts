import type { FastifyPluginAsync } from 'fastify'
import type { Suppressions } from '../service/suppressions.ts'
import { suppressionRoutes } from './suppressions.ts'
import { unsubscribeRoutes } from './unsubscribe.ts'

/** What companies do about suppressions, and what their recipients do. */
export const routes: FastifyPluginAsync<{ suppressions: Suppressions }> = async (app, { suppressions }) => {
  await app.register(suppressionRoutes, { suppressions })
  await app.register(unsubscribeRoutes, { suppressions })
}
