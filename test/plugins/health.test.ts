import t from 'tap'
import { seededDatabase, startService } from '../support/service.ts'
import { outageOf } from './support/outage.ts'
import { quickRenderer } from './support/parts.ts'

const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, parts: { renderer: quickRenderer } })
const get = async (path: string): Promise<number> => (await service.send('GET', path, {}, null)).status

await t.test('GET /healthz needs credentials', async (t) => {
  t.match(await service.send('GET', '/healthz'), { status: 200, body: { status: 'ok' } })
  t.match(await service.send('GET', '/healthz', {}, null), { status: 401, body: { error: 'unauthorized' } })
  t.equal((await service.send('GET', '/healthz', {}, { email: 'demo@example.com', password: 'wrong' })).status, 401)
})

await t.test('/livez and /readyz need none and say nothing', async (t) => {
  for (const path of ['/livez', '/readyz']) t.match(await service.send('GET', path, {}, null), { status: 204, body: '' })
})

await t.test('while the database is away the service lives but is not ready, and is again when it is back', async (t) => {
  const outage = outageOf(databaseUrl)
  await outage.begin()
  t.equal(await get('/readyz'), 503)
  t.equal(await get('/livez'), 204)
  const { status, body } = await service.send('GET', '/api/v1/credits')
  t.equal(status, 500)
  t.match(body, { error: 'internal_error', message: String })
  t.notMatch(JSON.stringify(body), /dispatch_test|connection/)

  await outage.end()
  t.equal(await get('/readyz'), 204)
  t.equal((await service.send('GET', '/api/v1/credits')).status, 200)
})
