import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { freePort } from '../../scripts/free-port.ts'
import { contains, has } from '../support/matching.ts'
import { testDatabase } from '../support/postgres.ts'
import { seededEnvironment } from '../support/service.ts'
import { silentProxy } from '../support/silent-proxy.ts'
import { dataDirectory, send, startProcess } from './support/process.ts'

void t.test('a service that starts without its database waits for it, says so, and can be stopped meanwhile', async (t) => {
  const seeded = await seededEnvironment(t)
  const proxy = await silentProxy(t, seeded.DATABASE_URL)
  proxy.silence()
  const env = { ...seeded, DATABASE_URL: proxy.url }
  const [port, metrics] = [await freePort(), await freePort()]
  const [one, other] = [
    startProcess(t, { dataDirectory: dataDirectory(t), env: { ...env, PORT: String(port), DISPATCH_METRICS_PORT: String(metrics) } }),
    startProcess(t, { dataDirectory: dataDirectory(t), env })
  ]
  for (const service of [one, other]) while (!service.stdout().includes('waiting for the database')) await pause(20)

  process.kill(other.pid, 'SIGTERM')
  t.equal(await other.ended, 0)
  t.equal(other.stderr(), '')

  const early = `http://127.0.0.1:${port}`
  const statusOf = async (path: string): Promise<number> => (await fetch(early + path)).status
  t.equal(await statusOf('/livez'), 204, 'a probe does not take it for one that hangs')
  t.equal(await statusOf('/readyz'), 503)
  has(t, await send(early, 'GET', '/api/v1/credits'), { status: 503, body: { error: 'service_unavailable', requestId: String } })
  contains(t, await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(), '\ndispatch_database_up 0\n')

  proxy.speak()
  await one.ready()
  t.equal(one.url(), early)
  t.equal((await send(one.url(), 'GET', '/api/v1/credits')).status, 200)
  t.equal(one.stdout().split('waiting for the database').length - 1, 1, 'it says so once in ten seconds')
  process.kill(one.pid, 'SIGTERM')
  t.equal(await one.ended, 0)
})

void t.test('a service whose database goes away while it starts begins anew when it is back, and says so', async (t) => {
  const { url } = await testDatabase(t)
  const proxy = await silentProxy(t, url)
  // What holds the lock of the migrations keeps the start where its database can be taken from it.
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('select pg_advisory_lock(hashtextextended(\'document-dispatch\', 0))')
  const waiters = async (): Promise<number> => {
    const { rows } = await holder.query<{ count: number }>(
      'select count(*)::int from pg_locks where locktype = \'advisory\' and not granted ' +
        'and database = (select oid from pg_database where datname = current_database())'
    )
    return rows[0]?.count ?? 0
  }

  const service = startProcess(t, {
    dataDirectory: dataDirectory(t),
    env: { DATABASE_URL: proxy.url, DISPATCH_MASTER_KEY: randomBytes(32).toString('base64') }
  })
  while (await waiters() === 0) await pause(20)
  proxy.cut()
  while (!service.stdout().includes('the database went away while the service started: it starts again')) await pause(20)
  await holder.query('select pg_advisory_unlock_all()')

  await service.ready()
  t.equal((await send(service.url(), 'GET', '/api/v1/credits')).status, 200)
  t.equal(service.stderr(), '')
  process.kill(service.pid, 'SIGTERM')
  t.equal(await service.ended, 0)
})
