import { DispatchError } from '@dispatch/core'
import plugin from 'fastify-plugin'
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino'

declare module 'fastify' {
  interface FastifyRequest {
    /** The dispatch that the answer is about. */
    dispatchId: string | null
  }
  interface FastifyContextConfig {
    /** Its requests are logged at level debug only. */
    quiet?: boolean
  }
}

/** What a line may say of an error, or of its redacted copy: nothing that a client or a vendor put into other fields. */
function errorFacts (error: unknown): object {
  if (typeof error !== 'object' || error === null) return { type: typeof error }
  const { name: type, message, code, stack, cause } = error as Partial<Record<'name' | 'message' | 'code' | 'stack' | 'cause', unknown>>
  const texts = Object.entries({ type, message, code, stack }).filter(([, value]) => typeof value === 'string')
  return { ...Object.fromEntries(texts), ...(cause === undefined ? {} : { cause: errorFacts(cause) }) }
}

/** A text under one of these names in a line of JSON, however deep it stands. */
const secretField = /"(authorization|password|token)":"(?:[^"\\]|\\.)*"/gi

const options: LoggerOptions = {
  serializers: { err: errorFacts, req: ({ method }: { method: string }) => ({ method }), res: ({ statusCode }: { statusCode: number }) => ({ statusCode }) },
  // Only a backstop: what is logged is chosen field by field. pino's own redaction looks at fixed depths only, and costs more than the line.
  hooks: { streamWrite: (line) => line.replace(secretField, '"$1":"[redacted]"') }
}

/** Lines are written together: when there are as many characters as this, or have waited as long as this (milliseconds), or the process ends. */
const buffered = { length: 4096, time: 100 }

/**
 * Standard output. When nobody reads it any more (a closed pipe, a closed terminal) the lines are lost and the service goes on;
 * pino's own destination would try for ever when the process ends.
 */
export function standardOutput (): DestinationStream {
  let waiting = ''
  const flush = (): void => {
    if (waiting !== '') process.stdout.write(waiting)
    waiting = ''
  }
  process.stdout.on('error', () => undefined)
  process.once('exit', flush)
  setInterval(flush, buffered.time).unref()
  return {
    write (line) {
      waiting += line
      if (waiting.length >= buffered.length) flush()
    }
  }
}

/** Structured lines, written to `destination`. */
export function createLogger (level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino({ ...options, level }, destination)
}

/** One line for every answer: the route (never the path, which may hold a signed link), the status, the time in milliseconds, the dispatch. */
export const loggingPlugin = plugin((app, _options, done) => {
  app.decorateRequest('dispatchId', null)
  app.addHook('onError', (request, _reply, error, next) => {
    if (error instanceof DispatchError) request.dispatchId = error.dispatchId ?? null
    next()
  })
  app.addHook('onResponse', (request, reply, next) => {
    const { method, routeOptions: { url: route }, dispatchId } = request
    const facts = { method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime * 10) / 10, ...(dispatchId === null ? {} : { dispatchId }) }
    if (request.routeOptions.config.quiet === true) request.log.debug(facts, 'answered')
    else request.log.info(facts, 'answered')
    next()
  })
  done()
}, { name: 'logging', fastify: '5.x' })
