import { startEmbedded } from '@dispatch/embedded-postgres'
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
  /** Cuts every connection. */
  cut: () => Promise<void>
  stop: () => Promise<void>
}

export async function startDatabase (folder: string): Promise<CrashDatabase> {
  // What it has committed it must have after a crash: `fsync` stays on.
  const start = () => startEmbedded({ dir: join(folder, 'postgres'), settings: { max_connections: '200' } })
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

  return {
    url: proxy.url,
    rows,
    async fail (signal, seconds) {
      process.kill(server.pid, signal)
      await server.lost
      await pause(seconds * 1000)
      server = await start()
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
