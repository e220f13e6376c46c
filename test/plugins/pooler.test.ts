import pg from 'pg'
import t from 'tap'
import { has } from '../support/matching.ts'
import { startPgbouncer, withoutPgbouncer as skip } from '../support/pgbouncer.ts'
import { invoiceRequest, operator, seededDatabase, startService } from '../support/service.ts'

/** Far fewer than two processes have by themselves. */
const connections = 6

await t.test('two processes share a few connections of the server through PgBouncer', { skip }, async (t) => {
  const direct = await seededDatabase(t)
  const databaseUrl = await startPgbouncer(t, direct, connections)
  const config = { databaseDirectUrl: direct, limits: { auth: 0, dispatch: 1_000, validation: 0, requests: 0 } }
  const [one, other] = [await startService(t, { databaseUrl, config }), await startService(t, { databaseUrl, config })]

  await t.test('dispatches, at once and queued, many at the same time', async (t) => {
    const paths = ['/api/invoicing', '/api/invoicing', '/api/invoicing?async=true', '/api/invoicing?async=true']
    const answers = await Promise.all(
      Array.from({ length: 40 },
        (_, index) => (index % 2 === 0 ? one : other).send('POST', paths[index % 4] ?? '', { body: invoiceRequest() }))
    )
    t.same(answers.map(({ status }) => status), answers.map(() => 200))
    for (const { body } of answers) {
      for (;;) {
        const { body: { status } } = await other.send('GET', `/api/v1/dispatches/${body.dispatchId}`)
        if (status === 'queued' || status === 'running') continue
        t.equal(status, 'succeeded')
        break
      }
    }
    has(t, await one.send('GET', '/api/v1/dispatches?service=invoicing&limit=100'), { status: 200 })
    has(t, (await one.send('GET', '/api/v1/credits')).body, { balance: 60, held: 0 })
  })

  await t.test('a change in one process holds for the next request of the other', async (t) => {
    const { body } = await one.send('POST', '/api/v1/keys', { body: { name: 'one', mode: 'live' } })
    t.ok((await other.send('GET', '/api/v1/keys')).body.data.some(({ id }: { id: string }) => id === body.id))
    has(t, await other.send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }), { status: 200 })
    has(t, await one.send('GET', '/api/v1/companies', {}, operator), { status: 200 })
  })

  await t.test('limits of rate are those of all processes', async (t) => {
    const limited = await startService(t, {
      databaseUrl,
      config: { ...config, limits: { auth: 0, dispatch: 3, validation: 0, requests: 0 } }
    })
    const again = await startService(t, {
      databaseUrl,
      config: { ...config, limits: { auth: 0, dispatch: 3, validation: 0, requests: 0 } }
    })
    const statuses = []
    for (const service of [limited, again, limited, again]) {
      statuses.push((await service.send('POST', '/api/invoicing', { body: invoiceRequest() }, operator)).status)
    }
    t.equal(statuses.at(-1), 429)
    t.ok(!statuses.slice(0, 3).includes(429))
  })

  await t.test('no transaction waits for a lock for ever, and none is left open', async (t) => {
    const client = new pg.Client({ connectionString: direct })
    await client.connect()
    const { rows: [found] } = await client.query('select count(*)::int as connections from pg_stat_activity ' +
      'where datname = current_database() and application_name not like \'%queue%\' and pid <> pg_backend_pid()')
    t.ok(found.connections <= connections, String(found.connections))
    await client.query('begin')
    await client.query('select from credits for update')
    const refused = await one.send('POST', '/api/invoicing', { body: invoiceRequest() })
    await client.query('rollback')
    has(t, refused, { status: 503, body: { error: 'service_unavailable' } })
    t.equal((await one.send('POST', '/api/invoicing', { body: invoiceRequest() })).status, 200)
    await client.end()
  })
})
