/** Knows nothing of tap: a process that imports tap is a test itself, with a time limit, and the runner is none. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../core/packages/embedded-postgres/embedded.ts'

/** A PostgreSQL server for tests; every database made on it carries the run's name. */
export type TestServer = { url: string, run: string, close(): Promise<void> }

/**
 * The server that DISPATCH_TEST_DATABASE_URL names (an owner of databases on PostgreSQL 15 or later), else an embedded one in a
 * temporary folder. Closing removes what the tests left on it.
 */
export async function openTestServer (): Promise<TestServer> {
  const run = randomBytes(4).toString('hex')
  const url = process.env['DISPATCH_TEST_DATABASE_URL']
  if (url !== undefined) return { url, run, close: () => dropRun(url, run) }
  const dir = mkdtempSync(join(tmpdir(), 'dispatch-test-'))
  // Nothing here outlives the run: nothing has to reach the disk, nobody guesses the password, and no table grows so large that it needs
  // to be vacuumed: the workers that would look at each of hundreds of databases take a sixth of the server's processor time.
  const server = await startEmbedded({
    dir,
    settings: { fsync: 'off', full_page_writes: 'off', autovacuum: 'off', max_connections: '200', scram_iterations: '1' }
  })
  // A test that crashes its process leaves no server behind either.
  const abandon = () => process.kill(server.pid, 'SIGQUIT')
  process.once('exit', abandon)
  return {
    url: server.url,
    run,
    async close () {
      process.removeListener('exit', abandon)
      await server.stop()
      rmSync(dir, { recursive: true })
    }
  }
}

/** What a runner passes to its test files, so that they share its server. */
export const shareServer = ({ url, run }: TestServer) => ({ DISPATCH_TEST_DATABASE_URL: url, DISPATCH_TEST_RUN: run })

/** Connects for as long as `use` takes. */
export async function withClient (url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

async function dropRun (url: string, run: string): Promise<void> {
  await withClient(url, async client => {
    const { rows } = await client.query<{ name: string }>(
      'select datname as name from pg_database where datname like \'dispatch_test_\' || $1 || \'_%\'',
      [run]
    )
    for (const { name } of rows) await client.query(`drop database ${name} with (force)`)
  })
}
