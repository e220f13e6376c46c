import { openQueue, type Queue } from '@dispatch/queue'
import { addJobs } from '@dispatch/tables'
import t from 'tap'
import { createJobs } from '../../core/work/jobs.ts'
import { createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, invoiceRequest, operator, seededDatabase, startService } from '../support/service.ts'

const databaseUrl = await seededDatabase(t)
const service = await startService(t, { databaseUrl, config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
const { app, send } = service
const { dispatch: read, credits, outbox, timeline, events } = readingOf(service)
const { owner } = app.get('database')
const template = (): unknown => invoiceRequest()['template']

/** Every route that dispatches, with a body. */
const routes: [string, () => unknown][] = [
  ['/api/invoicing', invoiceRequest],
  ['/api/esign', () => chainBody(['esign'], template())],
  ['/api/postal', () => chainBody(['postal'], template())],
  ['/api/file', () => ({ template: template() })],
  ['/api/sms', () => ({ sms: { phoneNumber: '+33612345678', message: 'Hello' } })],
  ['/api/email', () => ({ from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello', body: 'Hello' })],
  ['/api/invoicing/email', () => chainBody(['invoicing', 'email'], template())],
  ['/api/file/esign/upload', () => chainBody(['file', 'esign', 'upload'], template())],
  ['/api/invoicing/postal/sms/upload', () => chainBody(['invoicing', 'postal', 'sms', 'upload'], template())]
]
const queue = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  send('POST', `${path}?async=true`, { body, headers })
async function upload (query: string): Promise<Answer> {
  const body =
    `--edge\r\nContent-Disposition: form-data; name="file"; filename="hello.txt"\r\nContent-Type: text/plain\r\n\r\nHello\r\n--edge--\r\n`
  return send('POST', `/api/upload${query}`, { body, headers: { 'content-type': 'multipart/form-data; boundary=edge' } })
}
const jobsOf = async (dispatchId: string): Promise<number> => {
  const { rows } = await owner.executeQuery<{ count: string }>(
    {
      sql: `select count(*) from queue.job where name = 'dispatch' and state = 'created' and data->>'dispatchId' = $1`,
      parameters: [dispatchId]
    } as never
  )
  return Number(rows[0]?.count)
}
const queuedBody = (dispatchId: string, metadata = {}): object => ({
  success: true,
  dispatchId,
  status: 'queued',
  statusUrl: `https://dispatch.example.com/api/v1/dispatches/${dispatchId}`,
  metadata
})

/** What was queued, to be worked on at the end. */
const waiting: string[] = []

await t.test('every route that dispatches answers at once with ?async=true: the dispatch, its hold and its job are there by ' +
  'then, and nothing was done', async (t) => {
  for (const [path, bodyOf] of routes) {
    const before = await credits()
    const { status, body } = await queue(path, { ...bodyOf() as object, metadata: { orderId: 'A-1' } })
    t.equal(status, 200, path)
    t.strictSame(body, queuedBody(body.dispatchId, { orderId: 'A-1' }), path)
    has(t, await read(body.dispatchId), {
      status: 'queued',
      finishedAt: null,
      steps: path.split('/').slice(2).map((service) => ({ service, status: 'planned', generatedDocument: null }))
    }, path)
    t.strictSame(await timeline(body.dispatchId), ['planned'], path)
    t.strictSame(await credits(), { ...before, held: before.held + (path.startsWith('/api/invoicing') ? 1 : 0) }, path)
    t.equal(await jobsOf(body.dispatchId), 1, path)
    waiting.push(body.dispatchId)
  }
  const { status, body } = await upload('?async=true')
  t.strictSame({ status, body }, { status: 200, body: queuedBody(body.dispatchId) })
  t.equal(await jobsOf(body.dispatchId), 1)
  waiting.push(body.dispatchId)
  t.strictSame(await outbox(), [])
})

await t.test('what is wrong is told before anything is queued', async (t) => {
  const poor = await service.company('poor', { credits: 0 })
  const count = async () =>
    Number((await owner.selectFrom('dispatches').select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count)
  const before = await count()
  has(t, await send('POST', '/api/invoicing?async=true', { body: invoiceRequest() }, poor.admin), {
    status: 402,
    body: { error: 'insufficient_credits' }
  })
  has(t, await queue('/api/invoicing', invoiceRequest({ total: 1 })), { status: 422, body: { error: 'validation_failed' } })
  has(t, await queue('/api/invoicing', { ...invoiceRequest(), more: 1 }), {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/more' }] }
  })
  has(t, await queue('/api/invoicing/sms', invoiceRequest()), { status: 400, body: { error: 'validation_error' } })
  has(t, await queue('/api/email', { from: 'else@example.com', to: 'ada@example.com', subject: 'Hello', body: 'Hello' }), { status: 417 })
  for (const query of ['?async=perhaps', '?async=', '?async=true&async=true']) {
    has(t, await upload(query), { status: 400, body: { details: [{ path: '/query/async' }] } }, query)
  }
  t.equal(await count(), before)
})

await t.test('the repeat of what is queued answers its present state', async (t) => {
  const body = invoiceRequest()
  const first = await queue('/api/invoicing', body, { 'x-idempotency-key': 'queued' })
  const second = await queue('/api/invoicing', body, { 'x-idempotency-key': 'queued' })
  t.strictSame(second.body, first.body)
  t.strictSame([first.headers.get('idempotency-replayed'), second.headers.get('idempotency-replayed')], [null, 'true'])
  t.equal(await jobsOf(first.body.dispatchId), 1)
  has(t, await queue('/api/invoicing', invoiceRequest(), { 'x-idempotency-key': 'queued' }), {
    status: 422,
    body: { error: 'idempotency_key_reused' }
  })
  waiting.push(first.body.dispatchId)
})

await t.test('what has not begun can be cancelled, once: it holds nothing any more and is never done', async (t) => {
  const before = await credits()
  const { body: { dispatchId } } = await queue('/api/invoicing/sms', chainBody(['invoicing', 'sms'], template()))
  const cancel = (id = dispatchId): Promise<Answer> => send('POST', `/api/v1/dispatches/${id}/cancel`)
  has(t, await cancel(), { status: 200, body: { dispatchId, status: 'cancelled', creditsCharged: 0, finishedAt: String } })
  t.strictSame(await credits(), before)
  has(t, await cancel(), { status: 409, body: { error: 'conflict', message: /cancelled/ } })
  has(t, await events(dispatchId, 'cancelled'), [{ actor: { kind: 'user', userId: Number } }])
  await runQueued(app.get('pipeline'), { companyId: 2, dispatchId })
  t.strictSame(await timeline(dispatchId), ['planned', 'cancelled'])
})

await t.test('an operator reads what waits; nobody else does', async (t) => {
  const { status, body } = await send('GET', '/api/v1/queue', {}, operator)
  t.equal(status, 200)
  has(t, body.dispatches, { queued: waiting.length, running: 0, uncertain: 0, triedAgain: 0, oldest: Number })
  // The job of what was cancelled is there too: it will find nothing to do.
  has(t, body.jobs.filter(({ name }: { name: string }) => name === 'dispatch'), [{
    name: 'dispatch',
    ready: waiting.length + 1,
    later: 0,
    active: 0,
    again: 0,
    oldest: Number
  }])
  has(t, await send('GET', '/api/v1/queue'), { status: 403, body: { error: 'forbidden' } })
})

await t.test('a worker of its own does what waits', async (t) => {
  const worker = await createApp({ ...app.get('config'), runsWorker: true }, {
    databaseUrl,
    log: createLogger('silent'),
    renderer: quickRenderer
  })
  for (const dispatchId of waiting) await until(`${dispatchId} is done`, async () => (await read(dispatchId)).status === 'succeeded')
  await worker.close()
  const charged = (await Promise.all(waiting.map(read))).map(({ creditsCharged }) => creditsCharged as number).reduce((sum, charged) =>
    sum + charged
  )
  t.strictSame(await credits(), { balance: 100 - charged, held: 0 })
  t.equal((await send('GET', '/api/v1/queue', {}, operator)).body.dispatches.queued, 0)
  const repeat = await send('GET', `/api/v1/dispatches/${waiting.at(-1)}`)
  has(t, repeat.body, { status: 'succeeded', steps: [{ generatedDocument: { contentType: 'application/pdf' } }] })
})

await t.test('what a busy worker has not begun is still queued: it can be cancelled, and is left where the worker closes', async (t) => {
  const slow = { sms: { phoneNumber: '+15005550004', message: 'Hello' } }
  const ids: string[] = []
  for (let nth = 0; nth < 4; nth++) ids.push((await queue('/api/sms', slow)).body.dispatchId)
  const worker = await createApp({ ...app.get('config'), runsWorker: true, concurrency: 1 }, {
    databaseUrl,
    log: createLogger('silent'),
    renderer: quickRenderer
  })
  const statuses = async (): Promise<string[]> => (await Promise.all(ids.map(read))).map(({ status }) => status as string)
  await until('one has begun', async () => (await statuses()).includes('running'))
  t.strictSame((await statuses()).sort(), ['queued', 'queued', 'queued', 'running'])
  const waits = ids[(await statuses()).indexOf('queued')] ?? ''
  has(t, await send('POST', `/api/v1/dispatches/${waits}/cancel`), { status: 200, body: { status: 'cancelled' } })
  await worker.close()
  t.strictSame((await statuses()).sort(), ['cancelled', 'queued', 'queued', 'succeeded'])
})

await t.test('ten thousand dispatches of one company do not stand before the first of another', async (t) => {
  const url = await seededDatabase(t)
  const fair = await startService(t, { databaseUrl: url, config: { runsWorker: false } })
  const opened: Queue = await openQueue({ databaseUrl: url, database: fair.app.get('database'), log: fair.app.get('log') })
  t.teardown(() => opened.close())
  const time = new Date()
  const jobs = createJobs({ queue: opened, now: () => time })
  const add = (companyId: number, dispatchId: string, after = 0): Promise<void> =>
    fair.app.get('database').owner.transaction().execute((queries) => addJobs(queries, jobs.dispatch({ companyId, dispatchId }, after)))
  // What is tried again in two hours moves the turn of none that comes now.
  await add(2, 'later', 7200)
  for (let number = 1; number <= 200; number++) await add(1, `one ${number}`)
  await add(2, 'two')
  await add(3, 'three')
  const order: string[] = []
  await opened.work('dispatch', ({ dispatchId }) => {
    order.push(dispatchId)
    return Promise.resolve()
  }, 2)
  await until('all are taken', () => order.length === 202)
  t.ok(order.indexOf('two') < 20, String(order.indexOf('two')))
  t.ok(order.indexOf('three') < 20, String(order.indexOf('three')))
  t.ok(order.indexOf('one 1') < order.indexOf('one 101') && order.indexOf('one 101') < order.indexOf('one 200'),
    'those of one company stand about in their order')
})
