import type { FastifyPluginAsync } from 'fastify'
import type { Erasures } from '../service/erasures.ts'
import type { Retentions } from '../service/retention.ts'
import { privacyRoutes } from './privacy.ts'
import { retentionRoutes } from './retention.ts'

/** The part of the API. */
export const routes: FastifyPluginAsync<{ erasures: Erasures, retentions: Retentions }> = async (app, { erasures, retentions }) => {
  await app.register(privacyRoutes, { erasures })
  await app.register(retentionRoutes, { retentions })
}
