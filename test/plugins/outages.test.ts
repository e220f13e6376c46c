import { setTimeout as pause } from 'node:timers/promises'
import { unavailable } from '@dispatch/core/provider'
import t from 'tap'
import { invoiceRequest, seededDatabase, startService, type Answer, type TestService } from '../support/service.ts'
import { outageOf } from './support/outage.ts'
import { createGate, quickRenderer } from './support/parts.ts'
import { accepts, testProviders, type Handler } from './support/providers.ts'

const databaseUrl = await seededDatabase(t)
const outage = outageOf(databaseUrl)
const providers = await testProviders(t)
const handlers: Record<string, Handler> = {
  unplugging: async (request, call) => {
    await outage.begin()
    return accepts(request, call)
  },
  closing: async () => {
    await outage.begin()
    throw unavailable('Closed.')
  },
  accepting: accepts
}
for (const [code, handler] of Object.entries(handlers)) await providers.add(code, {}, handler)

let rendering = (): Promise<unknown> => Promise.resolve()
const service = await startService(t, {
  databaseUrl,
  config: { providerDirectories: providers.directories },
  parts: { renderer: { ...quickRenderer, render: (job) => rendering().then(() => quickRenderer.render(job)) } }
})
for (const code of Object.keys(handlers)) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })

const dispatch = (providerName: string, key: string = crypto.randomUUID(), to: TestService = service): Promise<Answer> =>
  to.send('POST', '/api/invoicing', { body: invoiceRequest({ number: `N-${key}` }, { providerName }), headers: { 'x-idempotency-key': key } })
const credits = async (): Promise<object> => {
  const { body: { balance, held } } = await service.send('GET', '/api/v1/credits')
  return { balance, held }
}
const kinds = async (dispatchId: string): Promise<string[]> => {
  const { body: { data } } = await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  return data.map(({ kind }: { kind: string }) => kind)
}

/** Waits until the service has failed to record an outcome for the n-th time. */
async function failures (count: number): Promise<void> {
  while (service.log.join('\n').split('the outcome could not be recorded').length <= count) await pause(2)
}

await t.test('an acceptance is recorded, and charged once, although the database went away during the call', async (t) => {
  const sent = dispatch('unplugging')
  await failures(1)
  await outage.end()
  const { status, body } = await sent
  t.equal(status, 200)
  t.strictSame(await credits(), { balance: 99, held: 0 })
  t.strictSame(await kinds(body.dispatchId), ['planned', 'rendered', 'calling', 'answered'])
})

await t.test('an acceptance that cannot be recorded is a 504 outcome_unknown: the hold stays, and nothing sends it again', async (t) => {
  const { status, body } = await dispatch('unplugging', 'unrecorded')
  t.match({ status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  await outage.end()
  t.strictSame(await credits(), { balance: 99, held: 1 })
  t.match((await service.send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body, { status: 'running', steps: [{ status: 'calling' }] })
  t.equal((await dispatch('unplugging', 'unrecorded')).status, 409)
  t.ok(service.log.some((line) => line.includes('the outcome is not recorded') && line.includes(body.dispatchId)))
})

await t.test('what was surely not sent is not called so when it cannot be recorded: whoever recovers it may send it', async (t) => {
  const { status, body } = await dispatch('closing')
  await outage.end()
  t.match({ status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
})

await t.test('a dispatch whose attempt could not be recorded has called nobody, costs nothing, and goes on when it is repeated', async (t) => {
  const before = await credits()
  rendering = outage.begin
  const seen = service.log.join('\n').split('the outcome could not be recorded').length - 1
  const sent = dispatch('accepting', 'unattempted')
  await failures(seen + 1)
  await outage.end()
  const { status, body } = await sent
  t.match({ status, body }, { status: 503, body: { error: 'service_unavailable', message: /Nothing was sent/, dispatchId: String } })
  t.strictSame(await credits(), before)
  t.strictSame(await kinds(body.dispatchId), ['planned', 'failed'])

  rendering = () => Promise.resolve()
  t.match(await dispatch('accepting', 'unattempted'), { status: 200, body: { dispatchId: body.dispatchId } })
})

await t.test('a configuration removed before the call is not replaced by another: nobody is called', async (t) => {
  const before = await credits()
  await service.send('PUT', '/api/v1/my/providers/accepting', { body: { settings: {} } })
  const gate = createGate()
  rendering = gate.pass
  const sent = dispatch('accepting', 'removed')
  await gate.reached
  await service.send('DELETE', '/api/v1/my/providers/accepting')
  gate.open()
  const { status, body } = await sent
  t.match({ status, body }, { status: 503, body: { error: 'provider_unavailable', message: /configuration has been removed/ } })
  t.strictSame(await credits(), before)
  await service.send('PUT', '/api/v1/my/providers/accepting', { body: { settings: {} } })
  t.equal((await dispatch('accepting', 'removed')).status, 200)
})

await t.test('an outage before a dispatch is recorded leaves nothing behind and does not use the key up', async (t) => {
  rendering = () => Promise.resolve()
  await outage.begin()
  t.match(await dispatch('accepting', 'unopened'), { status: 503, body: { error: 'service_unavailable' } })
  await outage.end()
  const answer = await dispatch('accepting', 'unopened')
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('idempotency-replayed'), null)
})
