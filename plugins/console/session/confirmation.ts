import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Confirmation, confirmationPage } from '../pages/confirm.ts'
import { visitOf } from './visit.ts'

export type { Confirmation }

/** A form that was sent. What stands in its path is what the path of its route names. */
export type Asked = FastifyRequest<{ Params: { id: string, code: string, name: string }, Body: URLSearchParams }>

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How the reader is asked, before a form of the console does what cannot be taken back. A function says it of what was sent, or
     * answers undefined where there is nothing to ask; `form`: the form itself names the thing, and asks for a reason or a proof;
     * `undone`: there is a way back.
     */
    confirms?: ((request: Asked) => Promise<Confirmation | undefined> | Confirmation | undefined) | 'form' | 'undone'
  }
}

/** The field of a form whose reader was asked. No other form has such a name. */
export const confirmedField = ':confirmed'

/** Answers a form whose route has something to ask with the page that does so; the same form with `:confirmed` is its answer. */
export function askWhetherMeant (app: FastifyInstance): void {
  app.addHook<{ Params: Asked['params'], Body: URLSearchParams | null | undefined }>('preHandler', async (request, reply) => {
    const { confirms } = request.routeOptions.config
    if (typeof confirms !== 'function' || request.body?.has(confirmedField) === true) return
    const sent = request.body ?? new URLSearchParams()
    const asked = await confirms(Object.assign(request, { body: sent }))
    if (asked === undefined) return
    return reply.page(confirmationPage(visitOf(request), asked, { path: request.url, sent: [...sent, [confirmedField, 'true']] }))
  })
}
