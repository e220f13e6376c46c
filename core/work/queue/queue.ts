import { fromKysely, PgBoss, type QueuePolicy } from 'pg-boss'
import { errorMessageOf } from '../../host/call/load-error.ts'
import type { Log } from '../../host/call/log.ts'
import { connectionSettings, LastingClient } from '../../store/db/connections.ts'
import type { Database, OwnerQueries } from '../../store/db/database.ts'
import type { PreparedJobs } from '../../store/db/jobs.ts'
import { statementError } from '../../store/db/unavailable.ts'

/** The work that is done beside the requests, and what each job of it is told. */
export type JobPayloads = {
  /** Handles an event of a vendor. */
  webhook: { inboundId: string }
  /** Asks a vendor what became of a step that was last asked after then. */
  poll: { stepId: string, polledAt: string | null }
  /** Runs a dispatch that waits. */
  dispatch: { companyId: number, dispatchId: string }
  /** Looks what became of a step in doubt. */
  look: { companyId: number, dispatchId: string, stepId: string }
  /** Does a step whose event has come. */
  deferred: { companyId: number, dispatchId: string, stepId: string }
  /** Finds steps to ask after, and events and callbacks whose jobs were lost. */
  sweep: Record<string, never>
  /** Delivers one of the company's callbacks that are due. */
  callback: { companyId: number }
  /** Forgets what has been kept for long enough. */
  retention: Record<string, never>
}

/**
 * `key`: one job with it waits at a time. `after`: not before that many seconds have passed. `group`: those whose jobs share
 * their turns. `priority`: the highest comes first; 0 unless told.
 */
export type Job<Name extends keyof JobPayloads> = {
  data: JobPayloads[Name]
  key?: string
  after?: number
  group?: string
  priority?: number
}

export type Queue = {
  /** Jobs as data, for whoever adds them in a transaction or a call. */
  jobs: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[]) => PreparedJobs
  /** Adds jobs, if there are any; with `queries` they are there when that transaction commits. */
  send: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[], queries?: OwnerQueries) => Promise<void>
  /**
   * Works on jobs from now on, `atOnce` at a time in this process, `ofGroup` of a group in all; `together` are fetched, and
   * waited for, as one: 2 unless told. A job whose handler throws comes again.
   */
  work: <Name extends keyof JobPayloads>(
    name: Name,
    handle: (data: JobPayloads[Name]) => Promise<void>,
    options: { atOnce: number, together?: number, ofGroup?: number }
  ) => Promise<void>
  /** Adds a job by itself, once for all processes, as a cron expression (UTC) says. */
  schedule: (name: 'sweep' | 'retention', cron: string) => Promise<void>
  /** Takes no more jobs; resolves when those under way have ended. */
  close: () => Promise<void>
}

/** Seconds; a process that died gives up its jobs after the heartbeat. The last two bound what stays in the table. */
const life = { expireInSeconds: 120, heartbeatSeconds: 10, deleteAfterSeconds: 600, retentionSeconds: 7 * 24 * 3600 }
/** About a day of tries, when nothing but the database can be the reason. */
const retryPolicy = { retryLimit: 40, retryDelay: 1, retryBackoff: true, retryDelayMax: 3600 }

/** `short`: of jobs with the same key one waits; `exclusive`: one waits or is worked on. */
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

/** A slow job holds up no more than its pair, and a full pair is followed at once. */
const defaultFetchSize = 2

/** Seconds that a closing queue waits for the jobs under way. */
const shutdownTimeout = 30

/**
 * What the queue notes about its jobs by itself does not wait for the disk: after a crash of the database that forgot it, jobs
 * come again. Those that are added in a transaction are kept as it is.
 */
const asynchronousCommit = '-c synchronous_commit=off'

/** Milliseconds: its care of its own tables takes longer than a request. */
const queueLimits = { connect: 5_000, lock: 10_000, statement: 60_000, idle: 10_000, answer: 65_000 }

/** Opens the queue in the database, beside the service's own tables; its tables are made or brought up to date first. */
export async function openQueue ({ databaseUrl, database: { withAdvisoryLock: alone }, log }: {
  databaseUrl: string
  database: Pick<Database, 'withAdvisoryLock'>
  log: Log
}): Promise<Queue> {
  // What pg-boss does not know goes to its pool.
  const connections = {
    ...connectionSettings(queueLimits, asynchronousCommit),
    connectionString: databaseUrl,
    Client: LastingClient,
    max: 4,
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
      for (const [name, policy] of Object.entries(policies)) await boss.createQueue(name, { policy, notify: true, ...life, ...retryPolicy })
    })
    for (const name of Object.keys(policies)) statements.set(name, await statementOf(boss, name))
  } catch (error) {
    // Why it did not start is what counts.
    await boss.stop({ graceful: false }).catch((after: unknown) => {
      log.warn({ reason: errorMessageOf(after) }, 'the queue could not be stopped')
    })
    throw error
  }
  return {
    jobs: (name, jobs) => ({ statement: statements.get(name) ?? '', rows: JSON.stringify(jobs.map(rowOf)) }),
    async send (name, jobs, queries) {
      if (jobs.length === 0) return
      // As the statement has them: pg-boss makes one column of a group.
      const rows = jobs.map(({ group, ...job }) => ({ ...rowOf(job), ...(group === undefined ? {} : { group: { id: group } }) }))
      await boss.insert(name, rows, queries === undefined ? {} : { db: fromKysely(queries) }).catch((error: unknown) => {
        throw statementError(error)
      })
    },
    async work (name, handle, { atOnce, together = defaultFetchSize, ofGroup }) {
      // New jobs announce themselves; those that were put off are found by polling.
      const options = {
        batchSize: Math.min(atOnce, together),
        localConcurrency: Math.ceil(atOnce / together),
        burstWhenBatchFull: atOnce > 1,
        perJobResults: true,
        pollingIntervalSeconds: 2,
        notifyPollingIntervalSeconds: 2,
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
    schedule: (name, cron) => boss.schedule(name, cron, {}),
    close: () => boss.stop({ graceful: true, timeout: shutdownTimeout * 1000 })
  }
}

/** A job under the names that pg-boss gives to the columns of its statement. */
function rowOf ({ data, key, after, group, priority }: Job<keyof JobPayloads>) {
  return {
    data,
    ...(key === undefined ? {} : { singletonKey: key }),
    ...(after === undefined ? {} : { startAfter: after }),
    ...(group === undefined ? {} : { groupId: group }),
    ...(priority === undefined ? {} : { priority })
  }
}

/** The statement by which pg-boss adds jobs of a name: it has the same text for all, and their rows as its one parameter. */
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
