import type { Destination } from './connection-failure.ts'
import { connectAlone, connectionSettings } from './connections.ts'
import { statementError } from './unavailable.ts'

/** Runs work while no other process runs such work on this database. It must not be called inside such work. */
export type AdvisoryLock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Milliseconds. How long to wait for the work of others: a first start creates all tables. And the time after which a process that is
 * stopped loses the lock.
 */
const [othersWork, stall] = [120_000, 30_000]
const limits = { connect: 5_000, lock: othersWork, statement: othersWork, idle: stall, answer: othersWork + 5_000 }

/**
 * Uses an advisory lock of the database, on a connection of its own, for migrations, the start of the queue, shared templates and the first
 * companies. These change the same tables in different orders, so two at once could deadlock.
 */
export function createAdvisoryLock (to: Destination): AdvisoryLock {
  return async (work) => {
    const client = await connectAlone(to, 'alone', connectionSettings(limits, `-c idle_session_timeout=${stall}`))
    try {
      await client.query('select pg_advisory_lock(hashtextextended(\'document-dispatch\', 0))').catch((error: unknown) => {
        throw statementError(error)
      })
      const sign = setInterval(() => {
        client.query('select').catch(() => undefined)
      }, stall / 5)
      return await work().finally(() => {
        clearInterval(sign)
      })
    } finally {
      await client.end()
    }
  }
}
