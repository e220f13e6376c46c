import type { Log } from '@dispatch/common'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { failurePasses, isLostConnection } from './connection-failure.ts'
import type { Database } from './database.ts'
import { DatabaseUnavailable, statementError, whyUnusable } from './unavailable.ts'

/** Milliseconds between two tries, and between two lines of the log. */
const [triedEvery, toldEvery] = [500, 10_000]

/**
 * Waits until the database works. The log says so at once, and then every 10 seconds. Throws at the first failure that does not pass by
 * waiting, and when `signal` aborts.
 */
export async function waitForDatabase (
  database: Pick<Database, 'reach'>,
  { log, signal }: { log: Log, signal?: AbortSignal | undefined }
): Promise<void> {
  let reported = -Infinity
  for (;;) {
    try {
      await database.reach()
      return
    } catch (error) {
      if (!isPassing(error)) throw error
      const now = performance.now()
      if (now - reported >= toldEvery) {
        log.warn({ reason: whyUnusable(error) }, 'waiting for the database')
        reported = now
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
    if (isPassing(cause) || (cause instanceof pg.DatabaseError && isPassing(statementError(cause)))) return true
    if (isLostConnection(cause)) return true
  }
  return false
}

function isPassing (error: unknown): boolean {
  return error instanceof DatabaseUnavailable && (error.reason !== 'away' || failurePasses(error.cause))
}
