import t from 'tap'
import { has, lacks } from '../support/matching.ts'
import { withClient } from '../support/postgres-server.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, seededDatabase, startService } from '../support/service.ts'
import { outageOf } from './support/outage.ts'

const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, replacements: { renderer: quickRenderer } })
const get = async (path: string): Promise<number> => (await service.send('GET', path, {}, null)).status

await t.test('GET /healthz needs credentials', async (t) => {
  has(t, await service.send('GET', '/healthz'), { status: 200, body: { status: 'ok' } })
  has(t, await service.send('GET', '/healthz', {}, null), { status: 401, body: { error: 'unauthorized' } })
  t.equal((await service.send('GET', '/healthz', {}, { email: 'demo@example.com', password: 'wrong' })).status, 401)
})

await t.test('a clock that is not that of the database is told by /healthz, and from a second on in the log', async (t) => {
  for (const [ahead, reported] of [[5000, 1], [-5000, 1], [0, 0]] as const) {
    const skewed = await startService(t, {
      databaseUrl,
      replacements: { renderer: quickRenderer, now: () => new Date(Date.now() + ahead) },
      time: () => new Date()
    })
    const { body: { clockSkew } } = await skewed.send('GET', '/healthz')
    t.ok(Math.abs(clockSkew * 1000 + ahead) < 900, `${clockSkew} s`)
    t.equal(skewed.log.filter((line) => line.includes('"level":40') && line.includes('the clock of this process differs')).length, reported)
  }
})

await t.test('/livez and /readyz need none and say nothing', async (t) => {
  for (const path of ['/livez', '/readyz']) has(t, await service.send('GET', path, {}, null), { status: 204, body: '' })
})

await t.test('/ leads a browser to the console, and tells a program where everything is', async (t) => {
  const at = (accept: string): Promise<Response> => fetch(service.url, { redirect: 'manual', headers: { accept } })
  const led = await at('text/html,application/xhtml+xml,*/*;q=0.8')
  t.same([led.status, led.headers.get('location')], [302, '/console'])
  const reported = await at('*/*')
  t.same([reported.status, await reported.json()], [200, { console: '/console', documentation: '/docs', openapi: '/openapi.json' }])
})

await t.test('while the database is away the service lives but is not ready, and is again when it is back', async (t) => {
  const outage = outageOf(databaseUrl)
  await outage.begin()
  t.equal(await get('/readyz'), 503)
  t.equal(await get('/livez'), 204)
  const { status, headers, body } = await service.send('GET', '/api/v1/credits')
  has(t, { status, retryAfter: headers.get('retry-after'), body }, {
    status: 503,
    retryAfter: '5',
    body: { error: 'service_unavailable', message: String }
  })
  lacks(t, JSON.stringify(body), /dispatch_test|connection/)

  await outage.end()
  t.equal(await get('/readyz'), 204)
  t.equal((await service.send('GET', '/api/v1/credits')).status, 200)
})

await t.test('while the database takes no changes the service reads but is not ready; what would change something is a 503', async (t) => {
  const readOnly = (setting: 'on' | 'off'): Promise<void> =>
    withClient(databaseUrl, async (client) => {
      await client.query('set transaction_read_only = off; set default_transaction_read_only = off')
      const { rows: [database] } = await client.query<{ name: string }>('select current_database() as name')
      await client.query(`alter database ${database?.name} set default_transaction_read_only = ${setting}`)
      // What is connected keeps what it began with.
      if (setting === 'on') {
        await client.query(
          'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
        )
      }
    })
  await readOnly('on')
  t.equal(await get('/readyz'), 503)
  t.equal((await service.send('GET', '/api/v1/credits')).status, 200)
  const { status, headers, body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
  has(t, { status, retryAfter: headers.get('retry-after'), body }, { status: 503, retryAfter: '5', body: { error: 'service_unavailable' } })
  t.notOk('dispatchId' in body, 'nothing was recorded')

  await readOnly('off')
  t.equal((await service.send('POST', '/api/invoicing', { body: invoiceRequest() })).status, 200,
    'connections that took no changes are replaced')
  t.equal(await get('/readyz'), 204)
})
