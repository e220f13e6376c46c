import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Embedded, startEmbedded } from '../../core/packages/embedded-postgres/embedded.ts'
import { withClient } from './postgres-server.ts'

export type Replicated = { primary: Embedded, replica: Embedded }

/** A server and a streaming replica of it, both gone when the test ends. `prepare` is done on the primary before it is copied. */
export async function startReplicated (t: Test, prepare: (databaseUrl: string) => Promise<void>): Promise<Replicated> {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-replica-'))
  const hba = join(folder, 'hba.conf')
  writeFileSync(hba, 'local all all trust\nlocal replication all trust\n', { mode: 0o644 })
  const settings = { fsync: 'off', hba_file: hba, wal_keep_size: '256MB' }
  const [dir, copy] = [join(folder, 'primary'), join(folder, 'replica')]
  const primary = await startEmbedded({ dir, settings })
  t.teardown(() => primary.stop())
  await prepare(primary.url)
  mkdirSync(copy, { mode: 0o700 })
  await withClient(primary.url, async (client) => {
    await client.query('select pg_backup_start(\'copy\', true)')
    const unwanted = new Set([join(dir, 'data/postmaster.pid'), join(dir, 'data/postmaster.opts')])
    cpSync(join(dir, 'data'), join(copy, 'data'), { recursive: true, filter: (path) => !unwanted.has(path) })
    cpSync(join(dir, 'password'), join(copy, 'password'))
    const { rows: [stopped] } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(copy, 'data/backup_label'), stopped?.labelfile ?? '')
  })
  writeFileSync(join(copy, 'data/standby.signal'), '')
  const conninfo = `host=${primary.socketDir} port=${primary.port} user=dispatch`
  const replica = await startEmbedded({ dir: copy, settings: { ...settings, primary_conninfo: conninfo } })
  t.teardown(async () => {
    await replica.stop()
    await primary.stop()
    rmSync(folder, { recursive: true })
  })
  return { primary, replica }
}
