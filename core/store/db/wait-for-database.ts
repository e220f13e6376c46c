import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../../host/call/log.ts'
import type { Database } from './database.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** Milliseconds between two tries, and between two lines of the log about them. */
const [triedEvery, toldEvery] = [500, 10_000]

/** What a network, or a server that starts, may say for a while; a password or a name that is wrong stays wrong. */
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
  // Its server starts or ends, has no connection left, or does not accept any to this database.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '55000'
])

/**
 * Waits until the database can be worked with, and says so: at once, then every 10 seconds. Throws at the first failure that
 * waiting does not mend, and when `signal` aborts.
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
 * Whether something failed because the database was away, or busy, for a while. Errors may wrap it; what opens connections of its own tells
 * it by the codes of the system and of PostgreSQL.
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
  // The client's own errors have no code: no answer came in time, or the connection broke off.
  return passing.has(error.code) || (error.code === '' && !(error.cause instanceof pg.DatabaseError))
}

function causeOf (error: unknown): unknown {
  return error instanceof DatabaseUnavailable ? error.cause ?? error : error
}

/** The sentence of what is wrong: a name that stands for several addresses has an error for each. */
export function reasonsOf (cause: unknown): string {
  const reasons: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return reasons.map((reason) => reason instanceof Error ? reason.message : String(reason)).join(', ')
}
