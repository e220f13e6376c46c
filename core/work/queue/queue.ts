import { fromKysely, PgBoss, type QueuePolicy } from 'pg-boss'
import { errorMessageOf } from '../../host/call/load-error.ts'
import type { Log } from '../../host/call/log.ts'
import { connectionSettings, LastingClient } from '../../store/db/connections.ts'
import type { Database, OwnerQueries } from '../../store/db/database.ts'
import { keepStatement, type PreparedJobs } from '../../store/db/jobs.ts'
import { statementError } from '../../store/db/unavailable.ts'

/** The data of each kind of job. */
export type JobPayloads = {
  /** Handles an event of a vendor. */
  webhook: { inboundId: string }
  /** Asks a vendor for the status of a step, unless it was asked after `polledAt`. */
  poll: { stepId: string, polledAt: string | null }
  /** Runs a queued dispatch. */
  dispatch: { companyId: number, dispatchId: string }
  /** Reconciles an uncertain step. */
  look: { companyId: number, dispatchId: string, stepId: string }
  /** Runs a deferred step whose event has come. */
  deferred: { companyId: number, dispatchId: string, stepId: string }
  /** Finds steps whose status is to be asked, and events and callbacks whose jobs were lost. */
  sweep: Record<string, never>
  /** Delivers one of the company's callbacks that are due: to the address of a dispatch, or to an endpoint. */
  callback: { companyId: number, endpoints?: boolean }
  /** Deletes what has been kept for long enough. */
  retention: Record<string, never>
}

/**
 * `key`: only one job with it waits at a time. `after`: seconds before it may run. `group`: jobs of one group share a limit. `priority`:
 * the highest runs first; 0 unless given.
 */
export type Job<Name extends keyof JobPayloads> = {
  data: JobPayloads[Name]
  key?: string
  after?: number
  group?: string
  priority?: number
}

export type Queue = {
  /** Prepares jobs that are added by a transaction or a database function. */
  jobs: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[]) => PreparedJobs
  /** Adds jobs. With `queries` they are added when that transaction commits. */
  send: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[], queries?: OwnerQueries) => Promise<void>
  /**
   * Works on jobs from now on: `atOnce` at a time in this process, `ofGroup` of one group in all processes. `together`: how many are
   * fetched at once, and all of them must end before more are fetched; 2 unless given. A job whose handler throws comes again.
   */
  work: <Name extends keyof JobPayloads>(
    name: Name,
    handle: (data: JobPayloads[Name]) => Promise<void>,
    options: { atOnce: number, together?: number, ofGroup?: number }
  ) => Promise<void>
  /**
   * Works on up to `together` jobs at once, while as many are fetched. They end together when the handler does. Where it throws, all of
   * them come again.
   */
  workTogether: <Name extends keyof JobPayloads>(
    name: Name,
    handle: (data: readonly JobPayloads[Name][]) => Promise<void>,
    options: { together: number }
  ) => Promise<void>
  /** Adds a job by itself, once for all processes, as a cron expression (UTC) says. */
  schedule: (name: 'sweep' | 'retention', cron: string) => Promise<void>
  /** Takes no more jobs; resolves when those under way have ended. */
  close: () => Promise<void>
}

/** In seconds. The jobs of a dead process come again after the heartbeat. The last two limit how long rows stay in the table. */
const life = { expireInSeconds: 120, heartbeatSeconds: 10, deleteAfterSeconds: 600, retentionSeconds: 7 * 24 * 3600 }
/** About a day of tries: only the database can be the reason that jobs fail for so long. */
const retryPolicy = { retryLimit: 40, retryDelay: 1, retryBackoff: true, retryDelayMax: 3600 }

/** `short`: one job with the same key waits at a time. `exclusive`: one waits or runs at a time. */
const policies: Record<keyof JobPayloads, QueuePolicy> = {
  webhook: 'short',
  dispatch: 'short',
  look: 'exclusive',
  deferred: 'exclusive',
  poll: 'exclusive',
  sweep: 'exclusive',
  callback: 'short',
  retention: 'short'
}

/** A slow job delays only the one fetched with it. */
const defaultFetchSize = 2

/** New jobs are announced by NOTIFY; delayed ones are found by polling. */
const polling = { pollingIntervalSeconds: 2, notifyPollingIntervalSeconds: 2 } as const

/** Seconds that a closing queue waits for the jobs under way. */
const shutdownTimeout = 30

/**
 * The queue's own updates of its jobs do not wait for the disk. If the database crashes and loses them, those jobs come again. Jobs that a
 * transaction adds are as durable as the transaction. The queue looks up jobs by their ids: the planner, whose statistics of a queue are
 * always old, would read all jobs for a few of them.
 */
const sessionSettings = '-c synchronous_commit=off -c enable_seqscan=off'

/** In milliseconds. The maintenance of the queue's tables takes longer than a request. */
const queueLimits = { connect: 5_000, lock: 10_000, statement: 60_000, idle: 10_000, answer: 65_000 }

/** Opens the queue in the service's database, after its tables were created or migrated. */
export async function openQueue ({ databaseUrl, database: { withAdvisoryLock: alone, owner }, log }: {
  databaseUrl: string
  database: Pick<Database, 'withAdvisoryLock' | 'owner'>
  log: Log
}): Promise<Queue> {
  // pg-boss passes options that it does not know to its connection pool. One more connection listens for new jobs: four in all.
  const connections = {
    ...connectionSettings(queueLimits, sessionSettings),
    connectionString: databaseUrl,
    Client: LastingClient,
    max: 3,
    application_name: 'document-dispatch queue'
  }
  const boss = new PgBoss({
    ...connections,
    schema: 'queue',
    useListenNotify: true,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5
  })
  boss.on('error', (error) => log.warn({ reason: errorMessageOf(error) }, 'the queue cannot reach its database'))
  boss.on('warning', ({ message }) => log.warn({ reason: message }, 'the queue warns'))
  const statements = new Map<string, string>()
  try {
    await alone(async () => {
      await boss.start()
      for (const [name, policy] of Object.entries(policies)) {
        await boss.createQueue(name, { policy, notify: true, ...life, ...retryPolicy })
        statements.set(name, await keepStatement(owner, await statementOf(boss, name)))
      }
    })
  } catch (error) {
    // The first error says why it did not start; this one is only logged.
    await boss.stop({ graceful: false }).catch((after: unknown) => {
      log.warn({ reason: errorMessageOf(after) }, 'the queue could not be stopped')
    })
    throw error
  }
  return {
    jobs: (name, jobs) => ({ statement: statements.get(name) ?? '', rows: JSON.stringify(jobs.map(rowOf)) }),
    async send (name, jobs, queries) {
      if (jobs.length === 0) return
      // In the shape of pg-boss's own insert, which has an object for the group.
      const rows = jobs.map(({ group, ...job }) => ({ ...rowOf(job), ...(group === undefined ? {} : { group: { id: group } }) }))
      await boss.insert(name, rows, queries === undefined ? {} : { db: fromKysely(queries) }).catch((error: unknown) => {
        throw statementError(error)
      })
    },
    async work (name, handle, { atOnce, together = defaultFetchSize, ofGroup }) {
      const options = {
        ...polling,
        batchSize: Math.min(atOnce, together),
        localConcurrency: Math.ceil(atOnce / together),
        burstWhenBatchFull: atOnce > 1,
        perJobResults: true,
        ...(ofGroup === undefined ? {} : { groupConcurrency: ofGroup })
      } as const
      await boss.work<Parameters<typeof handle>[0], unknown, typeof options>(name, options,
        (jobs) =>
          Promise.all(jobs.map(async ({ id, data }) => {
            try {
              await handle(data)
              return { id, status: 'completed' as const }
            } catch (error) {
              log.warn({ err: error, queue: name }, 'a job failed and comes again')
              return { id, status: 'failed' as const, output: { reason: errorMessageOf(error) } }
            }
          })))
    },
    async workTogether (name, handle, { together }) {
      const options = { ...polling, batchSize: together, localConcurrency: 2, burstWhenBatchFull: true } as const
      await boss.work<Parameters<typeof handle>[0][number]>(name, options, async (jobs) => {
        await handle(jobs.map(({ data }) => data)).catch((error: unknown) => {
          log.warn({ err: error, queue: name }, 'jobs failed and come again')
          throw error
        })
      })
    },
    schedule: (name, cron) => boss.schedule(name, cron, {}),
    close: () => boss.stop({ graceful: true, timeout: shutdownTimeout * 1000 })
  }
}

/** A job with the column names of pg-boss's insert statement. */
function rowOf ({ data, key, after, group, priority }: Job<keyof JobPayloads>) {
  return {
    data,
    ...(key === undefined ? {} : { singletonKey: key }),
    ...(after === undefined ? {} : { startAfter: after }),
    ...(group === undefined ? {} : { groupId: group }),
    ...(priority === undefined ? {} : { priority })
  }
}

/** The statement by which pg-boss adds jobs of a queue. Its text is the same for all jobs; the rows are its only parameter. */
async function statementOf (boss: PgBoss, name: string): Promise<string> {
  let statement = ''
  await boss.insert(name, [{ data: {} }], {
    db: {
      executeSql: (text) => {
        statement = text
        return Promise.resolve({ rows: [] })
      }
    }
  })
  return statement
}
