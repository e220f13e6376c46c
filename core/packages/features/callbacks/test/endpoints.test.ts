import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { has } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { sendCreditWarnings } from '../service/credit-warnings.ts'
import { callbackLimits } from '../service/delivery.ts'
import { settleCallback } from '../store/attempts.ts'

const receiver = await createVendor()
const service = await startService(t, { replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) } })
t.teardown(receiver.close)
const { send, app } = service
const { owner } = app.get('database')
const path = '/api/v1/company/callback-endpoints'

const make = async (body: object): Promise<any> => (await send('POST', path, { body })).body
const change = (id: string, body: object, version = '1.1.0'): Promise<Answer> =>
  send('PUT', `${path}/${id}`, { body, headers: { 'x-api-version': version } })
const callbacksOf = async (id: string, query = ''): Promise<any[]> => (await send('GET', `${path}/${id}/callbacks${query}`)).body.data
/** An asynchronous dispatch, whose end is told. */
const dispatched = async (more: Record<string, unknown> = {}): Promise<string> =>
  (await send('POST', '/api/invoicing?async=true', { body: invoiceRequest({}, more) })).body.dispatchId as string
const received = (host: string) => receiver.requests.filter((request) => request.host === host)
const answering = (answers: Record<string, number>): void => {
  receiver.answer(({ host }) => ({ status: answers[host] ?? 200 }))
}
const clear = async (): Promise<void> => {
  for (const { id } of (await send('GET', path)).body.data) await send('DELETE', `${path}/${id}`)
  receiver.requests.length = 0
}
t.afterEach(clear)

await t.test('an endpoint is created with a secret that is shown once, listed, changed and removed', async (t) => {
  const created = await send('POST', path, { body: { name: 'Accounting', url: 'https://a.acme.test/hook', types: ['dispatch.succeeded'] } })
  t.equal(created.status, 201)
  t.equal(created.headers.get('cache-control'), 'no-store')
  has(t, created.body, {
    name: 'Accounting',
    url: 'https://a.acme.test/hook',
    types: ['dispatch.succeeded'],
    enabled: true,
    failingSince: null,
    secret: /^whsec_[A-Za-z0-9+/]{43}=$/,
    secrets: [{ expiresAt: null }]
  })
  const { id, secret } = created.body
  const { body: listed } = await send('GET', path)
  t.strictSame(listed.data.map((one: any) => one.id), [id])
  t.notOk(JSON.stringify([listed, service.log]).includes(secret.slice(6)), 'and never again')
  has(t, await change(id, { types: null, name: 'Books' }), { status: 200, body: { types: null, name: 'Books', enabled: true } })
  t.equal((await send('DELETE', `${path}/${id}`)).status, 204)
  const gone = [['GET', ''], ['PUT', ''], ['DELETE', ''], ['POST', '/secret'], ['POST', '/test'], ['GET', '/callbacks']] as const
  for (const [method, end] of gone) {
    const { status } = await send(method, `${path}/${id}${end}`, method === 'PUT' ? { body: { name: 'x' } } : {})
    t.equal(status, 404, `${method} ${end}`)
  }
  const [{ secrets }] = await owner.selectFrom('callback_endpoints').select('secrets').where('endpoint_id', '=', id).execute() as [any]
  t.strictSame(secrets, [])
})

await t.test('what cannot be called, or wants what there is not, is refused; so is one endpoint too many', async (t) => {
  for (const url of ['http://a.acme.test/', 'https://10.0.0.1/', 'https://user:word@a.acme.test/', 'https://[fd00::1]/']) {
    const { status } = await send('POST', path, { body: { name: 'A', url } })
    t.ok(status === 400 || status === 422, `${url}: ${String(status)}`)
  }
  t.equal((await send('POST', path, { body: { name: 'A', url: 'https://a.acme.test/', types: ['dispatch.begun'] } })).status, 400)
  const { id } = await make({ name: 'A', url: 'https://a.acme.test/' })
  t.equal((await change(id, { url: 'https://192.168.0.1/' })).status, 422)
  t.equal((await change(id, {})).status, 400)
  const earlier = await send('PUT', `${path}/${id}`, { body: { pausedUntil: null }, headers: { 'x-api-version': '1.0.1' } })
  has(t, earlier, {
    status: 400,
    body: { details: [{ path: '/pausedUntil', message: /with the header "X-API-Version: 1\.1\.0" it is there/ }] }
  })
  const others = await Promise.all(
    Array.from({ length: 11 }, (_, index) => send('POST', path, { body: { name: `N${String(index)}`, url: 'https://a.acme.test/' } }))
  )
  t.equal(others.filter(({ status }) => status === 201).length, 9)
  has(t, others.find(({ status }) => status !== 201), { status: 409, body: { error: 'conflict', message: /10 endpoints/ } })
})

await t.test('each endpoint that wants an event gets it under its own id; one that fails keeps nobody waiting', async (t) => {
  answering({ 'broken.acme.test': 500 })
  const good = await make({ name: 'Good', url: 'https://good.acme.test/' })
  const broken = await make({ name: 'Broken', url: 'https://broken.acme.test/' })
  const picky = await make({ name: 'Picky', url: 'https://picky.acme.test/', types: ['dispatch.failed'] })
  const off = await make({ name: 'Off', url: 'https://off.acme.test/', enabled: false })
  const dispatchId = await dispatched({ callbackUrl: 'https://own.acme.test/' })
  await until('it is told', () => received('good.acme.test').length === 1 && received('own.acme.test').length === 1)
  await until('the broken one was asked', async () => (await callbacksOf(broken.id))[0]?.attempts[0]?.outcome === 'failed')
  const [request] = received('good.acme.test')
  has(t, new Webhook(good.secret).verify(request!.body.toString(), request!.headers), {
    type: 'dispatch.succeeded',
    sequence: 1,
    data: { dispatchId, status: 'succeeded' }
  })
  t.throws(() => new Webhook(broken.secret).verify(request!.body.toString(), request!.headers), 'by its own secret alone')
  const [own] = received('own.acme.test')
  t.strictSame(JSON.parse(own!.body.toString()).data, JSON.parse(request!.body.toString()).data, 'what the dispatch\'s own address gets')
  has(t, await callbacksOf(good.id), [{
    id: request!.headers['webhook-id'],
    dispatchId,
    type: 'dispatch.succeeded',
    sequence: 1,
    receiver: 'good.acme.test',
    state: 'delivered',
    attempts: [{ number: 1, outcome: 'delivered', status: 200 }]
  }])
  t.not(request!.headers['webhook-id'], own!.headers['webhook-id'])
  for (const { id } of [picky, off]) t.strictSame(await callbacksOf(id), [])
  has(t, (await send('GET', `${path}/${broken.id as string}`)).body, { failingSince: String })

  const again = await dispatched()
  await until('the good one is told at once', () => received('good.acme.test').length === 2)
  has(t, (await callbacksOf(good.id, `?dispatchId=${again}`)).length, 1)
  answering({})
  await until('the broken one has both', async () => (await callbacksOf(broken.id)).every(({ state }) => state === 'delivered'))
  const ids = received('broken.acme.test').map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(ids).size, 2, 'a repeat has the same id')
  has(t, (await send('GET', `${path}/${broken.id as string}`)).body, { failingSince: null })
})

await t.test('endpoints that fail and do not answer get one request at a time, while another one gets all of its own', async (t) => {
  const held = Promise.withResolvers<{ status: number }>()
  receiver.answer(({ host }) => host.startsWith('mute') ? held.promise : { status: 200 })
  const muted = () => receiver.requests.filter(({ host }) => host.startsWith('mute'))
  const made: any[] = []
  for (const name of ['mute-1', 'mute-2', 'mute-3', 'mute-4', 'mute-5', 'quick']) {
    made.push(await make({ name, url: `https://${name}.acme.test/` }))
  }
  await owner.updateTable('callback_endpoints').set({ failing_since: new Date() }).where('name', 'like', 'mute%').execute()
  for (let index = 0; index < 4; index++) await dispatched()
  await until('the quick one has all', () => received('quick.acme.test').length === 4)
  await until('as many as may are under way', () => muted().length === callbackLimits.perCompany / 2)
  t.equal(new Set(muted().map(({ host }) => host)).size, muted().length, 'one of each')
  held.resolve({ status: 200 })
  await until('they are all delivered', async () => {
    const states = await Promise.all(made.map(({ id }) => callbacksOf(id)))
    return states.flat().length === 24 && states.flat().every(({ state }) => state === 'delivered')
  })
  t.equal(muted().length, 20, 'each once')
})

await t.test('a synchronous dispatch tells nobody, and a company without endpoints records nothing', async (t) => {
  const { id } = await make({ name: 'A', url: 'https://a.acme.test/' })
  t.equal((await send('POST', '/api/invoicing', { body: invoiceRequest() })).status, 200)
  t.strictSame(await callbacksOf(id), [])
  await clear()
  const before = await owner.selectFrom('outbox').select('callback_id').where('endpoint_id', 'is not', null).execute()
  const dispatchId = await dispatched()
  await until('it has ended', async () => (await send('GET', `/api/v1/dispatches/${dispatchId}`)).body.status === 'succeeded')
  t.equal((await owner.selectFrom('outbox').select('callback_id').where('endpoint_id', 'is not', null).execute()).length, before.length)
})

await t.test('a new secret signs beside the one before for a day', async (t) => {
  answering({})
  const { id, secret } = await make({ name: 'A', url: 'https://a.acme.test/' })
  const { status, body: fresh } = await send('POST', `${path}/${id}/secret`)
  has(t, { status, body: fresh }, { status: 200, body: { secret: /^whsec_/, previousUntil: String } })
  has(t, (await send('GET', `${path}/${id}`)).body.secrets, [{ expiresAt: null }, { expiresAt: fresh.previousUntil }])
  has(t, await send('POST', `${path}/${id}/test`), { status: 200, body: { outcome: 'delivered', status: 200, milliseconds: Number } })
  const [request] = received('a.acme.test')
  t.equal(String(request!.headers['webhook-signature']).split(' ').length, 2)
  for (const each of [secret, fresh.secret]) {
    const event = new Webhook(each).verify(request!.body.toString(), request!.headers)
    has(t, event, { type: 'endpoint.test', data: { endpointId: id, name: 'A' } })
  }
  answering({ 'a.acme.test': 503 })
  has(t, (await send('POST', `${path}/${id}/test`)).body, { outcome: 'failed', status: 503, reason: 'It answered 503 instead of 200.' })
  t.strictSame(await callbacksOf(id), [], 'a test is no callback')
})

await t.test('what comes for a paused endpoint waits, even what was under way, and is sent when the pause ends', async (t) => {
  const { promise: requested, resolve: isRequested } = Promise.withResolvers<undefined>()
  const { promise: paused, resolve: isPaused } = Promise.withResolvers<undefined>()
  receiver.answer(async ({ host }) => {
    if (host !== 'a.acme.test') return { status: 200 }
    isRequested(undefined)
    await paused
    return { status: 500 }
  })
  const { id } = await make({ name: 'A', url: 'https://a.acme.test/' })
  const first = await dispatched()
  await requested
  const pausedUntil = new Date(Date.now() + 86_400_000).toISOString()
  has(t, await change(id, { pausedUntil }), { status: 200, body: { enabled: true, pausedUntil } })
  has(t, await change(id, { pausedUntil: null }, '1.0.1'), {
    status: 400,
    body: { details: [{ path: '/pausedUntil', code: 'unknown_field' }] }
  })
  t.notOk('pausedUntil' in (await send('GET', `${path}/${id}`)).body, 'version 1.0.1 knows of no pause')
  isPaused(undefined)
  await until('the attempt has failed', async () => (await callbacksOf(id))[0]?.attempts[0]?.outcome === 'failed')
  const second = await dispatched()
  await until('the second is told', async () => (await callbacksOf(id)).length === 2)
  const waiting = { state: 'pending', nextAttemptAt: pausedUntil }
  has(t, await callbacksOf(id), [{ ...waiting, dispatchId: second, attempts: [] }, { ...waiting, dispatchId: first }])
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString()
  await change(id, { pausedUntil: later })
  has(t, await callbacksOf(id), [{ nextAttemptAt: later }, { nextAttemptAt: later }])
  for (const [wrong, code] of [['2020-01-01T00:00:00Z', 'in_the_past'], ['2099-01-01T00:00:00Z', 'too_late']] as const) {
    has(t, await change(id, { pausedUntil: wrong }), { status: 422, body: { details: [{ path: '/pausedUntil', code }] } })
  }
  answering({})
  const after = await change(id, { pausedUntil: null })
  t.notOk('pausedUntil' in after.body)
  await until('both are delivered', async () => (await callbacksOf(id)).every(({ state }) => state === 'delivered'))
  t.equal(received('a.acme.test').length, 3)
})

await t.test('what waits for a disabled endpoint is stopped; all that failed since a time is sent again', async (t) => {
  answering({ 'a.acme.test': 500 })
  const { id } = await make({ name: 'A', url: 'https://a.acme.test/' })
  const dispatchId = await dispatched()
  await until('it has failed once', async () => (await callbacksOf(id))[0]?.attempts[0]?.outcome === 'failed')
  await change(id, { enabled: false })
  has(t, await callbacksOf(id, '?state=stopped'), [{ dispatchId, state: 'stopped', nextAttemptAt: null }])
  const [{ id: callbackId, createdAt }] = await callbacksOf(id) as [any]
  const resend = (since: string): Promise<Answer> => send('POST', `${path}/${id}/resend`, { body: { since } })
  const after = new Date(new Date(createdAt).getTime() + 1).toISOString()
  const failedSince = (time: string, version = '1.1.0'): Promise<Answer> =>
    send('GET', `${path}/${id}/callbacks?failedSince=${time}`, { headers: { 'x-api-version': version } })
  has(t, await failedSince(createdAt), { body: { data: [{ id: callbackId }] } })
  has(t, await failedSince(after), { body: { data: [] } })
  has(t, await failedSince(after, '1.0.1'), { status: 400, body: { details: [{ code: 'unknown_field' }] } })
  has(t, await resend(createdAt), { status: 409, body: { message: /disabled/ } })
  has(t, await send('POST', `/api/v1/callbacks/${callbackId as string}/replay`), { status: 409 })
  await change(id, { enabled: true, url: 'https://b.acme.test/' })
  has(t, await resend(after), { status: 200, body: { queued: 0, more: false } })
  has(t, await resend(createdAt), { status: 200, body: { queued: 1, more: false } })
  await until('it is delivered', async () => (await callbacksOf(id))[0]?.state === 'delivered')
  t.strictSame((await failedSince(createdAt)).body.data, [], 'what was received is not sent again')
  t.strictSame(received('b.acme.test').map(({ headers }) => headers['webhook-id']), [callbackId], 'at the new address, under its id')
  has(t, await callbacksOf(id), [{ receiver: 'b.acme.test' }])
  has(t, await send('POST', `/api/v1/callbacks/${callbackId as string}/replay`), {
    status: 200,
    body: { id: callbackId, state: 'pending' }
  })
  await until('and once more', () => received('b.acme.test').length === 2)
  t.equal((await send('POST', `${path}/${randomUUIDv7()}/resend`, { body: { since: createdAt } })).status, 404)
})

await t.test('an endpoint is warned of low credits, like the address for warnings', async (t) => {
  const { companyId, admin } = await service.company('poor')
  const { body: { id } } = await send('POST', path, { body: { name: 'A', url: 'https://poor.acme.test/', types: ['company.credits_low'] } },
    admin)
  // After the endpoint, which the service's own look, if it comes now, would warn too.
  await send('PUT', '/api/v1/company', { body: { lowCredit: 1_000_000 } }, admin)
  const [queue, now, newId] = [app.get('queue'), app.get('now'), app.get('newId')]
  await sendCreditWarnings({ database: app.get('database'), queue, now, newId })
  await until('it is warned', () => received('poor.acme.test').length === 1)
  has(t, JSON.parse(received('poor.acme.test')[0]!.body.toString()), { type: 'company.credits_low', sequence: 1, data: { companyId } })
  has(t, (await send('GET', `${path}/${String(id)}/callbacks`, {}, admin)).body.data, [{ type: 'company.credits_low' }])
})

await t.test('a company is told of endpoints that fail at the same time', async (t) => {
  const made: any[] = await Promise.all(['one', 'two'].map((name) => make({ name, url: `https://${name}.acme.test/` })))
  const ids = made.map(({ id }) => String(id))
  const { rows: [{ companyId }] } = await sql<any>`update callback_endpoints set failing_since = now() - interval '3 days'
    where endpoint_id = any (${ids}::uuid[]) returning company_id as "companyId"`.execute(owner)
  const reported = Promise.withResolvers<PromiseSettledResult<void>[]>()
  await owner.transaction().execute(async (queries) => {
    await sql`select from credits where company_id = ${companyId} for update`.execute(queries)
    void Promise.allSettled(
      ids.map((endpointId) =>
        settleCallback(app.get('database'), { companyId, callbackId: randomUUIDv7(), number: 1, endpointId }, {
          outcome: 'failed',
          state: 'failed',
          milliseconds: 1
        }, (tellers, { type, failingSince, ...endpoint }) =>
          app.get('outbox').tell(tellers, companyId, { type, data: { companyId, ...endpoint, failingSince: failingSince.toISOString() } }))
      )
    ).then(reported.resolve)
    await until('both wait',
      async () =>
        (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(owner))
          .rows.length === 2)
  })
  t.same((await reported.promise).map(({ status }) => status), ['fulfilled', 'fulfilled'])
})

await t.test('an endpoint that fails for five days is disabled after a warning; enabled again, it begins anew', async (t) => {
  answering({ 'down.acme.test': 500 })
  const { id } = await make({ name: 'Down', url: 'https://down.acme.test/' })
  const types = ['company.endpoint_failing', 'company.endpoint_disabled']
  const { id: other } = await make({ name: 'Up', url: 'https://up.acme.test/', types })
  const read = async (): Promise<any> => (await send('GET', `${path}/${id}`, { headers: { 'x-api-version': '1.1.0' } })).body
  /** A dispatch whose callback fails, after so many days of failure, and so many after the warning. */
  async function failsAfter (days: number, warned: number | null): Promise<void> {
    await sql`update callback_endpoints set failing_since = now() - make_interval(days => ${days}),
      warned_at = now() - make_interval(days => ${warned}::integer) where endpoint_id = ${id}`.execute(owner)
    const dispatchId = await dispatched()
    await until('it has failed',
      async () => (await callbacksOf(id)).find((one: any) => one.dispatchId === dispatchId)?.attempts[0]?.outcome === 'failed')
  }
  const reported = (): string[] => received('up.acme.test').map(({ json }: any) => json.type)
  await failsAfter(1, null)
  await failsAfter(3, null)
  await until('it is warned of', () => Promise.resolve(reported().includes(types[0]!)))
  await failsAfter(6, 0)
  has(t, await read(), { enabled: true }, 'not within a day of the warning')
  await failsAfter(6, 1)
  await until('it is told', () => Promise.resolve(reported().includes(types[1]!)))
  has(t, await read(), { enabled: false, disabledAt: String, failingSince: String })
  t.same(reported(), types, 'each once')
  t.ok((await callbacksOf(id)).every(({ state }: any) => state !== 'pending'), 'nothing waits for it')
  const { body: { data } } = await send('GET', '/api/v1/audit?limit=100')
  const actions = (data as { action: string }[]).map(({ action }) => action)
  for (const action of ['callback-endpoint.failing', 'callback-endpoint.disabled']) t.ok(actions.includes(action), action)
  const { rows } = await sql<{ action: string }>`select distinct action from notices where action like 'callback-endpoint.%ed'
    and by_user_id is null`.execute(owner)
  t.same(rows.map(({ action }) => action), ['callback-endpoint.disabled'], 'its admins are mailed')
  has(t, (await change(id, { enabled: true })).body, { enabled: true, failingSince: null })
  t.notOk('disabledAt' in await read())
  for (const one of [id, other]) await send('DELETE', `${path}/${one}`)
})
