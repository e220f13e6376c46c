import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../host/call/log.ts'
import type { Database } from './database.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** Milliseconds between two tries, and between two lines of the log. */
const [triedEvery, toldEvery] = [500, 10_000]

/** Codes of failures that may pass, such as those of a server that starts. A wrong password or name does not pass. */
const passing = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  // The server starts or stops, has no free connection, or accepts none to this database.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '55000'
])

/**
 * Waits until the database works. The log says so at once, and then every 10 seconds. Throws at the first failure that does not pass by
 * waiting, and when `signal` aborts.
 */
export async function waitForDatabase (
  database: Pick<Database, 'ping'>,
  { log, signal }: { log: Log, signal?: AbortSignal | undefined }
): Promise<void> {
  let told = -Infinity
  for (;;) {
    try {
      await database.ping()
      return
    } catch (error) {
      if (!isPassing(error)) throw causeOf(error)
      const now = performance.now()
      if (now - told >= toldEvery) {
        log.warn({ reason: reasonsOf(causeOf(error)) }, 'waiting for the database')
        told = now
      }
    }
    await pause(triedEvery, undefined, signal === undefined ? {} : { signal })
  }
}

/**
 * Whether an error means that the database was away or busy for a while. The cause may be wrapped in other errors. Libraries with
 * connections of their own report it by codes of the system and of PostgreSQL.
 */
export function isPassingOutage (error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isPassing(cause) || (cause instanceof pg.DatabaseError && passing.has(cause.code ?? ''))) return true
    if ('syscall' in cause && cause.syscall === 'connect' && 'code' in cause && passing.has(String(cause.code))) return true
  }
  return false
}

function isPassing (error: unknown): boolean {
  if (!(error instanceof DatabaseUnavailable)) return false
  if (error.reason !== 'away') return true
  // Errors of the client itself have no code: no answer came in time, or the connection broke.
  return passing.has(error.code) || (error.code === '' && !(error.cause instanceof pg.DatabaseError))
}

function causeOf (error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? error.cause ?? error : error
}

/** Says what is wrong in one sentence. A host name with several addresses has an error for each of them. */
export function reasonsOf (cause: unknown): string {
  const reasons: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return reasons.map((reason) => reason instanceof Error ? reason.message : String(reason)).join(', ')
}
