import type { FastifyPluginAsync } from 'fastify'
import { approvalPages } from './approvals.ts'
import { rulePages } from './rules.ts'

/** The part of the console. */
export const pages: FastifyPluginAsync = async (app) => {
  await app.register(rulePages)
  await app.register(approvalPages)
}
