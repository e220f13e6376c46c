/** A logger. Those of pino and fastify fit. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>

/** A logger that adds fields to every line. */
export function logWith (log: Log, facts: object): Log {
  return {
    debug: (more, message) => log.debug({ ...facts, ...more }, message),
    info: (more, message) => log.info({ ...facts, ...more }, message),
    warn: (more, message) => log.warn({ ...facts, ...more }, message),
    error: (more, message) => log.error({ ...facts, ...more }, message)
  }
}
