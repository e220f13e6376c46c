import { readBacklog } from '@dispatch/core'
import { Gauge, type Registry } from 'prom-client'
import type { App } from '../container.ts'

/** Milliseconds for which the counts of the database are believed: several scrapers cost one query. */
const believed = 5_000

type Backlog = Awaited<ReturnType<typeof readBacklog>>

/**
 * What there is at the moment of a scrape. Where the database does not answer, its gauges are left out and `dispatch_database_up` is 0.
 */
export function addGauges (registry: Registry, { get }: Pick<App, 'get'>): void {
  const database = get('database')
  let asked: { at: number, backlog: Promise<Backlog | undefined> } | undefined
  const backlog = (): Promise<Backlog | undefined> => {
    if (asked === undefined || performance.now() - asked.at > believed) {
      asked = { at: performance.now(), backlog: readBacklog(database).catch(() => undefined) }
    }
    return asked.backlog
  }

  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: (set: (value: number, labels?: Record<Label, string>) => void) => Promise<void> | void
  ): Gauge<Label> =>
    new Gauge({
      name: `dispatch_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect () {
        this.reset()
        return read((value, labels) => {
          if (labels === undefined) this.set(value)
          else this.set(labels, value)
        })
      }
    })

  // The first one, so that it does not count the queries of the others.
  gauge('database_connections', 'Connections of this process to the database, and work that waits for one.', ['pool', 'state'], (set) => {
    for (const [pool, { open, idle, waiting }] of Object.entries(database.connectionCounts())) {
      for (const [state, value] of Object.entries({ busy: open - idle, idle, waiting })) set(value, { pool, state })
    }
  })
  gauge('database_up', '1 while the database answers and takes changes.', [], async (set) => {
    set(await database.ping().then(() => 1, () => 0))
  })
  const { readsReplica } = database
  if (readsReplica !== undefined) {
    gauge('replica_used', '1 while lists are read from the replica of the database.', [], (set) => {
      set(readsReplica() ? 1 : 0)
    })
  }
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
  gauge('adapter_processes', 'Processes of adapters that this process has started and that run.', [], (set) => {
    set(get('sandboxState')()?.processes ?? 0)
  })
  gauge('clock_skew_seconds', 'How far the clock of this machine is ahead of the database, measured at the start.', [], (set) => {
    set(get('clockSkew'))
  })
}
