import type { FastifyPluginAsync } from 'fastify'
import { type CallbackNeeds, callbacksRoutes } from './callbacks.ts'
import { callbackEndpointsRoutes, type EndpointNeeds } from './endpoints.ts'
import { type EventNeeds, eventRoutes } from './events.ts'

/** Callbacks, the endpoints of companies, and the feed of events. */
export const routes: FastifyPluginAsync<CallbackNeeds & EndpointNeeds & EventNeeds> = async (app, needs) => {
  await app.register(callbacksRoutes, needs)
  await app.register(callbackEndpointsRoutes, needs)
  await app.register(eventRoutes, needs)
}
