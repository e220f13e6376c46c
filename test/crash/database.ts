import { join } from 'node:path'
import { startEmbedded } from '@dispatch/core'
import pg from 'pg'

/** A real PostgreSQL server that this harness may crash. */
export type CrashDatabase = {
  url: string
  rows: <Row extends object>(sql: string) => Promise<Row[]>
  /** Ends it at once, as a crash would, and starts it again. */
  restart: () => Promise<void>
  /** Cuts every connection. */
  cut: () => Promise<void>
  stop: () => Promise<void>
}

export async function startDatabase (folder: string): Promise<CrashDatabase> {
  // The system outlives every crash here, so nothing has to reach the disk.
  const start = () => startEmbedded({ dir: join(folder, 'postgres'), settings: { fsync: 'off', max_connections: '200' } })
  let server = await start()
  const { url } = server
  // Also where this process ends in the middle.
  const abandon = (): void => { process.kill(server.pid, 'SIGQUIT') }
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

  return {
    url,
    rows,
    async restart () {
      process.kill(server.pid, 'SIGQUIT')
      await server.lost
      server = await start()
    },
    async cut () {
      await rows("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and query not like '%advisory%'")
    },
    async stop () {
      process.removeListener('exit', abandon)
      await server.stop()
    }
  }
}
