import { createFairSemaphore, errorMessageOf, type FairSemaphore, type Log, withTimeLimit } from '@dispatch/common'
import { connectionSettings, type Database, LastingClient, lastWriterOf, type OwnerQueries, statementError } from '@dispatch/database'
import { keepStatement, type PreparedJobs } from '@dispatch/tables'
import { fromKysely, PgBoss, type QueuePolicy } from 'pg-boss'
import { type FairWorker, startFairWorker } from './fair-worker.ts'
import type { BegunJob, FetchedJob, JobSource } from './job-source.ts'

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
  /** Asks a vendor what became of a status that was sent for a dispatch; `look`: how often it was asked before. */
  saying: { companyId: number, dispatchId: string, statusId: string, look: number }
  /** Finds steps whose status is to be asked. */
  sweep: Record<string, never>
  /** Delivers one of the company's callbacks that are due: to the address of a dispatch, or to an endpoint. */
  callback: { companyId: number, endpoints?: boolean }
  /** Deletes what has been kept for long enough. */
  retention: Record<string, never>
}

/**
 * `key`: only one job with it waits at a time. `after`: seconds before it may run, or the time of that. `priority`: the highest runs
 * first; 0 unless given.
 */
export type Job<Name extends keyof JobPayloads> = {
  data: JobPayloads[Name]
  key?: string
  after?: number | Date
  priority?: number
}

export type Queue = {
  /** Prepares jobs that are added by a transaction or a database function. */
  jobs: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[]) => PreparedJobs
  /** Adds jobs. With `queries` they are added when that transaction commits. */
  send: <Name extends keyof JobPayloads>(name: Name, jobs: readonly Job<Name>[], queries?: OwnerQueries) => Promise<void>
  /**
   * Works on jobs from now on, in so many slots, which companies share fairly. A job that takes longer than 100 ms waits for somebody
   * else, and leaves its slot. One whose handler throws comes again.
   */
  work: <Name extends keyof JobPayloads>(
    name: Name,
    handle: (data: JobPayloads[Name]) => Promise<void>,
    slots: number
  ) => Promise<void>
  /**
   * The same for jobs that only begin something: each has a permit, which the handler releases when that is over. They end together when
   * the handler does. Where it throws, all of them come again.
   */
  begin: <Name extends keyof JobPayloads>(
    name: Name,
    handle: (jobs: readonly BegunJob<JobPayloads[Name]>[]) => Promise<void>,
    slots: number
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
  saying: 'short',
  poll: 'exclusive',
  sweep: 'exclusive',
  callback: 'short',
  retention: 'short'
}

/** The most jobs that are fetched at once: to take eight together is a third of the statements of one by one. */
const maxTogether = 8

/** Milliseconds after which a job waits for somebody else. */
const slowAfter = 100

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

/** Whether another company than this one waits for what this process answers: the jobs of this one then get fewer slots. */
type OthersWork = (companyId: number) => boolean

/**
 * Opens the queue in the service's database, after its tables were created or migrated. Adding jobs throws `DatabaseUnavailable` where the
 * database fails.
 */
export async function openQueue ({ databaseUrl, database: { withAdvisoryLock: alone, owner }, log, othersWork }: {
  databaseUrl: string
  database: Pick<Database, 'withAdvisoryLock' | 'owner'>
  log: Log
  othersWork?: OthersWork
}): Promise<Queue> {
  const boss = createBoss(databaseUrl)
  const failed = (error: unknown): void => {
    log.warn({ reason: errorMessageOf(error) }, 'the queue cannot reach its database')
  }
  listenAtWriter(boss, databaseUrl)
  boss.on('error', failed)
  boss.on('warning', ({ message }) => log.warn({ reason: message }, 'the queue warns'))
  const workers = new Map<string, FairWorker>()
  onNewJobs(boss, (name) => {
    for (const [queue, worker] of workers) if (name === undefined || name === queue) worker.ring()
  })
  const statements = await start(boss, { alone, owner, log })
  return {
    jobs: (name, jobs) => ({ statement: statements.get(name) ?? '', rows: JSON.stringify(jobs.map(rowOf)) }),
    async send (name, jobs, queries) {
      if (jobs.length === 0) return
      // In the shape of pg-boss's own insert, which has an object for the group.
      const rows = jobs.map(rowOf).map(({ groupId, ...row }) => ({ ...row, ...(groupId === undefined ? {} : { group: { id: groupId } }) }))
      await boss.insert(name, rows, queries === undefined ? {} : { db: fromKysely(queries) }).catch((error: unknown) => {
        throw statementError(error)
      })
    },
    work (name, handle, slots) {
      workers.set(name, startFairWorker({
        source: sourceOf(boss, name),
        slots: slotsFor(name, slots, othersWork),
        companyOf,
        together: Math.min(maxTogether, slots),
        atOnce: 1,
        begin: async (jobs) => {
          for (const { data, permit } of jobs) {
            const slow = setTimeout(permit.park, slowAfter).unref()
            try {
              await handle(data)
            } catch (error) {
              log.warn({ err: error, queue: name }, 'a job failed and comes again')
              throw error
            } finally {
              clearTimeout(slow)
              permit.release()
            }
          }
        },
        failed
      }))
      return Promise.resolve()
    },
    begin (name, handle, slots) {
      workers.set(name, startFairWorker({
        source: sourceOf(boss, name),
        slots: slotsFor(name, slots, othersWork),
        companyOf,
        together: Math.min(maxTogether, Math.max(2, Math.ceil(slots / 2))),
        atOnce: maxTogether,
        begin: (jobs) =>
          handle(jobs).catch((error: unknown) => {
            log.warn({ err: error, queue: name }, 'jobs failed and come again')
            throw error
          }),
        failed
      }))
      return Promise.resolve()
    },
    schedule: (name, cron) => boss.schedule(name, cron, {}),
    async close () {
      const closed = Promise.all([...workers.values()].map((worker) => worker.close()))
      await withTimeLimit(shutdownTimeout * 1000, closed, () => new Error('Jobs under way have not ended.')).catch((error: unknown) => {
        log.warn({ err: error }, 'the queue closes while jobs are under way')
      })
      await boss.stop({ graceful: true, timeout: shutdownTimeout * 1000 })
    }
  }
}

function createBoss (databaseUrl: string): PgBoss {
  // pg-boss passes options that it does not know to its connection pool. One more connection listens for new jobs: four in all.
  const connections = {
    ...connectionSettings(queueLimits, sessionSettings),
    connectionString: databaseUrl,
    // Whatever the settings say by the time that its pool is opened.
    Client: class extends LastingClient {
      constructor (settings: object) {
        super({ ...settings, connectionString: databaseUrl })
      }
    },
    max: 3,
    application_name: 'document-dispatch queue'
  }
  return new PgBoss({
    ...connections,
    schema: 'queue',
    useListenNotify: true,
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5
  })
}

/** Makes the queues where they are not there. Answers the statements that add jobs, by the names of their queues. */
async function start (
  boss: PgBoss,
  { alone, owner, log }: { alone: Database['withAdvisoryLock'], owner: Database['owner'], log: Log }
): Promise<ReadonlyMap<string, string>> {
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
  return statements
}

/** A job with the column names of pg-boss's insert statement. Its group is its company. */
function rowOf ({ data, key, after, priority }: Job<keyof JobPayloads>) {
  const groupId = companyOf(data)
  return {
    data,
    ...(key === undefined ? {} : { singletonKey: key }),
    ...(after === undefined ? {} : { startAfter: after instanceof Date ? after.toISOString() : after }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(priority === undefined ? {} : { priority })
  }
}

function companyOf (data: JobPayloads[keyof JobPayloads]): string | undefined {
  return 'companyId' in data ? String(data.companyId) : undefined
}

/** Those whose jobs have a company. */
const ofCompanies: ReadonlySet<keyof JobPayloads> = new Set(['dispatch', 'look', 'deferred', 'saying', 'callback'])

/**
 * The slots for jobs of a kind. A quarter of them is for companies that have nothing under way. A job that waits for somebody else leaves
 * its slot; a company has as many under way as there are slots, and all together eight times as many. Companies that have nothing under
 * way may have one beyond that, until there are a hundred times as many: dead vendors of any hundred companies keep none waiting. While
 * clients of others wait for this process, a company has a quarter of the slots for its jobs, not three: they use the same database.
 */
export function slotsFor (name: keyof JobPayloads, total: number, othersWork: OthersWork = () => false): FairSemaphore {
  const quarter = Math.ceil(total / 4)
  const shared = ofCompanies.has(name)
    ? { perOwner: total, kept: (owner: number | string) => othersWork(Number(owner)) ? Math.max(quarter, total - quarter) : quarter }
    : { perOwner: Infinity, kept: 0 }
  return createFairSemaphore({ total, max: 8 * total, maxInAll: 100 * total, waiting: Infinity, ...shared })
}

/** The jobs of a queue as pg-boss keeps them. */
function sourceOf<Name extends keyof JobPayloads> (boss: PgBoss, name: Name): JobSource<JobPayloads[Name]> {
  return {
    fetch: (batchSize, without) => boss.fetch<JobPayloads[Name]>(name, { batchSize, ignoreGroups: [...without] }),
    async keep (jobs) {
      await boss.touch(name, attemptsOf(jobs))
    },
    async end (jobs) {
      await boss.complete(name, attemptsOf(jobs))
    },
    async giveBack (jobs, error) {
      await boss.fail(name, attemptsOf(jobs), { reason: errorMessageOf(error) })
    }
  }
}

const attemptsOf = (jobs: readonly FetchedJob<unknown>[]) => jobs.map(({ id, retryCount }) => ({ id, retryCount }))

/** Has `ring` called with the name of a queue that got jobs, and without one when announcements may have been lost. */
function onNewJobs (boss: PgBoss, ring: (name?: string) => void): void {
  const db = boss.getDb()
  const listen = db.listen?.bind(db)
  if (listen === undefined) return
  db.listen = (channel, reported, reconnected) =>
    listen(channel, (name) => {
      reported(name)
      ring(name)
    }, () => {
      reconnected()
      ring()
    })
}

/**
 * pg-boss listens on a connection of its own, whose class cannot be chosen. It reads where that leads before each attempt: of several hosts
 * it is the one where the pool, which asks every few seconds, found writes to be taken.
 */
function listenAtWriter (boss: PgBoss, databaseUrl: string): void {
  const { config } = boss.getDb() as unknown as { config: object }
  Object.defineProperty(config, 'connectionString', { enumerable: true, get: () => lastWriterOf(databaseUrl) })
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
