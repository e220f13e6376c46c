import { clientKeyOf, type Meter, type RateLimiter, type UnknownSecrets } from '@dispatch/accounts'
import { DispatchError, type RateLimitStatus } from '@dispatch/contract'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { knownActor } from './authentication.ts'

/** The rate limiters, each absent where there is no limit: authentication per client address, dispatches and validations per user. */
export type RateLimiters = { auth?: RateLimiter, dispatch?: RateLimiter, validation?: RateLimiter }

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit that the route's requests count towards. */
    limit?: keyof RateLimiters
  }
}

/**
 * Applies the rate limits before any other work: that of all requests of a user (`requests`), and that of the route. Every answer says how
 * much is left of the one of which less is left. Who is not known is counted in the turn of the address: a flood of strangers asks the
 * database for two of them at a time.
 */
export const rateLimitsPlugin = plugin<{ rateLimiters: RateLimiters, requests: Meter | undefined, unknownSecrets: UnknownSecrets }>((
  app,
  { rateLimiters, requests, unknownSecrets },
  done
) => {
  function count (limit: keyof RateLimiters, request: FastifyRequest): ReturnType<RateLimiter['take']> | undefined {
    const limiter = rateLimiters[limit]
    if (limiter === undefined) return undefined
    const client = countedAs[limit](request)
    const isStranger = knownActor(request) === null && limiter.spent(client) === undefined
    return isStranger ? unknownSecrets.inTurn(request.ip, () => limiter.take(client)) : limiter.take(client)
  }

  app.addHook('onRequest', async (request, reply) => {
    const actor = knownActor(request)
    const ofUser = actor === null ? undefined : requests?.take(String(actor.userId))
    if (ofUser !== undefined) refuseExceeded('Requests of one user', ofUser)
    const { limit } = request.routeOptions.config
    const ofRoute = limit === undefined ? undefined : await count(limit, request)
    if (limit !== undefined && ofRoute !== undefined) refuseExceeded(what[limit], ofRoute)
    const shown = ofUser === undefined || ofRoute !== undefined && ofRoute.remaining <= ofUser.remaining ? ofRoute : ofUser
    if (shown !== undefined) reply.headers(rateLimitHeaders(shown))
  })
  done()
}, { name: 'rate-limits', fastify: '5.x', dependencies: ['authentication'] })

function refuseExceeded (whose: string, { exceeded, ...budget }: RateLimitStatus & { exceeded: boolean }): void {
  if (!exceeded) return
  throw new DispatchError('rate_limited',
    `${whose} are limited to ${budget.quota} in ${budget.window} seconds: try again in ${budget.reset}.`, {
    budget,
    retryAfter: budget.reset
  })
}

const userOf = ({ actor }: FastifyRequest): string => String(actor.userId)
const countedAs: Record<keyof RateLimiters, (request: FastifyRequest) => string> = {
  auth: ({ ip }) => clientKeyOf(ip),
  dispatch: userOf,
  validation: userOf
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
