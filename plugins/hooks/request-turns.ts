import { clientKeyOf } from '@dispatch/accounts'
import { createRecent } from '@dispatch/common'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { hash } from 'node:crypto'
import { companyBehind } from './admission-control.ts'
import { createLoopTurns } from './loop-turns.ts'
import { isOwn } from './own-request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The digest of credentials that nobody has been let in with yet. */
    [untried]: string | null
  }
}

const untried = Symbol('untried credentials')

/** The part of all clients that nobody knows. */
const strangers = 'strangers'

/** How many credentials are remembered. */
const maxRemembered = 10_000

/**
 * Every request begins in a turn of the event loop (`createLoopTurns`), before anything is done for it: that of its company, if somebody of
 * it was let in with the same credentials before, else that of all strangers, whose addresses take turns. The digest of credentials decides
 * the order alone: they are verified each time. Who has gone when the turn comes is not worked for.
 */
export const requestTurnsPlugin = plugin((app, _options, done) => {
  const { next, accepted } = createLoopTurns()
  const companies = createRecent<string, number>(maxRemembered)
  app.decorateRequest(untried, null)
  app.server.on('connection', accepted)

  app.addHook('onRequest', async (request, reply) => {
    if (isOwn(request.raw) || request.routeOptions.config.withoutAdmissionControl === true) return
    const digest = digestOf(request)
    const company = digest === null ? undefined : companies.get(digest)
    if (company === undefined) request[untried] = digest
    await (company === undefined ? next(strangers, clientKeyOf(request.ip)) : next(company))
    if (request.socket.destroyed) reply.hijack()
  })
  app.addHook('onResponse', (request, _reply, next) => {
    const company = companyBehind(request)
    if (request[untried] !== null && company !== undefined) companies.set(request[untried], company)
    next()
  })
  done()
}, { name: 'request-turns', fastify: '5.x' })

function digestOf ({ headers: { authorization, cookie } }: FastifyRequest): string | null {
  const given = authorization ?? cookie
  return given === undefined ? null : hash('sha256', given, 'base64')
}
