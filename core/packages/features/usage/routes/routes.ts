import type { FastifyPluginAsync } from 'fastify'
import type { Budgets } from '../service/budgets.ts'
import type { Prices } from '../service/prices.ts'
import type { Usage } from '../service/usage.ts'
import { budgetRoutes } from './budgets.ts'
import { priceRoutes } from './prices.ts'
import { usageRoutes } from './usage.ts'

type Needs = { usage: Usage, prices: Prices, budgets: Budgets, now: () => Date }

/** What a company has used, what it costs, and how much may be used. */
export const routes: FastifyPluginAsync<Needs> = async (app, { usage, prices, budgets, now }) => {
  await app.register(usageRoutes, { usage })
  await app.register(priceRoutes, { prices, now })
  await app.register(budgetRoutes, { budgets })
}
