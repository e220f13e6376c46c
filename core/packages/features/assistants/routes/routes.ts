import type { FastifyPluginAsync } from 'fastify'
import type { Documentation } from '../../documentation/service/documentation.ts'
import type { Proposals } from '../service/proposals.ts'
import { mcpRoutes } from './mcp.ts'
import { proposalsRoutes } from './proposals.ts'

/** How many parts of the documentation are found at most, and how many characters of each are told. */
const [most, longest] = [5, 2_000]

type Needs = { proposals: Proposals, documentation: Documentation, config: { publicUrl: string, showsConsole: boolean } }

/** The part of the API for assistants. */
export const assistantsRoutes: FastifyPluginAsync<Needs> = async (
  app,
  { proposals, documentation, config: { publicUrl, showsConsole } }
) => {
  await app.register(proposalsRoutes, { proposals })
  await app.register(mcpRoutes, {
    publicUrl,
    console: showsConsole ? `${publicUrl}/console` : undefined,
    search: (query) =>
      documentation.search(query, most).map(({ title, address, text }) => ({
        title,
        url: `${publicUrl}${address}`,
        text: text.slice(0, longest)
      }))
  })
}
