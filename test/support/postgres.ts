import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import tap, { type Test } from 'tap'
import { startEmbedded } from '../../core/store/embedded.ts'

/** A PostgreSQL server for tests; every database made on it carries the run's name. */
export type TestServer = { url: string, run: string, close (): Promise<void> }

/** An empty or templated database; `url` serves `new pg.Pool({ connectionString: url })` and DATABASE_URL alike. */
export type TestDatabase = { url: string, drop (): Promise<void> }

/**
 * The server that DISPATCH_TEST_DATABASE_URL names (an owner of databases on PostgreSQL 15 or later), else an embedded one in a
 * temporary folder. Closing removes what the tests left on it.
 */
export async function openTestServer (): Promise<TestServer> {
  const run = randomBytes(4).toString('hex')
  const url = process.env['DISPATCH_TEST_DATABASE_URL']
  if (url !== undefined) return { url, run, close: () => dropRun(url, run) }
  const dir = mkdtempSync(join(tmpdir(), 'dispatch-test-'))
  // Nothing here outlives the run, so nothing has to reach the disk.
  const server = await startEmbedded({ dir, settings: { fsync: 'off', full_page_writes: 'off', max_connections: '200' } })
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

/**
 * Creates a database of a random name, a copy of `template` when one is named. It is dropped when the test ends; one that the file
 * itself asks for, with tap's root test, goes with the run.
 */
export async function testDatabase (t: Test, { template = 'template1' }: { template?: string } = {}): Promise<TestDatabase> {
  const { url, run } = await sharedServer()
  const name = `dispatch_test_${run}_${randomBytes(6).toString('hex')}`
  await execute(url, `create database ${name} template ${template}`)
  const drop = () => execute(url, `drop database if exists ${name} with (force)`)
  // A teardown makes tap's root test end as soon as it is idle, be it between two awaits.
  if (t !== tap) t.teardown(drop)
  return { url: urlOf(url, name), drop }
}

/**
 * Prepares a database once for all test files of the run, for `testDatabase(t, { template })` to copy.
 * @param label lowercase letters and underscores
 * @param prepare must close its connections: a database in use cannot be copied
 * @returns the name of the template.
 */
export async function templateDatabase (label: string, prepare: (url: string) => Promise<void>): Promise<string> {
  const { url, run } = await sharedServer()
  const name = `dispatch_test_${run}_${label}`
  await withClient(url, async client => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 1) return
    await client.query(`drop database if exists ${name}_unfinished`)
    await client.query(`create database ${name}_unfinished`)
    await prepare(urlOf(url, `${name}_unfinished`))
    await client.query(`alter database ${name}_unfinished rename to ${name}`)
  })
  return name
}

let server: Promise<TestServer> | undefined

/** The runner's server; a file that is run by itself opens its own, once, and closes it at its end. */
function sharedServer (): Promise<TestServer> {
  return server ??= process.env['DISPATCH_TEST_RUN'] === undefined ? ownServer() : runnersServer(process.env['DISPATCH_TEST_RUN'])
}

async function ownServer (): Promise<TestServer> {
  const opened = await openTestServer()
  process.once('beforeExit', () => void opened.close())
  return opened
}

async function runnersServer (run: string): Promise<TestServer> {
  return { ...await openTestServer(), run }
}

async function dropRun (url: string, run: string): Promise<void> {
  await withClient(url, async client => {
    const { rows } = await client.query<{ name: string }>("select datname as name from pg_database where datname like 'dispatch_test_' || $1 || '_%'", [run])
    for (const { name } of rows) await client.query(`drop database ${name} with (force)`)
  })
}

function execute (url: string, sql: string): Promise<void> {
  return withClient(url, async client => { await client.query(sql) })
}

async function withClient (url: string, use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}

/** The same server, another database: the path of a postgres URL, whether its host is a name or a socket's folder. */
const urlOf = (url: string, database: string) => url.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${database}`)
