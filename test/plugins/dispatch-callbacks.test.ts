import { createBreakers } from '@dispatch/host'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import type { Queue } from '../../core/packages/queue/queue.ts'
import { reconcile } from '../../core/pipeline/recover/reconcile.ts'
import { createLeases } from '../../core/pipeline/run/leases.ts'
import { sweepDispatches } from '../../core/work/dispatch-worker.ts'
import { createApp } from '../../plugins/container.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { type Act, stageVendor } from '../core/work/staged-vendor.ts'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { clockAt } from '../support/clock.ts'
import { has } from '../support/matching.ts'
import { resolved, schemasOf } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, invoiceRequest, seededDatabase, startService } from '../support/service.ts'
import { testProviders } from './support/providers.ts'

const clock = clockAt(new Date().toISOString())
const databaseUrl = await seededDatabase(t)
const receiver = await createVendor()
t.teardown(receiver.close)
receiver.answer({ status: 200 })
const providers = await testProviders(t)
const stage = await stageVendor(providers)
/** Seconds. */
const synchronousLimit = 1
const parts = {
  renderer: quickRenderer,
  now: clock.now,
  network: vendorNetwork(receiver),
  breakers: createBreakers({ now: clock.now, failures: 1000 })
}
const service = await startService(t, {
  databaseUrl,
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { ...parts, synchronousLimit }
})
const { app, send } = service
const { dispatch: read, callbacks, events: eventsOf } = readingOf(service)
const { owner } = app.get('database')
for (const code of ['mute', 'found']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { company_id: companyId } = await owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()

const callbackUrl = 'https://receiver.example.com/hook'
const ask = (path: 'invoicing' | 'invoicing/sms' | 'esign' | 'postal' | 'esign/sms', query: string, more: object = {}): Promise<Answer> =>
  send('POST', `/api/${path}${query}`, {
    body: { ...chainBody(path.split('/') as never, invoiceRequest()['template']), callbackUrl, ...more }
  })
const take = (dispatchId: string): Promise<void> => runQueued(app.get('pipeline'), { companyId, dispatchId })
/** Queues an invoice, of which the vendor makes this. */
async function queued (acts: Act[], path: 'invoicing' | 'invoicing/sms' = 'invoicing', more: object = {}): Promise<string> {
  stage.acts = acts
  const { body: { dispatchId } } = await ask(path, '?async=true', { providerName: 'found', ...more })
  await take(dispatchId)
  return dispatchId
}
const stepOf = async (dispatchId: string): Promise<string> =>
  (await owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId).where('position', '=', 0)
    .executeTakeFirstOrThrow()).step_id
/** The dispatch as its callbacks show it. */
const shown = async (dispatchId: string): Promise<any[]> =>
  (await owner.selectFrom('outbox').select('body').where('dispatch_id', '=', dispatchId).orderBy('sequence').execute()).map(({ body }) =>
    JSON.parse(body ?? '{}').data
  )
const failing = { phoneNumber: '+15005550001', message: 'Hello' }

await t.test('the end of a dispatch that nobody waits for is called back, with the dispatch as it reads then', async (t) => {
  const ends: [string, () => Promise<string>, string[]][] = [
    ['succeeded', () => queued([]), ['accepted']],
    ['failed', () => queued(['refuse']), ['rejected']],
    ['partial', () => queued([], 'invoicing/sms', { sms: failing }), ['accepted', 'rejected']],
    ['uncertain', () => queued(['lose']), ['uncertain']]
  ]
  for (const [status, run, steps] of ends) {
    const dispatchId = await run()
    t.strictSame(await callbacks(dispatchId), [`dispatch.${status}`])
    const [data] = await shown(dispatchId)
    has(t, data, { dispatchId, status, steps: steps.map((status) => ({ status })), finishedAt: String }, status)
    t.strictSame(data, await read(dispatchId), status)
  }
})

await t.test('a cancelled one is called back; one that is tried again is not, until it ends', async (t) => {
  const { body: { dispatchId } } = await ask('invoicing', '?async=true')
  await send('POST', `/api/v1/dispatches/${dispatchId}/cancel`)
  t.strictSame(await callbacks(dispatchId), ['dispatch.cancelled'])
  const tried = await queued(['close'])
  has(t, await read(tried), { status: 'queued' })
  t.strictSame(await callbacks(tried), [])
  await take(tried)
  t.strictSame(await callbacks(tried), ['dispatch.succeeded'])
})

await t.test('what was uncertain is called back again when it is known, in this order', async (t) => {
  const dispatchId = await queued(['lose'])
  await reconcile(app.get('pipelineParts'), { companyId, dispatchId, stepId: await stepOf(dispatchId) })
  t.strictSame(await callbacks(dispatchId), ['dispatch.uncertain', 'dispatch.succeeded'])
  t.strictSame((await shown(dispatchId)).map(({ status }) => status), ['uncertain', 'succeeded'])
  const said = await queued(['drop'])
  await send('POST', `/api/v1/dispatches/${said}/resolve`, { body: { outcome: 'rejected', reason: 'Not there.' } })
  t.strictSame(await callbacks(said), ['dispatch.uncertain', 'dispatch.failed'])
})

await t.test('whoever was answered is not called back: not with a success, a failure, a part, nor a doubt; ' +
  'but when the doubt ends', async (t) => {
  for (const [acts, more, status] of [[[], {}, 200], [['refuse'], {}, 422], [['close'], {}, 503], [['lose'], {}, 504]] as [
    Act[],
    object,
    number
  ][]) {
    stage.acts = acts
    const answer = await ask('invoicing', '', { providerName: 'found', ...more })
    t.equal(answer.status, status)
    t.strictSame(await callbacks(answer.body.dispatchId), [], String(status))
    if (status !== 504) continue
    await reconcile(app.get('pipelineParts'), {
      companyId,
      dispatchId: answer.body.dispatchId,
      stepId: await stepOf(answer.body.dispatchId)
    })
    t.strictSame(await callbacks(answer.body.dispatchId), ['dispatch.succeeded'])
  }
  const { body: { dispatchId } } = await ask('invoicing/sms', '', { sms: failing })
  t.strictSame(await callbacks(dispatchId), [])
  await send('POST', `/api/v1/dispatches/${dispatchId}/retry`)
  t.strictSame(await callbacks(dispatchId), [], 'the answer of the retry tells')
  await send('POST', `/api/v1/dispatches/${dispatchId}/retry?async=true`, { body: { sms: { ...failing, phoneNumber: '+33612345678' } } })
  await take(dispatchId)
  t.strictSame(await callbacks(dispatchId), ['dispatch.succeeded'])
})

await t.test('a dispatch that takes longer than a client may wait goes on after the 504, and is called back', async (t) => {
  stage.acts = ['hang accepted']
  const { status, body } = await ask('invoicing', '', { providerName: 'mute' })
  await stage.hanging()
  has(t, { status, body }, { status: 504, body: { error: 'timeout', dispatchId: String } })
  const { dispatchId } = body
  has(t, await read(dispatchId), { status: 'running' })
  t.strictSame(await callbacks(dispatchId), [])
  stage.release()
  await until('it has ended', async () => (await read(dispatchId)).status === 'succeeded')
  t.strictSame(await callbacks(dispatchId), ['dispatch.succeeded'])
})

await t.test('a dispatch whose process was killed is called back, whoever waited for it', async (t) => {
  stage.acts = ['hang accepted']
  const answered = ask('invoicing', '', { providerName: 'mute' })
  await stage.hanging()
  const { body: { data: [{ dispatchId }] } } = await send('GET', '/api/v1/dispatches?status=running')
  const survivor = {
    ...app.get('pipelineParts'),
    leases: createLeases({ database: app.get('database'), newId: app.get('newId'), now: clock.now, log: app.get('log') })
  }
  t.teardown(() => survivor.leases.close())
  await owner.updateTable('dispatches').set({ leased_until: new Date(clock.now().getTime() - 1) }).where('dispatch_id', '=', dispatchId)
    .execute()
  await sweepDispatches(survivor, { send: () => Promise.resolve() } as unknown as Queue)
  has(t, await read(dispatchId), { status: 'uncertain' })
  t.strictSame(await callbacks(dispatchId), ['dispatch.uncertain'])
  stage.release()
  t.ok((await answered).status >= 400)
  await until('the late answer is recorded', async () => (await read(dispatchId)).status === 'succeeded')
  t.strictSame(await callbacks(dispatchId), ['dispatch.uncertain', 'dispatch.succeeded'])
})

await t.test('without a callbackUrl nobody is called', async (t) => {
  const dispatchId = await queued([], 'invoicing', { callbackUrl: undefined })
  has(t, await read(dispatchId), { status: 'succeeded' })
  t.strictSame(await callbacks(dispatchId), [])
})

await t.test('what becomes of contracts and letters is called back for all that gave a callbackUrl, each move once', async (t) => {
  const worker = await createApp({ ...app.get('config'), runsWorker: true }, { databaseUrl, log: createLogger('silent'), ...parts })
  const tell = (dispatchId: string, status: string): Promise<Answer> =>
    send('POST', '/api/v1/simulator/events', { body: { dispatchId, status } })
  const moves: [string, string[], string[]][] = [
    ['esign', ['viewed', 'viewed', 'started', 'completed'], ['esign.viewed', 'esign.completed']],
    ['postal', ['printed', 'delivered', 'returned', 'mailed'], ['postal.printed', 'postal.delivered', 'postal.returned']]
  ]
  for (const [service, events, called] of moves) {
    const { body: { dispatchId } } = await ask(service as 'esign', '')
    const { body: { dispatchId: quiet } } = await ask(service as 'esign', '', { callbackUrl: undefined })
    for (const [index, status] of events.entries()) {
      for (const id of [dispatchId, quiet]) {
        await tell(id, status)
        await until(`${status} is noted`, async () => (await eventsOf(id, 'webhook')).length === index + 1)
      }
    }
    t.strictSame(await callbacks(dispatchId), called)
    t.strictSame((await shown(dispatchId)).map(({ steps: [{ deliveryStatus }] }) => `${service}.${deliveryStatus}`), called)
    t.strictSame(await callbacks(quiet), [])
  }
  const { body: { dispatchId } } = await ask('esign', '?async=true')
  await until('it is done', async () => (await read(dispatchId)).status === 'succeeded')
  await tell(dispatchId, 'completed')
  await until('both are called back', async () => (await callbacks(dispatchId)).length === 2)
  t.strictSame(await callbacks(dispatchId), ['dispatch.succeeded', 'esign.completed'])
  await worker.close()
})

await t.test('each of them is as the documentation has it', async (t) => {
  const { body: document } = await send('GET', '/openapi/1.1.0.json', {}, null)
  const compiled = schemasOf(document)
  const sent = (await owner.selectFrom('outbox').select(['type', 'body']).execute()).map(({ type, body }) => ({
    type,
    body: JSON.parse(body ?? '{}') as unknown
  }))
  t.ok(new Set(sent.map(({ type }) => type)).size > 8)
  for (const { type, body } of sent) {
    const { requestBody } = resolved(document, document.webhooks[type]).post
    t.strictSame(compiled(resolved(document, requestBody).content['application/json'].schema)(body), { ok: true, value: body }, type)
  }
})
