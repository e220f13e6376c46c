import type { Log } from '@dispatch/common'
import { readBacklog } from '@dispatch/tables'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'
import type { Get } from '../container.ts'

/** Milliseconds for which the counts of the database are believed: several scrapers cost one query. */
const believed = 5_000

/** Milliseconds that a scrape waits for the database. */
const timeoutMs = 2_000

type WorkNeeds = 'database' | 'leases' | 'breakers' | 'outcomeSpool' | 'waitingEvents'
type MachineNeeds = 'config' | 'sandbox' | 'clockSkew'
/** What the gauges are read from. */
export type GaugeNeeds = 'log' | 'database' | WorkNeeds | MachineNeeds

type Backlog = Awaited<ReturnType<typeof readBacklog>>

/** `gauge` makes one. `attempt` reads one of several things that a gauge tells of. */
type Gauges = {
  gauge: <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (set: (value: number, labels?: Record<Label, string>) => void) => Promise<void> | void
  ) => Gauge<Label>
  attempt: (name: string, what: object, read: () => Promise<void> | void) => Promise<boolean>
}

/**
 * What there is at the moment of a scrape. Where the database does not answer, its gauges are left out and `dispatch_database_up` is 0.
 * So is a gauge that cannot be read.
 */
export function addGauges (registry: Registry, get: Get<GaugeNeeds>): void {
  const gauges = gaugesIn(registry, get('log'))
  addDatabaseGauges(gauges, get)
  addWorkGauges(gauges, get)
  addMachineGauges(gauges, get)
}

/** A gauge that cannot be read is left out, which the log says once. */
function gaugesIn (registry: Registry, log: Log): Gauges {
  /** The gauges, and the spools, that failed at the last scrape. */
  const failing = new Set<string>()

  /** One file that cannot be read leaves the other metrics, and the answer by which the process is known to live. */
  const attempt: Gauges['attempt'] = async (name, what, read) => {
    try {
      await read()
      failing.delete(name)
      return true
    } catch (error) {
      if (!failing.has(name)) log.warn({ err: error, ...what }, 'a metric could not be read: it is left out')
      failing.add(name)
      return false
    }
  }

  const gauge: Gauges['gauge'] = (name, help, labelNames, read) =>
    new Gauge({
      name: `dispatch_${name}`,
      help,
      labelNames,
      registers: [registry],
      async collect () {
        clear(this, labelNames)
        const isRead = await attempt(name, { gauge: `dispatch_${name}` }, () =>
          read((value, labels) => {
            if (labels === undefined) this.set(value)
            else this.set(labels, value)
          }))
        if (!isRead) clear(this, labelNames)
      }
    })

  return { gauge, attempt }
}

/** The work that waits in the database, which is asked once at a time, however many ask: no scrape waits for a silent one. */
function createBacklog (get: Get<'database'>): () => Promise<Backlog | undefined> {
  let requested: { at: number, backlog: Promise<Backlog | undefined>, answered: boolean } | undefined
  return () => {
    if (requested === undefined || (requested.answered && performance.now() - requested.at > believed)) {
      const question = { at: performance.now(), backlog: readBacklog(get('database')).catch(() => undefined), answered: false }
      void question.backlog.finally(() => {
        question.answered = true
      })
      requested = question
    }
    return Promise.race([requested.backlog, pause(timeoutMs, undefined, { ref: false })])
  }
}

function addDatabaseGauges ({ gauge }: Gauges, get: Get<'database'>): void {
  const database = get('database')
  // The first one, so that it does not count the queries of the others.
  gauge('database_connections', 'Connections of this process to the database, and work that waits for one.', ['pool', 'state'], (set) => {
    for (const [pool, { open, idle, waiting }] of Object.entries(database.connectionCounts())) {
      for (const [state, value] of Object.entries({ busy: open - idle, idle, waiting })) set(value, { pool, state })
    }
  })
  gauge('database_up', '1 while the database commits what requests write.', [], async (set) => {
    set(await database.ping().then(() => 1, () => 0))
  })
  const { readsReplica } = database
  if (readsReplica !== undefined) {
    gauge('replica_used', '1 while lists are read from the replica of the database.', [], (set) => {
      set(readsReplica() ? 1 : 0)
    })
  }
}

/** What waits, and what is being done. */
function addWorkGauges ({ gauge, attempt }: Gauges, get: Get<WorkNeeds>): void {
  const backlog = createBacklog(get)
  gauge('dispatches_open', 'Dispatches and steps of all companies that have not ended.', ['state'], async (set) => {
    const { dispatches: open } = await backlog() ?? {}
    if (open === undefined) return
    for (const state of ['queued', 'running', 'uncertain', 'triedAgain'] as const) {
      set(open[state], { state: state === 'triedAgain' ? 'tried_again' : state })
    }
  })
  gauge('oldest_queued_seconds', 'How long the oldest queued dispatch has been due.', [], async (set) => {
    const found = await backlog()
    if (found !== undefined) set(found.dispatches.oldest ?? 0)
  })
  gauge('jobs', 'Jobs of the queue: ready to be taken, for later, active.', ['job', 'state'], async (set) => {
    for (const { name: job, ...counts } of (await backlog())?.jobs ?? []) {
      for (const state of ['ready', 'later', 'active'] as const) set(counts[state], { job, state })
    }
  })
  gauge('runs', 'Dispatches that this process works on.', [], (set) => {
    set(get('leases').heldRuns().length)
  })
  gauge('breakers_open', 'Companies whose circuit breaker for a provider is not closed in this process.', ['provider'], (set) => {
    for (const [provider, companies] of get('breakers').failing()) set(companies, { provider })
  })
  gauge('spool_files', 'Answers and events of vendors that wait in the data directory, or were set aside.', ['spool', 'state'],
    async (set) => {
      for (const [spool, { count }] of Object.entries({ outcomes: get('outcomeSpool'), webhooks: get('waitingEvents') })) {
        await attempt(`spool_files ${spool}`, { gauge: 'dispatch_spool_files', spool }, async () => {
          for (const [state, files] of Object.entries(await count())) set(files, { spool, state })
        })
      }
    })
}

function addMachineGauges ({ gauge }: Gauges, get: Get<MachineNeeds>): void {
  const { tls } = get('config')
  gauge('certificate_expires_seconds', 'When the certificate in the file of the service expires, Unix time.', [], async (set) => {
    if (tls !== undefined) set(new X509Certificate(await readFile(tls.cert)).validToDate.getTime() / 1000)
  })
  gauge('adapter_processes', 'Processes of adapters that this process has started and that run.', [], (set) => {
    set(get('sandbox').state()?.processes ?? 0)
  })
  gauge('clock_skew_seconds', 'How far the clock of this machine is ahead of the database, measured at the start.', [], (set) => {
    set(-get('clockSkew'))
  })
}

/** Takes all values away. A reset leaves a 0 to a gauge without labels: a certificate that has expired. */
function clear (gauge: Gauge, labelNames: readonly string[]): void {
  gauge.reset()
  if (labelNames.length === 0) gauge.remove()
}
