import { startEmbedded } from '@dispatch/embedded-postgres'
import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { databaseProxy } from '../support/silent-proxy.ts'

/** A real PostgreSQL server that this harness may crash. */
export type CrashDatabase = {
  /** For the service: by way of a proxy that may stall. */
  url: string
  rows: <Row extends object>(sql: string) => Promise<Row[]>
  /** Ends it at once, as a crash would (by SIGQUIT or, the postmaster alone, by SIGKILL), and starts it again so many seconds later. */
  fail: (signal: 'SIGQUIT' | 'SIGKILL', seconds: number) => Promise<void>
  /** It takes no changes for so many seconds. */
  readOnly: (seconds: number) => Promise<void>
  /** Nothing passes between it and the service for so many seconds. */
  stall: (seconds: number) => Promise<void>
  /**
   * It crashes, and comes back so many seconds later with what it had then. Whatever uses it is ended meanwhile by `end`.
   */
  restore: (seconds: number, end: () => void) => Promise<void>
  /** What the restores took: the dispatches that are gone, with their orders, and those of which it knows less than it did. */
  lost: { dispatches: ReadonlySet<string>, orders: ReadonlySet<string>, older: ReadonlySet<string> }
  /** Cuts every connection. */
  cut: () => Promise<void>
  stop: () => Promise<void>
}

const unfinished = 'select from dispatches where status in (\'queued\', \'running\')'

export async function startDatabase (folder: string): Promise<CrashDatabase> {
  const [dir, backup] = [join(folder, 'postgres'), join(folder, 'backup')]
  // What it has committed it must have after a crash: `fsync` stays on.
  const start = () => startEmbedded({ dir, settings: { max_connections: '200' } })
  let server = await start()
  const { url } = server
  const proxy = await databaseProxy(url)
  // Also where this process ends in the middle.
  const abandon = (): void => {
    process.kill(server.pid, 'SIGQUIT')
  }
  process.once('exit', abandon)

  async function rows<Row extends object> (sql: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** A setting of the server as a whole; also a server that takes no changes takes this one. */
  async function set (name: string, value: string): Promise<void> {
    await rows(`alter system set ${name} = ${value}`)
    await rows('select pg_reload_conf()')
  }

  async function crash (signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    process.kill(server.pid, signal)
    await server.lost
  }

  /** What it knows of each dispatch: how many entries the timeline has. */
  const known = async () => {
    const all = await rows<{ id: string, order: string, events: number }>(`
      select dispatch_id as id, metadata->>'order' as order, count(*)::int as events from dispatches join events using (dispatch_id) group by 1, 2`)
    return new Map(all.map(({ id, ...facts }) => [id, facts]))
  }
  const lost = { dispatches: new Set<string>(), orders: new Set<string>(), older: new Set<string>() }

  return {
    url: proxy.url,
    rows,
    lost,
    async fail (signal, seconds) {
      await crash(signal)
      await pause(seconds * 1000)
      server = await start()
    },
    async restore (seconds, end) {
      // It is worth nothing without what is to be done: that may have come and gone before so many looks.
      for (let looks = 0; looks < 100 && (await rows(unfinished)).length < 3; looks++) await pause(20)
      await crash('SIGQUIT')
      // The server may still remove the file of its process.
      await cp(dir, backup, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') })
      server = await start()
      await pause(seconds * 1000)
      proxy.silence()
      // What has reached it is done by then.
      await pause(500)
      const before = await known()
      await crash('SIGQUIT')
      await rm(dir, { recursive: true })
      await cp(backup, dir, { recursive: true })
      await rm(backup, { recursive: true })
      server = await start()
      const after = await known()
      for (const [id, { order, events }] of before) {
        const kept = after.get(id)
        if (kept !== undefined && kept.events < events) lost.older.add(id)
        if (kept !== undefined) continue
        lost.dispatches.add(id)
        lost.orders.add(order)
      }
      end()
      proxy.speak()
    },
    async readOnly (seconds) {
      await set('default_transaction_read_only', 'on')
      await pause(seconds * 1000)
      await set('default_transaction_read_only', 'off')
    },
    async stall (seconds) {
      proxy.silence()
      await pause(seconds * 1000)
      proxy.speak()
    },
    async cut () {
      await rows(
        'select pg_terminate_backend(pid) from pg_stat_activity where backend_type = \'client backend\' and pid <> pg_backend_pid() ' +
          'and query not like \'%advisory%\''
      )
    },
    async stop () {
      process.removeListener('exit', abandon)
      proxy.close()
      await server.stop()
    }
  }
}
