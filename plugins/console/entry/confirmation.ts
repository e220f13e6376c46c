import type { FastifyInstance } from 'fastify'
import { sentIn } from '../form/body.ts'
import { confirmationPage, type ConfirmRequest } from '../pages/confirm.ts'
import { visitOf } from '../session/visit.ts'

/** The field of a form whose reader was asked. No other form has such a name. */
export const confirmedField = ':confirmed'

/** Answers a form whose route has something to ask with the page that does so; the same form with `:confirmed` is its answer. */
export function askWhetherMeant (app: FastifyInstance): void {
  app.addHook<{ Params: ConfirmRequest['params'], Body: URLSearchParams | null | undefined }>('preHandler', async (request, reply) => {
    const { confirms } = request.routeOptions.config
    if (typeof confirms !== 'function' || request.body?.has(confirmedField) === true) return
    const sent = request.body ?? new URLSearchParams()
    const requested = await confirms(Object.assign(request, { body: sent }))
    if (requested === undefined) return
    return reply.page(
      confirmationPage(visitOf(request), requested, { path: request.url, sent: [...sentIn(sent), [confirmedField, 'true']] })
    )
  })
}
