import { sql } from 'kysely'
import { join } from 'node:path'
import t from 'tap'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { pricedMeasures } from '../service/prices.ts'
import { quantile } from '../service/rows.ts'
import { createUsage } from '../service/usage.ts'
import { countHours } from '../store/count.ts'
import { readUsage } from '../store/read.ts'

// Nobody else counts meanwhile.
const service = await startService(t, {
  config: { runsWorker: false, dataKeys: { folder: join(t.testdir(), 'keys') } },
  replacements: { renderer: quickRenderer }
})
const { app, send } = service
const database = app.get('database')
const usage = createUsage({ database, retentionDays: 90 })
const path = '/api/v1/usage'

const { admin, member, companyId } = await service.company('acme')
const { admin: other } = await service.company('other')
for (const login of [admin, other]) {
  for (const name of ['sms', 'email']) {
    await send('PUT', `/api/v1/company/defaults/${name}`, { body: { providerName: 'simulator' } }, login)
  }
}
await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['demo@example.com'] } } }, admin)
const refused = '+15005550001'
const text = (message: string, more: object = {}, phoneNumber = '+33612345678'): object => ({ sms: { phoneNumber, message }, ...more })
const key = (await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, admin)).body

/** What was used, once it is counted. */
async function counted (query: string, login: Login = admin): Promise<any[]> {
  await usage.count()
  return (await send('GET', `${path}?${query}`, {}, login)).body.data
}
const again = sql`update usage_marks set settled = 0, newest = 0, marked_at = '-infinity'`

await t.test('dispatches are counted by service, provider, user, key and metadata, with what they came to', async (t) => {
  t.equal((await send('POST', '/api/sms', { body: text('Hello', { metadata: { team: 'red' } }) }, admin)).status, 200)
  t.equal((await send('POST', '/api/sms', { body: text('x'.repeat(200), { metadata: { team: 'blue' } }) }, admin)).status, 200)
  t.equal((await send('POST', '/api/sms', { body: text('Hello', {}, refused) }, admin)).status, 422)
  t.equal((await send('POST', '/api/invoicing', { body: invoiceRequest() }, member)).status, 200)
  const sent: Answer = await send('POST', '/api/sms', { body: text('By a key'), headers: { authorization: `Bearer ${key.key}` } }, null)
  t.equal(sent.status, 200)
  const rows = await counted('by=service,provider')
  has(t, rows, [
    {
      service: 'sms',
      provider: 'simulator',
      dispatches: 4,
      accepted: 3,
      failed: 1,
      parts: 4,
      credits: 0,
      failures: { provider_error: 1 }
    },
    { service: 'invoicing', provider: 'simulator', dispatches: 1, accepted: 1, failed: 0, pages: 1, credits: 1, failures: {} }
  ])
  t.ok(rows[0].latency.p50 <= rows[0].latency.p95)
  has(t, (await send('GET', `${path}?by=user`, {}, admin)).body.data.map(({ dispatches }: any) => dispatches), [4, 1])
  has(t, (await send('GET', `${path}?by=key`, {}, admin)).body.data, [{ keyId: null, dispatches: 4 }, { keyId: key.id, dispatches: 1 }])
  has(t, (await send('GET', `${path}?by=service,metadata.team&service=sms`, {}, admin)).body.data, [
    { metadata: { team: null }, dispatches: 2, accepted: 1, failed: 1, parts: 1 },
    { metadata: { team: 'blue' }, dispatches: 1, parts: 2 },
    { metadata: { team: 'red' }, dispatches: 1, parts: 1 }
  ])
  has(t, (await send('GET', `${path}?per=month`, {}, admin)).body, {
    leftOut: 0,
    data: [{ at: `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`, dispatches: 5 }]
  })
  const file = await send('GET', `${path}/export?by=service`, {}, admin)
  t.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8')
  matches(t, file.body, /^service,dispatches,accepted,failed,parts,pages,credits,p50,p95,failed provider_error[\w, ]*\r\n/)
  matches(t, file.body, /\nsms,4,3,1,4,0,0,\d+,\d+,1/)
  const tests = await send('GET', `${path}?test=true`, {}, admin)
  t.same(tests.body.data, [])
})

await t.test('a chain counts once, and once for each of its services where they are told apart', async (t) => {
  const chained = invoiceRequest({}, { sms: { phoneNumber: '+33612345678', message: 'Your invoice' } })
  t.equal((await send('POST', '/api/invoicing/sms', { body: chained }, admin)).status, 200)
  has(t, await counted(''), [{ dispatches: 6 }])
  has(t, (await send('GET', `${path}?by=service`, {}, admin)).body.data, [
    { service: 'sms', dispatches: 5, accepted: 4, parts: 5 },
    { service: 'invoicing', dispatches: 2, accepted: 2, credits: 2 }
  ])
})

await t.test('whatever is counted again counts once: the rows of an hour are made anew', async (t) => {
  const before = await counted('by=service,user,key')
  await sql`insert into usage_hours select company_id, hour, service, provider, user_id, key, test, measure, name || 'x', 7
    from usage_hours`.execute(database.owner)
  await again.execute(database.owner)
  await Promise.all([usage.count(), usage.count(), usage.count()])
  t.same(await counted('by=service,user,key'), before)
})

await t.test('what is scheduled counts in the hour in which it is due, and moves with it', async (t) => {
  const headers = { 'x-api-version': '1.1.0' }
  const at = (hours: number): string => new Date(Math.floor(Date.now() / 3_600_000 + hours) * 3_600_000).toISOString()
  const hours = async (): Promise<string[]> => {
    await usage.count()
    const { rows } = await sql<{ hour: Date }>`select hour from usage_hours where measure = 'begun' and hour > now()`.execute(
      database.owner
    )
    return rows.map(({ hour }) => hour.toISOString())
  }
  const { body: { dispatchId } } = await send('POST', '/api/sms', { body: text('Later', { sendAt: at(3) }), headers }, other)
  t.same(await hours(), [at(3)])
  t.equal((await send('PUT', `/api/v1/dispatches/${String(dispatchId)}/schedule`, { body: { sendAt: at(5) }, headers }, other)).status, 200)
  t.same(await hours(), [at(5)])
  const query = `by=metadata.team&from=${at(4)}&to=${at(6)}`
  has(t, (await send('GET', `${path}?${query}`, {}, other)).body.data, [{ dispatches: 1 }])
  t.equal((await send('POST', `/api/v1/dispatches/${String(dispatchId)}/cancel`, {}, other)).status, 200)
})

await t.test('where the data key of a company is not there, its texts count as one part, and all other companies as ever', async (t) => {
  const { admin: closed, companyId } = await service.company('closed')
  await send('PUT', '/api/v1/company/defaults/sms', { body: { providerName: 'simulator' } }, closed)
  for (const login of [closed, admin]) {
    t.equal((await send('POST', '/api/sms', { body: text('x'.repeat(200), { metadata: { team: 'green' } }) }, login)).status, 200)
  }
  await app.get('dataKeys')?.shred(companyId)
  has(t, await counted('by=service', closed), [{ service: 'sms', dispatches: 1, parts: 1 }])
  has(t, await counted('by=metadata.team', closed), [{ metadata: { team: 'green' }, parts: 1 }])
  const ofOthers = (await counted('by=metadata.team')).find(({ metadata }) => metadata.team === 'green')
  has(t, ofOthers, { dispatches: 1, parts: 2 })
})

await t.test('what is tried again later is counted as it is then', async (t) => {
  const [{ dispatchId }] = (await send('GET', '/api/v1/dispatches?status=failed', {}, admin)).body.data
  const body = { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  t.equal((await send('POST', `/api/v1/dispatches/${dispatchId}/retry`, { body }, admin)).status, 200)
  has(t, await counted('by=service&service=sms'), [{ dispatches: 6, accepted: 6, failed: 0 }])
})

await t.test('an hour whose texts are not kept any more stays as it was counted', async (t) => {
  const before = await counted('by=service')
  t.equal((await send('POST', '/api/sms', { body: text('One more') }, admin)).status, 200)
  await countHours(database, new Date('2999-01-01'))
  t.same((await send('GET', `${path}?by=service`, {}, admin)).body.data, before)
  await send('PUT', '/api/v1/company/retention', { body: { days: 60, services: { sms: 30 } } }, admin)
  await again.execute(database.owner)
  await countHours({ ...database, now: sql`(now() + interval '30 days')` }, new Date(0))
  t.same((await send('GET', `${path}?by=service`, {}, admin)).body.data, before, 'nor where its company keeps them for fewer days')
  await send('PUT', '/api/v1/company/retention', { body: {} }, admin)
})

await t.test('what the vendor tells of e-mails besides is counted once each, and found', async (t) => {
  const mail = { email: { from: 'demo@example.com', to: ['ada@example.com', 'bob@example.com'], subject: 'Hello', body: 'Hello' } }
  const { body: { dispatchId } } = await send('POST', '/api/email', { body: mail }, admin)
  t.equal((await send('POST', '/api/email', { body: mail }, admin)).status, 200)
  // As its events leave it (delivery-events.test.ts).
  await sql`update steps set delivery_status = 'delivered', marks = '{opened,clicked}' where dispatch_id = ${dispatchId}`.execute(
    database.owner
  )
  has(t, await counted('by=service&service=email'), [{ accepted: 2, deliveries: { delivered: 1 }, marks: { opened: 1, clicked: 1 } }])
  const headers = { 'x-api-version': '1.1.0' }
  for (const mark of ['opened', 'clicked']) {
    has(t, (await send('GET', `/api/v1/dispatches?deliveryMark=${mark}`, { headers }, admin)).body.data, [{ dispatchId }])
  }
  t.same((await send('GET', '/api/v1/dispatches?deliveryMark=complained', { headers }, admin)).body.data, [])
  t.equal((await send('GET', '/api/v1/dispatches?deliveryMark=opened', {}, admin)).status, 400, 'from 1.1.0 on')
  const console = openConsole(service)
  const { body } = await console.open('/usage', await console.signIn(admin))
  matches(t, body, /<a href="\/console\/dispatches\?[^"]*service=email[^"]*deliveryMark=opened">opened<\/a>/)
})

await t.test('usage is told in money at the prices of the company; that of a provider goes before that of its service', async (t) => {
  const set = (prices: object[], currency = 'EUR'): Promise<Answer> => send('PUT', `${path}/prices`, { body: { currency, prices } }, admin)
  const costs = async (query: string): Promise<unknown[]> => {
    const { body } = await send('GET', `${path}?${query}`, {}, admin)
    return [body.currency, ...body.data.map(({ cost }: any) => cost)]
  }
  t.same(await costs('by=service&service=invoicing'), [null, null])
  const [{ credits, accepted }] = (await send('GET', `${path}?by=service&service=invoicing`, {}, admin)).body.data
  const [{ parts }] = (await send('GET', `${path}?by=service&service=sms`, {}, admin)).body.data
  t.equal((await set([
    { unit: 'credit', amount: '0.105' },
    { unit: 'dispatch', service: 'invoicing', amount: '1' },
    { unit: 'part', service: 'sms', amount: '1000' },
    { unit: 'part', service: 'sms', providerName: 'simulator', amount: '0.0749' }
  ])).status, 200)
  const [ofInvoices, ofTexts] = [Number(credits) * 0.105 + Number(accepted), Number(parts) * 0.0749]
  t.same(await costs('by=service&service=invoicing'), ['EUR', ofInvoices.toFixed(2)])
  t.same(await costs('service=sms'), ['EUR', ofTexts.toFixed(2)])
  t.same(await costs(''), ['EUR', (ofInvoices + ofTexts).toFixed(2)], 'nothing is told apart by what was not asked for')
  matches(t, (await send('GET', `${path}/export?by=service`, {}, admin)).body, /^service,dispatches,[\w,]*,credits,cost EUR,/)
  const span = { from: new Date(0), to: new Date(Date.now() + 3_600_000) }
  for (const metadata of [undefined, 'team']) {
    const reported = await readUsage(database, { ...span, companyId, by: [], metadata, test: false, priced: pricedMeasures })
    const apart = new Set(reported.filter((one) => one.service !== null || one.provider !== null).map(({ measure }) => measure))
    t.strictSame([...apart].sort(), [...pricedMeasures].sort(), 'only what has prices makes more groups')
    t.ok(reported.length > apart.size)
  }
  has(t, (await send('GET', `${path}?test=true`, {}, admin)).body, { currency: null, data: [] })
  for (const [wrong, code] of [
    [[{ unit: 'page', amount: '1' }], 'unknown_service'],
    [[{ unit: 'credit', service: 'sms', amount: '1' }], 'price_of_credit'],
    [[{ unit: 'credit', amount: '1' }, { unit: 'credit', amount: '2' }], 'duplicate_price']
  ] as const) {
    has(t, (await set([...wrong])).body, { details: [{ code }] })
  }
  has(t, (await set([], 'EUX')).body, { details: [{ code: 'unknown_currency' }] })
  t.equal((await set([{ unit: 'credit', amount: '-1' }])).status, 400)
  const many = Array.from({ length: 501 }, (_, index) => ({ unit: 'part', service: 'sms', providerName: `p${String(index)}`, amount: '1' }))
  t.equal((await set(many)).status, 400, 'at most 500 of them')
  t.equal((await send('PUT', `${path}/prices`, { body: { currency: 'EUR', prices: [] } }, member)).status, 403)
})

await t.test('prices are set on a page, with the providers that were used, and charts are of money then', async (t) => {
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  matches(t, (await console.open('/usage/prices', cookie)).body, /name="of" value="sms simulator"/)
  const form =
    (amount: string): [string, string][] => [['currency', 'chf'], ['credit', '0,25'], ['of', 'sms simulator'], ['amount', amount], ['unit',
      'part'], ['of', 'email simulator'], ['amount', ''], ['unit', 'dispatch']]
  t.equal((await console.post('/usage/prices', form('0,5'), cookie)).status, 303)
  t.same((await send('GET', `${path}/prices`, {}, admin)).body, {
    currency: 'CHF',
    prices: [{ unit: 'credit', amount: '0.25' }, { unit: 'part', service: 'sms', providerName: 'simulator', amount: '0.5' }]
  })
  const { body } = await console.open('/usage', cookie)
  matches(t, body, /<h3>Cost<\/h3><svg class="chart"/)
  matches(t, body, /<h3>Credits<\/h3><svg class="chart"/, 'both are drawn')
  matches(t, body, /<td class="count">CHF.[\d.]+<\/td>/)
  const refused = await console.post('/usage/prices', form('much'), cookie)
  t.equal(refused.status, 400)
  matches(t, refused.body, /value="much"[^>]* aria-invalid="true"/)
  t.equal((await send('PUT', `${path}/prices`, { body: { currency: 'EUR', prices: [] } }, admin)).status, 200)
})

await t.test('a company sees its own usage alone, and who may not use every service sees none', async (t) => {
  t.same((await send('GET', `${path}?by=service`, {}, other)).body.data, [])
  const { admin: bounded } = await service.company('bounded', { services: ['sms'] })
  t.equal((await send('GET', path, {}, bounded)).status, 403)
})

await t.test('what is asked for is bounded: 400 days, 31 of them by hours or metadata, one name of metadata', async (t) => {
  for (const query of ['from=2020-01-01', 'from=2026-01-01&to=2026-03-01&per=hour', 'from=2026-01-01&to=2026-03-01&by=metadata.a',
    'by=metadata.a,metadata.b', 'by=service,nothing', 'by=metadata.', 'per=week'])
  {
    t.equal((await send('GET', `${path}?${query}`, {}, admin)).status, 400, query)
  }
  for (const query of ['from=2026-01-02&to=2026-01-01', 'from=2026-01-01&to=2026-01-01', 'from=2999-01-01']) {
    const message = 'Must lie before "to", which is now where it is left out.'
    has(t, await send('GET', `${path}?${query}`, {}, admin), { status: 400, body: { details: [{ path: '/query/from', message }] } }, query)
  }
  t.equal((await send('GET', `${path}?from=2026-01-01&to=2026-12-31&per=month`, {}, admin)).status, 200)
})

await t.test('quantiles are within a tenth of the exact ones', (t) => {
  for (const spread of [1, 37, 900, 12_345]) {
    const times = Array.from({ length: 200 }, (_, index) => 5 + index * spread)
    const places = new Map<number, number>()
    for (const time of times) {
      const place = Math.floor(4 * Math.log2(time))
      places.set(place, (places.get(place) ?? 0) + 1)
    }
    for (const part of [0.5, 0.95]) {
      const exact = times[Math.ceil(part * times.length) - 1] ?? NaN
      t.ok(Math.abs(quantile(places, part) / exact - 1) <= 0.1, `${String(exact)} ms`)
    }
  }
  t.end()
})

await t.test('the page shows charts with tables beside them, each bar leading to its list', async (t) => {
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  await sql`insert into usage_hours select company_id, hour, service, provider, user_id, key, test, 'failed', 'timeout', 1
    from usage_hours where measure = 'accepted' on conflict do nothing`.execute(database.owner)
  const { body } = await console.open('/usage', cookie)
  matches(t, body, /<svg class="chart"[^>]* aria-hidden="true">.*<a href="\/console\/dispatches\?from=[^"]*to=/s)
  matches(t, body, /<th scope="row"><a href="\/console\/dispatches\?[^"]*service=sms[^"]*providerName=simulator/)
  const [volume = ''] = /<section aria-labelledby="volume">.*?<\/section>/s.exec(body) ?? []
  matches(t, volume, /<td class="count"><a href="[^"]*from=[^"]*&amp;stepStatus=failed">\d+<\/a><\/td><td class="count">[\d.]+%<\/td>/,
    'what failed at a time has its list, and the time its share')
  const [failures = ''] = /<section aria-labelledby="failures">.*?<\/section>/s.exec(body) ?? []
  matches(t, failures, /<a href="\/console\/dispatches\?from=[^"]*&amp;stepStatus=failed&amp;error=timeout" tabindex="-1"><title>/,
    'a bar leads to what has failed for that reason')
  matches(t, failures, /<th scope="row"><a href="[^"]*&amp;stepStatus=failed&amp;error=timeout">/)
  lacks(t, (await console.open('/usage?service=esign&period=day', cookie)).body, '<svg class="chart"')
  matches(t, (await console.open('/usage/usage.csv?period=year', cookie)).body, /^service,provider,userId,dispatches/)
  lacks(t, body, 'id="latency"', 'one day is told by the chart of all')
  await sql`insert into usage_hours select company_id, hour - interval '1 day', service, provider, user_id, key, test, measure, name, count
    from usage_hours on conflict do nothing`.execute(database.owner)
  const [today, yesterday] = [0, 1].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10))
  const [, section = ''] = /<section aria-labelledby="latency">(.*?)<\/section>/s.exec((await console.open('/usage', cookie)).body) ?? []
  for (const day of [today, yesterday]) {
    matches(t, section, new RegExp(`<td class="count"><a href="[^"]*from=${String(day)}[^"]*service=sms[^"]*providerName=simulator`))
  }
  t.equal([...section.matchAll(/<a href="[^"]*" tabindex="-1"><title>/g)].length, [...section.matchAll(/<td class="count"><a /g)].length,
    'a bar for each time that has a number')
})

await t.test('the first page has the last day and the last week, and each number leads to its list', async (t) => {
  const console = openConsole(service)
  const { body } = await console.open('/', await console.signIn(admin))
  matches(t, body, /<th scope="row"><a href="\/console\/dispatches\?service=sms&amp;from=[^"]*&amp;to=[^"]*">/)
  matches(t, body, /<td class="count"><a href="\/console\/dispatches\?service=sms&amp;from=[^"]*&amp;status=succeeded">\d/)
  t.equal([...body.matchAll(/<svg class="chart"[^>]* aria-hidden="true">/g)].length >= 2, true)
  matches(t, body, /<h2 id="volume">.*<a href="\/console\/usage">/s)
  const { admin: bounded } = await service.company('bounded at home', { services: ['sms'] })
  lacks(t, (await console.open('/', await console.signIn(bounded))).body, 'id="volume"', 'for who may not see all of it')
})
