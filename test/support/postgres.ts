import { randomBytes } from 'node:crypto'
import tap, { type Test } from 'tap'
import { openTestServer, type TestServer, withClient } from './postgres-server.ts'

/** An empty or templated database; `url` serves `new pg.Pool({ connectionString: url })` and DATABASE_URL alike. */
export type TestDatabase = { url: string, drop(): Promise<void> }

/**
 * Creates a database of a random name, a copy of `template` when one is named: its files are copied, in a fifth of the time that a copy
 * through the log takes. It is dropped when the test ends; one that the file itself asks for, with tap's root test, goes with the run.
 */
export async function testDatabase (t: Test, { template = 'template1' }: { template?: string } = {}): Promise<TestDatabase> {
  const { url, run } = await sharedServer()
  const name = `dispatch_test_${run}_${randomBytes(6).toString('hex')}`
  await execute(url, `create database ${name} template ${template} strategy file_copy`)
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

function execute (url: string, sql: string): Promise<void> {
  return withClient(url, async client => {
    await client.query(sql)
  })
}

/** The same server, another database: the path of a postgres URL, whether its host is a name or a socket's folder. */
const urlOf = (url: string, database: string) => url.replace(/^(postgres(?:ql)?:\/\/[^/]*\/)[^?]*/, `$1${database}`)
