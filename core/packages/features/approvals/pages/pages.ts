import { modeOf, pathIn } from '@dispatch/plugins/console'
import type { FastifyPluginAsync } from 'fastify'
import { approvalPages } from './approvals.ts'
import { rulePages } from './rules.ts'

/** The part of the console. */
export const pages: FastifyPluginAsync = async (app) => {
  // Tests wait for nobody: whoever comes from them is led to where what waits can be seen, and nothing is done.
  app.addHook('onRequest', async (request, reply) => {
    if (modeOf(request) === 'test') {
      return reply.redirect(pathIn('live', request.url.replace(/\/(?:approve|refuse|withdraw|[^/]+\/remove)$/, '')), 303)
    }
  })
  await app.register(rulePages)
  await app.register(approvalPages)
}
