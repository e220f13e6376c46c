import { clientKeyOf, DispatchError, type RateLimiter, type RateLimitStatus } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'

/** The rate limiters, each absent where there is no limit: authentication per client address, dispatches and validations per user. */
export type RateLimiters = { auth?: RateLimiter, dispatch?: RateLimiter, validation?: RateLimiter }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that the route's requests count towards. */
    limit?: keyof RateLimiters
  }
}

/** Applies the rate limits before any other work. Every answer says how much of the limit is left. */
export const rateLimitsPlugin = plugin<{ rateLimiters: RateLimiters }>((app, { rateLimiters }, done) => {
  app.addHook('onRequest', async (request, reply) => {
    const { limit } = request.routeOptions.config
    const limiter = limit === undefined ? undefined : rateLimiters[limit]
    if (limit === undefined || limiter === undefined) return
    const { exceeded, ...budget } = await limiter.take(countedAs[limit](request))
    if (exceeded) {
      throw new DispatchError('rate_limited',
        `${what[limit]} are limited to ${budget.quota} in ${budget.window} seconds: try again in ${budget.reset}.`, {
        budget,
        retryAfter: budget.reset
      })
    }
    reply.headers(rateLimitHeaders(budget))
  })
  done()
}, { name: 'rate-limits', fastify: '5.x', dependencies: ['authentication'] })

const ofUser = ({ actor }: FastifyRequest): string => String(actor.userId)
const countedAs: Record<keyof RateLimiters, (request: FastifyRequest) => string> = {
  auth: ({ ip }) => clientKeyOf(ip),
  dispatch: ofUser,
  validation: ofUser
}
const what: Record<keyof RateLimiters, string> = {
  auth: 'Authentication calls of one address',
  dispatch: 'Dispatches of one user',
  validation: 'Validations of one user'
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-11. */
export function rateLimitHeaders ({ policy, quota, window, remaining, reset }: RateLimitStatus): Record<string, string> {
  return { 'ratelimit-policy': `"${policy}";q=${quota};w=${window}`, ratelimit: `"${policy}";r=${remaining};t=${reset}` }
}
