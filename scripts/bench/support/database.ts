import { startEmbedded } from '@dispatch/embedded-postgres'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { whenCut } from './cut.ts'

/** Where short runs share a server: none of them measures it. */
const shared = 'BENCH_DATABASE_URL'

/** What a benchmark gets: the address of its database. */
type Place = { url: string }

/**
 * Runs work with its own embedded database server, in a folder that is deleted afterwards. `settings`: of the server. Short runs that ask
 * for none have a database of their own on one server.
 */
export async function withBenchDatabase<Result> (
  work: (database: Place, folder: string) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {}
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
  const remove = () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  const server = process.env[shared]
  if (server === undefined || Object.keys(settings).length > 0) {
    return await withServer((place) => work(place, folder), { folder, settings }).finally(remove)
  }
  const whole = whenCut(remove)
  return await work({ url: await createDatabase(server) }, folder).finally(() => {
    remove()
    whole()
  })
}

/** Runs work whose benchmarks share a server: `env` is what they need of the environment. */
export async function withSharedServer<Result> (work: (env: NodeJS.ProcessEnv) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-bench-'))
  const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '400' }
  return await withServer(({ url }) => work({ [shared]: url }), { folder, settings }).finally(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
}

type Home = { folder: string, settings: Readonly<Record<string, string>> }

async function withServer<Result> (work: (database: Place) => Promise<Result>, { folder, settings }: Home): Promise<Result> {
  const server = await startEmbedded({ dir: join(folder, 'postgres'), settings })
  const whole = whenCut(() => {
    process.kill(server.pid, 'SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  try {
    return await work(server)
  } finally {
    await server.stop()
    whole()
  }
}

async function createDatabase (server: string): Promise<string> {
  const name = `bench_${randomBytes(4).toString('hex')}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  // The address of a server that listens on a socket is none that URL reads.
  return server.replace(/\/postgres(?=\?|$)/, `/${name}`)
}
