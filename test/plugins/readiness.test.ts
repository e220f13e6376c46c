import { startEmbedded } from '@dispatch/embedded-postgres'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openMetrics } from '../../plugins/metrics/server.ts'
import { contains } from '../support/matching.ts'
import { withClient } from '../support/postgres-server.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startService } from '../support/service.ts'
import { databaseProxy } from '../support/silent-proxy.ts'

const folder = mkdtempSync(join(tmpdir(), 'dispatch-readiness-'))
const server = await startEmbedded({ dir: join(folder, 'postgres') })
t.teardown(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})
const proxy = await databaseProxy(server.url)
t.teardown(proxy.close)
const service = await startService(t, { databaseUrl: proxy.url, config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
const metrics = await openMetrics({ host: '127.0.0.1', port: 0 }, service.app.get('log'))
metrics.show(service.app.get)
t.teardown(metrics.close)

const set = (setting: string): Promise<void> =>
  withClient(server.url, async (client) => {
    await client.query(`alter system ${setting}`)
    await client.query('select pg_reload_conf()')
  })
const becomes = async (status: number): Promise<void> => {
  while ((await fetch(`${service.url}/readyz`)).status !== status) await pause(50)
}
const scrape = async (): Promise<string> => (await fetch(metrics.url)).text()

await becomes(204)
contains(t, await scrape(), '\ndispatch_database_up 1\n')

await t.test('a process is not ready while the server has no room for a file on its disk', async (t) => {
  await set('set temp_file_limit = 0')
  await becomes(503)
  contains(t, await scrape(), '\ndispatch_database_up 0\n')
  await set('reset temp_file_limit')
  await becomes(204)
})

await t.test('a process is not ready while commits wait for a standby that is away, and holds two connections of it at most', async (t) => {
  await set('set synchronous_standby_names = \'away\'')
  await becomes(503)
  contains(t, await scrape(), '\ndispatch_database_up 0\n')
  await becomes(503)
  await withClient(server.url, async (client) => {
    const { rows } = await client.query('select from pg_stat_activity where wait_event = \'SyncRep\' and query like \'do $$%\'')
    t.ok(rows.length === 1 || rows.length === 2, String(rows.length))
  })
  await set('reset synchronous_standby_names')
  await becomes(204)
})

await t.test('metrics are told while the database is silent', async (t) => {
  proxy.silence()
  await becomes(503)
  const text = await scrape()
  contains(t, text, '\ndispatch_database_up 0\n')
  contains(t, text, '\ndispatch_runs 0\n')
  proxy.speak()
  await becomes(204)
  contains(t, await scrape(), '\ndispatch_database_up 1\n')
})

await t.test('a process is ready again before it has given up a connection that leads nowhere', async (t) => {
  const { vital: { open } } = service.app.get('database').connectionCounts()
  t.ok(open > 0)
  proxy.lose()
  await becomes(503)
  await becomes(204)
  const { vital } = service.app.get('database').connectionCounts()
  t.ok(vital.open - vital.idle >= 1, 'the first probe still waits')
  proxy.cut()
})
