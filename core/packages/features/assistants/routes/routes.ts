import type { FastifyPluginAsync } from 'fastify'
import type { Proposals } from '../service/proposals.ts'
import { mcpRoutes } from './mcp.ts'
import { proposalsRoutes } from './proposals.ts'

type Needs = { proposals: Proposals, config: { publicUrl: string, showsConsole: boolean } }

/** The part of the API for assistants. */
export const assistantsRoutes: FastifyPluginAsync<Needs> = async (app, { proposals, config: { publicUrl, showsConsole } }) => {
  await app.register(proposalsRoutes, { proposals })
  await app.register(mcpRoutes, { publicUrl, console: showsConsole ? `${publicUrl}/console` : undefined })
}
