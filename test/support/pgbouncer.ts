import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Test } from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { root } from '../e2e/support/process.ts'

const program = '/usr/sbin/pgbouncer'

/** Why a test of PgBouncer is skipped: false where it is installed. */
export const withoutPgbouncer = existsSync(program) ? false : 'PgBouncer is not installed'

/**
 * PgBouncer before the server of a database, as `scripts/packaging/pgbouncer.ini` has it, sharing `connections` of it between transactions.
 * @returns the address of the database through it.
 */
export async function startPgbouncer (t: Test, databaseUrl: string, connections: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-pgbouncer-'))
  chmodSync(folder, 0o755)
  const [url, port] = [new URL(databaseUrl.replace('@/', '@localhost/')), await freePort()]
  const server = { host: url.searchParams.get('host') ?? url.hostname, port: url.searchParams.get('port') ?? (url.port || '5432') }
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'userlist.txt')]
  writeFileSync(users, `"${decodeURIComponent(url.username)}" "${decodeURIComponent(url.password)}"\n`, { mode: 0o644 })
  const changes = {
    dispatch: `host=${server.host} port=${server.port} dbname=${url.pathname.slice(1)}`,
    listen_port: port,
    auth_file: users,
    default_pool_size: connections
  }
  writeFileSync(file,
    Object.entries(changes).reduce((text, [name, value]) => text.replace(new RegExp(`^${name} = .*`, 'm'), `${name} = ${value}`),
      readFileSync(join(root, 'scripts/packaging/pgbouncer.ini'), 'utf8')), { mode: 0o644 })
  // It refuses to run as root.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawn(program, ['-q', file], { ...nobody, stdio: 'ignore' })
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
    rmSync(folder, { recursive: true })
  })
  const through = `postgres://${url.username}:${url.password}@127.0.0.1:${port}/dispatch`
  while (!await answers(through)) {
    if (child.exitCode !== null) throw new Error('PgBouncer did not start.')
    await pause(50)
  }
  return through
}

async function answers (connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString })
  const answered = await client.connect().then(() => client.query('select 1')).then(() => true, () => false)
  await client.end()
  return answered
}
