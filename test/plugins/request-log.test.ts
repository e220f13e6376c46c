import { addLogCounts, createMeter, createRequestLog } from '@dispatch/accounts'
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { insertRequests } from '../../core/packages/accounts/store/request-log.ts'
import { firstIdOf, idAt, timeOf } from '../../core/packages/database/id-times.ts'
import { DatabaseUnavailable } from '../../core/packages/database/unavailable.ts'
import { until } from '../core/work/support.ts'
import { memoryLog } from '../fixtures/providers/call.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, seededDatabase, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, config: { keepsRequestLog: true }, replacements: { renderer: quickRenderer } })
const { send, app } = service
const { owner } = app.get('database')
const acme = await service.company('acme')
const read = (query = '', login = acme.admin): Promise<Answer> => send('GET', `/api/v1/company/requests${query}`, {}, login)
const entriesOf = async (query: string): Promise<any[]> => (await read(query)).body.data
const entryOf = async (requestId: string): Promise<any> => {
  await until('it is written', async () => (await entriesOf(`?requestId=${requestId}`)).length > 0)
  return (await entriesOf(`?requestId=${requestId}`))[0]
}
const by = (requestId: string) => ({ 'x-request-id': requestId })

await t.test('a request is found by its id, with what it was and who made it, and without what is secret', async (t) => {
  const { body: { id: keyId, key } } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'test' } }, acme.admin)
  await send('POST', '/api/invoicing?canary=query', {
    body: invoiceRequest({ customer: { name: 'canary-in-a-body' } }),
    headers: { ...by('shop-1'), authorization: `Bearer ${String(key)}` }
  }, null)
  const entry = await entryOf('shop-1')
  has(t, entry, {
    at: /Z$/,
    requestId: 'shop-1',
    method: 'POST',
    route: '/api/invoicing',
    path: '/api/invoicing',
    milliseconds: Number,
    author: { userId: Number, keyId },
    address: '127.0.0.1'
  })
  t.ok(Math.abs(new Date(entry.at as string).getTime() - Date.now()) < 60_000)
  await send('GET', '/api/v1/dispatches/none', { headers: by('missing-1') }, acme.admin)
  has(t, await entryOf('missing-1'), { route: '/api/v1/dispatches/:id', path: '/api/v1/dispatches/none', status: 404, error: 'not_found' })
  const { rows } = await sql<{ row: string }>`select to_jsonb(request_log)::text as row from request_log`.execute(owner)
  lacks(t, rows.map(({ row }) => row).join('\n'), /canary|bearer|dk_test_/i)
})

await t.test('tests are a list of their own, and the console follows its switch', async (t) => {
  const shown = async (test: boolean): Promise<string[]> =>
    (await entriesOf(`?test=${String(test)}&limit=100`)).map(({ requestId }) => requestId as string)
  await send('POST', '/api/invoicing?sandbox=true', { body: invoiceRequest({}), headers: by('sandbox-1') }, acme.admin)
  await entryOf('sandbox-1')
  t.same((await shown(true)).filter((id) => id.endsWith('-1')), ['sandbox-1', 'shop-1'])
  t.same((await shown(false)).filter((id) => id.endsWith('-1')), ['missing-1'])
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(acme.admin)
  for (const [path, of, not] of [['/test', 'shop-1', 'missing-1'], ['', 'missing-1', 'shop-1']] as const) {
    const listed = async (id: string): Promise<string> => (await open(`${path}/developers/requests?requestId=${id}`, cookie)).body as string
    contains(t, await listed(of), `<code>${of}</code>`)
    lacks(t, await listed(not), `<code>${not}</code>`)
  }
})

await t.test('each filter selects, and pages follow one another', async (t) => {
  for (let index = 0; index < 5; index++) await send('GET', '/api/v1/credits', { headers: by(`many-${String(index)}`) }, acme.admin)
  await send('POST', '/api/v1/templates', { body: {}, headers: by('wrong-1') }, acme.admin)
  const { at } = await entryOf('wrong-1')
  const ids = async (query: string): Promise<string[]> => (await entriesOf(query)).map(({ requestId }) => requestId as string)
  t.strictSame(await ids('?route=/api/v1/credits'), ['many-4', 'many-3', 'many-2', 'many-1', 'many-0'])
  t.ok((await ids('?status=4xx')).includes('wrong-1'))
  t.notOk((await ids('?status=2xx&limit=100')).includes('wrong-1'))
  t.strictSame(await ids(`?from=${at as string}&status=4xx`), ['wrong-1'])
  t.notOk((await ids(`?to=${at as string}&limit=100`)).includes('wrong-1'))
  t.strictSame(await ids('?keyId=00000000-0000-7000-8000-000000000000'), [])
  const first = (await read('?route=/api/v1/credits&limit=3')).body
  const second = (await read(`?route=/api/v1/credits&limit=3&cursor=${first.nextCursor as string}`)).body
  t.strictSame([...first.data, ...second.data].map(({ requestId }: any) => requestId), await ids('?route=/api/v1/credits'))
  t.equal(second.nextCursor, null)
  t.equal((await read('?status=404')).status, 400)
})

await t.test('only admins read it, of their own company', async (t) => {
  const { admin } = await service.company('other')
  await send('GET', '/api/v1/credits', { headers: by('theirs-1') }, admin)
  await until('it is written', async () => (await read('?requestId=theirs-1', admin)).body.data.length === 1)
  t.strictSame(await entriesOf('?requestId=theirs-1'), [])
  t.equal((await read('', acme.member)).status, 403)
})

await t.test('a request without valid credentials is no company\'s, and what a page reads is left out', async (t) => {
  await send('GET', '/api/v1/credits', { headers: by('stranger-1') }, null)
  const { confirm, open, post, signIn } = openConsole(service)
  const cookie = await signIn(acme.admin)
  await open('/developers', cookie, by('page-1'))
  await confirm('/developers/secret', { newest: '' }, cookie, { ...by('page-2'), 'sec-fetch-site': 'same-origin' })
  has(t, await entryOf('page-2'), { method: 'POST', route: '/api/v1/company/callback-secret' })
  for (const action of ['check', 'preview']) {
    const form = { ':template': '20', ':written': 'json', json: '{}' }
    await post(`/send/${action}`, form, cookie, { ...by('page-1'), 'sec-fetch-site': 'same-origin' })
  }
  const { body } = await open('/developers/requests?requestId=page-2', cookie)
  contains(t, body, '/api/v1/company/callback-secret')
  lacks(t, (await open('/developers/requests?status=5xx', cookie)).body, '/api/v1/company/callback-secret')
  t.equal((await open('/developers/requests?from=never', cookie)).status, 400)
  t.equal((await open('/developers/requests', await signIn(acme.member))).status, 403)
  const { rows } = await sql`select from request_log where request_id in ('stranger-1', 'page-1')`.execute(owner)
  t.equal(rows.length, 0)
})

await t.test('what waits is written when the service stops; with the log off nothing is', async (t) => {
  const config = { keepsRequestLog: true, runsWorker: false }
  const stopping = await startService(t, { databaseUrl, config, replacements: { renderer: quickRenderer } })
  await stopping.send('GET', '/api/v1/credits', { headers: by('last-1') })
  await stopping.app.get('requestLog').close()
  t.equal((await sql`select from request_log where request_id = 'last-1'`.execute(owner)).rows.length, 1)
  const off = await startService(t, { databaseUrl, config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
  await off.send('GET', '/api/v1/credits', { headers: by('off-1') })
  await off.app.get('requestLog').close()
  t.equal((await sql`select from request_log where request_id = 'off-1'`.execute(owner)).rows.length, 0)
})

const request = (requestId: string) => ({
  companyId: 2,
  userId: 2,
  requestId,
  method: 'GET',
  route: '/',
  path: '/',
  status: 200,
  error: null,
  milliseconds: 1,
  address: '',
  test: false,
  at: new Date()
})

await t.test('it writes a full batch at once, a few after a pause, and again what could not be written', async (t) => {
  const [written, log]: [string[][], ReturnType<typeof memoryLog>] = [[], memoryLog()]
  let away = false
  const requestLog = createRequestLog({
    log,
    batch: 3,
    max: 5,
    pause: 20,
    write: (rows) => {
      if (away) return Promise.reject(new DatabaseUnavailable('away'))
      written.push(rows.map((row) => row.request_id))
      return Promise.resolve()
    }
  })
  for (const id of ['1', '2', '3', '4']) requestLog.add(request(id))
  t.strictSame(written, [['1', '2', '3']])
  await pause(60)
  t.strictSame(written.slice(1), [['4']])
  away = true
  for (const id of ['5', '6', '7', '8', '9', '10', '11']) requestLog.add(request(id))
  await pause(60)
  away = false
  await requestLog.close()
  t.strictSame(written.slice(2).flat(), ['5', '6', '7', '8', '9'], 'in their order, no more than may wait')
  has(t, log.lines.at(-1), { level: 'warn', facts: { lost: 2 } })
})

await t.test('ids grow with their time, and tell it', async (t) => {
  const time = new Date('2026-11-23T12:00:00.123Z')
  const id = idAt(time.getTime())
  t.strictSame(timeOf(id), time)
  t.ok(firstIdOf(time) <= id && id < firstIdOf(new Date(time.getTime() + 1)))
  await insertRequests(app.get('database'), [])
  t.end()
})

await t.test('a company fills its share of the log alone: what comes beyond it is counted, and what others do is kept', async (t) => {
  const database = app.get('database')
  const [loud, quiet] = [await service.company('loud'), await service.company('quiet')]
  const warned: unknown[] = []
  const warn = (facts: unknown): number => warned.push(facts)
  const now = (): Date => new Date()
  const log = createRequestLog({ write: (rows) => insertRequests(database, rows), log: { warn } }, {
    meter: createMeter(database, { name: 'test-log', quota: 100_000, window: 86_400 }, { now, onError: warn }),
    write: (counts) => addLogCounts(database, counts),
    log: { warn }
  })
  const note = (companyId: number, requestId: string, path: string): void =>
    log.add({
      companyId,
      userId: 1,
      requestId,
      method: 'GET',
      route: 'none',
      path,
      status: 404,
      error: 'not_found',
      milliseconds: 1,
      address: '192.0.2.1',
      test: false,
      at: now()
    })
  for (let index = 0; index < 5_000; index++) note(loud.companyId, `loud-${String(index)}`, 'z'.repeat(300))
  note(quiet.companyId, 'quiet-1', '/')
  await log.close()
  const rowsOf = async (companyId: number): Promise<number> =>
    (await sql`select from request_log where company_id = ${companyId} and route = 'none'`.execute(owner)).rows.length
  const kept = await rowsOf(loud.companyId)
  t.ok(kept > 100 && kept <= 170, `${String(kept)} are kept`)
  t.equal(await rowsOf(quiet.companyId), 1)
  const { body } = await read('', loud.admin)
  t.equal(body.counted.reduce((sum: number, { count }: any) => sum + (count as number), 0), 5_000 - kept)
  has(t, body.counted, [{ log: 'requests', subject: 'GET none', result: '404', from: /:00:00.000Z$/ }])
  t.same((await read('', quiet.admin)).body.counted, [])
  t.same((await read(`?cursor=${String(body.data[0].id)}`, loud.admin)).body.counted, [], 'further pages repeat no counts')
  const { open, signIn } = openConsole(service)
  contains(t, (await open('/developers/requests', await signIn(loud.admin))).body, `${String(5_000 - kept)} requests are not listed`)
  t.same(warned, [])
})
