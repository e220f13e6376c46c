import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Test } from 'tap'
import { freePort } from '../../../scripts/free-port.ts'
import { isRoot } from './process.ts'

/** The programs of a PostgreSQL that this machine has besides the embedded one, where Debian puts them. */
export const installed = globSync('/usr/lib/postgresql/{15,16,17,18}/bin').sort().at(0)

const nobody = isRoot ? { uid: 65534, gid: 65534 } : {}
const administrator = { name: 'postgres', password: 'administrator' }

/** A server of the machine's own PostgreSQL on a TCP port, which asks for passwords. */
export type Postgresql = {
  url: (user: string, password: string, database: string) => string
  /** Runs SQL as the administrator. */
  run: (sql: string, database?: string) => Promise<void>
  /** Writes a file that only the server can read; its path. */
  keep: (name: string, text: string) => string
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** Makes a server in a temporary folder and starts it; the test's end removes it. */
export async function startPostgresql (t: Test, bin: string): Promise<Postgresql> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-postgresql-'))
  const data = join(folder, 'data')
  chmodSync(folder, 0o711)
  writeFileSync(join(folder, 'password'), administrator.password, { mode: 0o644 })
  mkdirSync(data)
  if (nobody.uid !== undefined) chownSync(data, nobody.uid, nobody.gid)
  const options = ['-D', data, '-U', administrator.name, '--pwfile', join(folder, 'password'), '--auth', 'scram-sha-256', '--no-sync']
  const { status, stderr } = spawnSync(join(bin, 'initdb'), options, { ...nobody, cwd: '/', encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  const port = await freePort()
  const url: Postgresql['url'] = (user, password, database) => `postgres://${user}:${password}@localhost:${port}/${database}`
  const run: Postgresql['run'] = async (sql, database = 'postgres') => {
    const client = new pg.Client({ connectionString: url(administrator.name, administrator.password, database) })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }

  let server: ChildProcess | undefined
  async function start (): Promise<void> {
    server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), '-c', 'listen_addresses=localhost', '-k', '', '-c', 'fsync=off'],
      { ...nobody, cwd: '/', stdio: 'ignore' })
    while (server.exitCode === null && !await run('select 1').then(() => true, () => false)) await pause(50)
  }
  async function stop (): Promise<void> {
    if (server?.exitCode !== null) return
    const closed = once(server, 'exit')
    server.kill('SIGINT')
    await closed
  }
  t.teardown(async () => {
    await stop()
    rmSync(folder, { recursive: true })
  })
  await start()
  function keep (name: string, text: string): string {
    const file = join(folder, name)
    writeFileSync(file, text, { mode: 0o600 })
    if (nobody.uid !== undefined) chownSync(file, nobody.uid, nobody.gid)
    return file
  }
  return { url, run, keep, start, stop }
}
