import { DispatchError } from '@dispatch/contract'
import plugin from 'fastify-plugin'
import { type DestinationStream, type LogFn, type Logger, type LoggerOptions, pino } from 'pino'
import { traceFields } from './trace-context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the dispatch that the answer is about. */
    dispatchId: string | null
  }
  interface FastifyContextConfig {
    /** Its requests are logged at level debug only. */
    quiet?: boolean
  }
}

/** The fields of an error, or of its redacted copy, that may be logged. Other fields could hold data of a client or a vendor. */
function errorFacts (error: unknown): object {
  if (typeof error !== 'object' || error === null) return { type: typeof error }
  const { name: type, message, code, stack: where, cause } = error as Partial<
    Record<'name' | 'message' | 'code' | 'stack' | 'cause', unknown>
  >
  // An error of the error table is not a fault of the service: its message is enough.
  const stack = error instanceof DispatchError && error.word !== 'internal_error' ? undefined : where
  const texts = Object.entries({ type, message, code, stack }).filter(([, value]) => typeof value === 'string')
  return { ...Object.fromEntries(texts), ...(cause === undefined ? {} : { cause: errorFacts(cause) }) }
}

/** A string field with one of these names in a line of JSON, at any depth. */
const secretField = /"(authorization|password|token)":"(?:[^"\\]|\\.)*"/gi

const options: LoggerOptions = {
  serializers: {
    err: errorFacts,
    req: ({ method }: { method: string }) => ({ method }),
    res: ({ statusCode }: { statusCode: number }) => ({ statusCode })
  },
  // A second line of defence: the logged fields are already chosen one by one. pino's own redaction works at fixed depths only, and costs
  // more than the line itself.
  hooks: { streamWrite: (line) => line.replace(secretField, '"$1":"[redacted]"') }
}

/** Lines are buffered. They are written after this many characters, after this time in milliseconds, or when the process ends. */
const buffered = { length: 4096, time: 100 }

/**
 * Standard output. When nobody reads it any more (a closed pipe or terminal), the lines are lost and the service continues. pino's own
 * destination would retry without end when the process exits.
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

/** Writes log lines as JSON, or for a person at a terminal as time, level, message and fields. */
export async function logOutput (output: DestinationStream, { terminal }: { terminal: boolean }): Promise<DestinationStream> {
  if (!terminal) return output
  const { prettyFactory } = await import('pino-pretty')
  const readable = prettyFactory({ colorize: false, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', singleLine: true })
  return {
    write: (line) => {
      output.write(readable(line))
    }
  }
}

/** At most `max` warnings with the same message are written within `within` milliseconds; the others are only counted. */
export type RepeatLimit = { max: number, within: number }

const usual: RepeatLimit = { max: 10, within: 60_000 }

/** Creates a logger of structured lines. An outage repeats the same warning many times: after the first ones they are only counted. */
export function createLogger (level: string, destination: DestinationStream = standardOutput(), repeated = usual): Logger {
  const counts = new Map<string, number>()
  const logger: Logger = pino({ ...options, mixin: traceFields, level, hooks: { ...options.hooks, logMethod } }, destination)
  return logger

  function logMethod (this: Logger, args: Parameters<LogFn>, write: LogFn, severity: number): void {
    const sentence = typeof args[1] === 'string' ? args[1] : String(args[0])
    if (severity !== pino.levels.values['warn'] || isWritten(sentence)) write.apply(this, args)
  }

  function isWritten (sentence: string): boolean {
    const count = (counts.get(sentence) ?? 0) + 1
    counts.set(sentence, count)
    if (count === 1) {
      setTimeout(() => {
        tellMore(sentence)
      }, repeated.within).unref()
    }
    return count <= repeated.max
  }

  function tellMore (sentence: string): void {
    const more = (counts.get(sentence) ?? 0) - repeated.max
    counts.delete(sentence)
    if (more > 0) logger.warn({ more, seconds: repeated.within / 1000 }, `${sentence} (and more of the same)`)
  }
}

/** Logs one line for every answer: route, status, time in ms, dispatch. It never logs the path, which may hold a signed link. */
export const loggingPlugin = plugin((app, _options, done) => {
  app.decorateRequest('dispatchId', null)
  app.addHook('onError', (request, _reply, error, next) => {
    if (error instanceof DispatchError) request.dispatchId = error.dispatchId ?? null
    next()
  })
  app.addHook('onResponse', (request, reply, next) => {
    const { method, routeOptions: { url: route }, dispatchId } = request
    const facts = {
      method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(dispatchId === null ? {} : { dispatchId })
    }
    if (request.routeOptions.config.quiet === true) request.log.debug(facts, 'answered')
    else request.log.info(facts, 'answered')
    next()
  })
  done()
}, { name: 'logging', fastify: '5.x' })
