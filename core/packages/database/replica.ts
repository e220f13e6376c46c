import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import type { CompanyTransactions } from './company-transactions.ts'
import type { StoredTables } from './tables.ts'
import { DatabaseUnavailable, whyUnusable } from './unavailable.ts'

/**
 * A replica of the database. `lag`: how many seconds it may be behind. `onChange` is called when it begins to be read, and with the reason
 * when it is not any more.
 */
export type ReplicaOptions = { url: string, lag: number, onChange: (change: ReplicaChange) => void }

export type ReplicaChange = { used: true } | { used: false, why: string }

export type Replica = {
  /** Whether reads go to it. */
  used: () => boolean
  /** Runs work that only reads on it, else on the primary. */
  reading: CompanyTransactions['snapshot']
  close: () => Promise<void>
}

/** The two servers, and how companies read from each. */
type Servers = {
  primary: { vital: Kysely<StoredTables>, snapshot: CompanyTransactions['snapshot'] }
  replica: { queries: Kysely<StoredTables>, snapshot: CompanyTransactions['snapshot'] }
}

/** Milliseconds between two looks at both servers. */
const lookedEvery = 1_000

/** What a look finds: how far a server has come in the log, in bytes, and the cluster that it belongs to. */
type Position = { reached: string | null, cluster: string }

const clusterOf = sql`(select system_identifier::text from pg_control_system()) as cluster`
const written = sql<Position>`select (pg_current_wal_lsn() - '0/0')::text as reached, ${clusterOf}`
/** Null on a server that is no replica. */
const replayed = sql<
  Position
>`select case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::text end as reached, ${clusterOf}`

/**
 * Follows a replica. Every second it is asked how far it has come, and the primary where it stands: the lag needs no clock of either, and
 * a replica that is cut off from an idle primary is not behind. Nothing is read from one that is too far behind, away, or no replica of
 * this primary.
 */
export function followReplica ({ lag, onChange }: ReplicaOptions, { primary, replica }: Servers): Replica {
  /** Where the primary stood, the newest last. */
  let marks: { at: number, reached: bigint }[] = []
  let state: 'unknown' | 'used' | 'left' = 'unknown'
  let looking: Promise<void> | undefined

  function become (why: string | undefined): void {
    const before = state
    state = why === undefined ? 'used' : 'left'
    if (state !== before) onChange(why === undefined ? { used: true } : { used: false, why })
  }

  async function check (): Promise<void> {
    const at = performance.now()
    const [{ rows: [mark] }, { rows: [found] }] = await Promise.all([written.execute(primary.vital), replayed.execute(replica.queries)])
    if (mark === undefined || found?.cluster !== mark.cluster || found.reached === null) {
      become('it is no replica of this primary')
      return
    }
    const reached = BigInt(found.reached)
    marks = [...marks.filter((one) => at - one.at <= lag * 1000), { at, reached: BigInt(mark.reached ?? 0) }]
    if (marks.some((one) => one.reached <= reached)) become(undefined)
    // One look alone cannot tell how far behind it is.
    else if (marks.length > 1) become(`it is more than ${lag} seconds behind`)
  }

  const lookNow = (): void => {
    looking ??= check().catch((error: unknown) => {
      become(whyUnusable(error))
    }).finally(() => {
      looking = undefined
    })
  }
  lookNow()
  const timer = setInterval(lookNow, lookedEvery).unref()

  return {
    used: () => state === 'used',
    async reading (companyId, work) {
      if (state !== 'used') return await primary.snapshot(companyId, work)
      try {
        return await replica.snapshot(companyId, work)
      } catch (error) {
        if (!isOfServer(error)) throw error
        // Cancelled by what it has to replay, away, or before a migration that the primary has.
        return await primary.snapshot(companyId, work)
      }
    },
    async close () {
      clearInterval(timer)
      await looking
    }
  }
}

/** Whether a failure is one of the server. A statement that took too long would take as long on the primary. */
function isOfServer (error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return !['57014', '55P03'].includes(error.code)
  return error instanceof pg.DatabaseError
}
