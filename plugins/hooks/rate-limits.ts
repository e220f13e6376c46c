import { clientOf, DispatchError, type Budget, type Limiter } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'

/** What is limited, each where it is: authentication for each client address, dispatches and validations for each user. */
export type Limiters = { auth?: Limiter, dispatch?: Limiter, validation?: Limiter }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that its requests count for. */
    limit?: keyof Limiters
  }
}

/** Keeps clients within their limits before anything else is done for them; every answer tells how much is left. */
export const limitsPlugin = plugin<{ limiters: Limiters }>((app, { limiters }, done) => {
  app.addHook('onRequest', async (request, reply) => {
    const { limit } = request.routeOptions.config
    const limiter = limit === undefined ? undefined : limiters[limit]
    if (limit === undefined || limiter === undefined) return
    const { exceeded, ...budget } = await limiter.take(countedAs[limit](request))
    if (exceeded) throw new DispatchError('rate_limited', `${what[limit]} are limited to ${budget.quota} in ${budget.window} seconds: try again in ${budget.reset}.`, { budget, retryAfter: budget.reset })
    reply.headers(budgetHeaders(budget))
  })
  done()
}, { name: 'rate-limits', fastify: '5.x', dependencies: ['authentication'] })

const ofUser = ({ actor }: FastifyRequest): string => String(actor.userId)
const countedAs: Record<keyof Limiters, (request: FastifyRequest) => string> = { auth: ({ ip }) => clientOf(ip), dispatch: ofUser, validation: ofUser }
const what: Record<keyof Limiters, string> = { auth: 'Authentication calls of one address', dispatch: 'Dispatches of one user', validation: 'Validations of one user' }

/** The fields of draft-ietf-httpapi-ratelimit-headers-11. */
export function budgetHeaders ({ policy, quota, window, remaining, reset }: Budget): Record<string, string> {
  return { 'ratelimit-policy': `"${policy}";q=${quota};w=${window}`, ratelimit: `"${policy}";r=${remaining};t=${reset}` }
}
