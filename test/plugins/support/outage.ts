import pg from 'pg'

/** Takes a database away from everybody, and gives it back. */
export type Outage = { begin: () => Promise<void>, end: () => Promise<void> }

export function outageOf (databaseUrl: string): Outage {
  const [name = ''] = /dispatch_test_\w+/.exec(databaseUrl) ?? []
  async function run (...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: databaseUrl.replace(name, 'template1') })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  return {
    begin: () =>
      run(`alter database ${name} with allow_connections false`,
        `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`),
    end: () => run(`alter database ${name} with allow_connections true`)
  }
}
