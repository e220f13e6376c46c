import { hostname } from 'node:os'
import pg from 'pg'
import type { Destination } from './connection-failure.ts'
import { connectAlone, connectionSettings } from './connections.ts'
import { DatabaseUnavailable, statementError } from './unavailable.ts'

/** Runs work while no other process runs such work on this database. It must not be called inside such work. */
export type AdvisoryLock = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Who has the lock that this process waits for: the name of its connection, which says its process and machine, with its address, its
 * number in the database, and since when it is connected. `waited`: seconds.
 */
export type LockWait = { holder: string, address: string | null, backend: number | null, since: Date | null, waited: number }

/**
 * Milliseconds. How long to wait for the work of others: a first start creates all tables. The time after which a process that is stopped
 * loses the lock. And between two reports of who has it.
 */
const [othersWork, stall, reportedEvery] = [120_000, 30_000, 10_000]
const limits = { connect: 5_000, lock: reportedEvery, statement: othersWork, idle: stall, answer: othersWork + 5_000 }

const key = 'hashtextextended(\'document-dispatch\', 0)'

/** The most bytes that PostgreSQL keeps of the name of a connection, without `document-dispatch `, which all of them begin with. */
const longestName = 63 - 18

/** The name of the connection that has the lock. Of a machine whose name is too long its end is kept, by which pods differ. */
export function holderName (pid = process.pid, host = hostname()): string {
  const known = `alone, process ${pid} on `
  return known + host.slice(-(longestName - known.length))
}

type Options = {
  /** Called at once where another process has the lock, and every ten seconds as long as it has. */
  onWait?: ((wait: LockWait) => void) | undefined
  limit?: number
  reportEvery?: number
}

/**
 * Uses an advisory lock of the database, on a connection of its own, for migrations, the start of the queue, shared templates and the first
 * companies. These change the same tables in different orders, so two at once could deadlock. Throws `DatabaseUnavailable` (`busy`) after
 * two minutes (`limit`, milliseconds), and says who has it.
 */
export function createAdvisoryLock (
  to: Destination,
  { onWait, limit = othersWork, reportEvery = reportedEvery }: Options = {}
): AdvisoryLock {
  const settings = connectionSettings({ ...limits, lock: Math.min(limit, reportEvery) }, `-c idle_session_timeout=${stall}`)
  return async (work) => {
    const client = await connectAlone(to, holderName(), settings)
    try {
      await takeLock(client, { limit, onWait })
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

/** Waits for the lock in turns, each of which ends with a report of who has it. */
async function takeLock (client: pg.Client, { limit, onWait }: { limit: number } & Pick<Options, 'onWait'>): Promise<void> {
  const begun = performance.now()
  const ask = async <Row extends pg.QueryResultRow>(text: string): Promise<Row | undefined> =>
    (await client.query<Row>(text).catch((error: unknown) => {
      throw statementError(error)
    })).rows[0]
  if ((await ask<{ taken: boolean }>(`select pg_try_advisory_lock(${key}) as taken`))?.taken === true) return
  for (;;) {
    const waited = performance.now() - begun
    const wait = await holderOf(ask, Math.round(waited / 1000))
    if (waited >= limit) throw new DatabaseUnavailable('busy', { why: givenUp(wait) })
    onWait?.(wait)
    try {
      await ask(`select pg_advisory_lock(${key})`)
      return
    } catch (error) {
      // Only a turn is over.
      if (!(error instanceof DatabaseUnavailable && error.code === '55P03')) throw error
    }
  }
}

type Ask = <Row extends pg.QueryResultRow>(text: string) => Promise<Row | undefined>

async function holderOf (ask: Ask, waited: number): Promise<LockWait> {
  const found = await ask<Omit<LockWait, 'waited'>>(`
    select coalesce(application_name, 'a user whose connections cannot be seen') as holder, host(client_addr) as address, pid as backend,
      backend_start as since
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and pg_locks.database = (select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${key}`)
  return { ...found ?? { holder: 'nobody any more', address: null, backend: null, since: null }, waited }
}

function givenUp ({ holder, address, since, waited }: LockWait): string {
  const details = [holder, ...address === null ? [] : [address], ...since === null ? [] : [`since ${since.toISOString()}`]]
  return `another process prepares it (${details.join('; ')}), for which this one has waited ${waited} seconds; its log says which ` +
    'migration it runs.'
}
