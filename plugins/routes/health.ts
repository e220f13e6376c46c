import { HealthView, Nothing } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { SandboxState } from '@dispatch/sandbox'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

type Options = { database: Database, clockSkew: number, sandboxState: () => SandboxState | null, leaving: AbortSignal }

/** `/healthz` for clients; `/livez` and `/readyz` for load balancers, without any details. */
export const healthRoutes: FastifyPluginCallbackTypebox<Options> = (
  app,
  { database, clockSkew, sandboxState, leaving },
  done
) => {
  /** Simultaneous checks share one query to the database. */
  let pinging: Promise<void> | undefined
  const ping = (): Promise<void> =>
    pinging ??= database.ping().finally(() => {
      pinging = undefined
    })

  app.get('/healthz', {
    config: { scopes: 'any', errors: [] },
    schema: {
      operationId: 'checkHealth',
      tags: ['Health'],
      summary: 'Answers when the service is up and the credentials are valid.',
      response: { 200: HealthView }
    }
  }, () => {
    const sandbox = sandboxState()
    return {
      status: 'ok' as const,
      clockSkew,
      ...(sandbox === null ? {} : { sandbox: { ...sandbox, layers: [...sandbox.layers], gaps: [...sandbox.gaps] } })
    }
  })

  app.get('/livez', {
    config: { public: true, quiet: true, probe: true, withoutAdmissionControl: true },
    schema: { operationId: 'checkLiveness', tags: ['Health'], summary: 'Answers when the process runs.', response: { 204: Nothing } }
  }, async (_request, reply) => reply.code(204).send(null))

  app.get('/readyz', {
    config: { public: true, quiet: true, probe: true, withoutAdmissionControl: true },
    schema: {
      operationId: 'checkReadiness',
      tags: ['Health'],
      summary: 'Answers when the database also answers and accepts changes, and the process is not about to stop.',
      response: {
        204: Nothing,
        503: { ...Nothing, description: 'The database does not answer or does not accept changes, or the process is about to stop.' }
      }
    }
  }, async (request, reply) => {
    if (leaving.aborted) return reply.code(503).send(null)
    try {
      await ping()
      return await reply.code(204).send(null)
    } catch (error) {
      request.log.warn({ err: error }, 'not ready')
      return reply.code(503).send(null)
    }
  })
  done()
}
