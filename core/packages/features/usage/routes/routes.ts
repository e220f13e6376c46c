import type { FastifyPluginAsync } from 'fastify'
import type { Budgets } from '../service/budgets.ts'
import type { Usage } from '../service/usage.ts'
import { budgetRoutes } from './budgets.ts'
import { usageRoutes } from './usage.ts'

/** What a company has used, and how much may be used. */
export const routes: FastifyPluginAsync<{ usage: Usage, budgets: Budgets }> = async (app, { usage, budgets }) => {
  await app.register(usageRoutes, { usage })
  await app.register(budgetRoutes, { budgets })
}
