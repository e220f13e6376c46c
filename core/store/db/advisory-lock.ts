import type pg from 'pg'
import { connectionSettings, LastingClient } from './connections.ts'
import { connectionError, statementError } from './unavailable.ts'

/** Does work while no other process of the database does such work. Must not be called inside such work. */
export type AdvisoryLock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Milliseconds: how long others may be at work, as a first start makes all tables, and after which a process that stands still has lost its
 * turn.
 */
const [othersWork, stall] = [120_000, 30_000]
const limits = { connect: 5_000, lock: othersWork, statement: othersWork, idle: stall, answer: othersWork + 5_000 }

/**
 * Turns by an advisory lock of the database, on a connection of its own: for migrations, the start of the queue, shared templates and the
 * first companies. They change the same tables in different orders, so that two at once could wait for each other.
 */
export function createAdvisoryLock (config: pg.ClientConfig): AdvisoryLock {
  return async (work) => {
    const client = new LastingClient({
      application_name: 'document-dispatch alone',
      ...connectionSettings(limits, `-c idle_session_timeout=${stall}`),
      ...config
    })
    await client.connect().catch((error: unknown) => {
      throw connectionError(error)
    })
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
