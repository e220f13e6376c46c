/** Where log lines go; the loggers of pino and fastify are such. */
export type Log = Record<'debug' | 'info' | 'warn' | 'error', (facts: object, message: string) => void>
