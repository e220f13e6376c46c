import { unavailable } from '@dispatch/core/provider'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../core/work/support.ts'
import { createGate } from '../support/gate.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, seededDatabase, startService, type TestService } from '../support/service.ts'
import { outageOf } from './support/outage.ts'
import { accepts, type Handler, testProviders } from './support/providers.ts'

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
  replacements: { renderer: { ...quickRenderer, render: (job) => rendering().then(() => quickRenderer.render(job)) } }
})
for (const code of Object.keys(handlers)) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })

const dispatch = (providerName: string, key: string = crypto.randomUUID(), to: TestService = service): Promise<Answer> =>
  to.send('POST', '/api/invoicing', {
    body: invoiceRequest({ number: `N-${key}` }, { providerName }),
    headers: { 'x-idempotency-key': key }
  })
const credits = async (): Promise<{ balance: number, held: number }> => {
  const { body: { balance, held } } = await service.send('GET', '/api/v1/credits')
  return { balance, held }
}
const kinds = async (dispatchId: string): Promise<string[]> => {
  const { body: { data } } = await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)
  return data.map(({ kind }: { kind: string }) => kind)
}

/** Waits until the service has logged the sentence for the first time. */
async function logged (sentence: string): Promise<void> {
  while (!service.log.some((line) => line.includes(sentence))) await pause(2)
}

await t.test('an acceptance is recorded, and charged once, although the database went away during the call', async (t) => {
  const sent = dispatch('unplugging')
  await logged('the outcome could not be recorded')
  await outage.end()
  const { status, body } = await sent
  t.equal(status, 200)
  t.strictSame(await credits(), { balance: 99, held: 0 })
  t.strictSame(await kinds(body.dispatchId), ['planned', 'rendered', 'calling', 'answered'])
})

await t.test('an acceptance that cannot be recorded is a 504 outcome_unknown; once it can, it is recorded and charged, and ' +
  'nothing sends it again', async (t) => {
  const { status, body } = await dispatch('unplugging', 'unrecorded')
  has(t, { status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  t.ok(service.log.some((line) => line.includes('the outcome is not recorded') && line.includes(body.dispatchId)))
  await outage.end()
  await until('it is recorded', async () => (await credits()).held === 0)
  t.strictSame(await credits(), { balance: 98, held: 0 })
  has(t, await dispatch('unplugging', 'unrecorded'), { status: 200, body: { success: true, dispatchId: body.dispatchId } })
  t.strictSame(await kinds(body.dispatchId), ['planned', 'rendered', 'calling', 'answered'])
})

await t.test('what was surely not sent is not called so when it cannot be recorded, but once it can', async (t) => {
  const { status, body } = await dispatch('closing')
  await outage.end()
  has(t, { status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  await until('it is recorded', async () => (await credits()).held === 0)
  has(t, (await service.send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body, {
    status: 'failed',
    steps: [{ error: { error: 'provider_unavailable' } }]
  })
})

await t.test('a dispatch whose attempt could not be recorded has called nobody, costs nothing, and goes ' +
  'on when it is repeated', async (t) => {
  const before = await credits()
  rendering = outage.begin
  const sent = dispatch('accepting', 'unattempted')
  await logged('the provider was not called')
  await outage.end()
  const { status, body } = await sent
  has(t, { status, body }, { status: 503, body: { error: 'service_unavailable', message: /Nothing was sent/, dispatchId: String } })
  t.strictSame(await credits(), before)
  t.strictSame(await kinds(body.dispatchId), ['planned', 'failed'])

  rendering = () => Promise.resolve()
  has(t, await dispatch('accepting', 'unattempted'), { status: 200, body: { dispatchId: body.dispatchId } })
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
  has(t, { status, body }, { status: 503, body: { error: 'provider_unavailable', message: /configuration has been removed/ } })
  t.strictSame(await credits(), before)
  await service.send('PUT', '/api/v1/my/providers/accepting', { body: { settings: {} } })
  t.equal((await dispatch('accepting', 'removed')).status, 200)
})

await t.test('an outage before a dispatch is recorded leaves nothing behind and does not use the key up', async (t) => {
  rendering = () => Promise.resolve()
  await outage.begin()
  has(t, await dispatch('accepting', 'unopened'), { status: 503, body: { error: 'service_unavailable' } })
  await outage.end()
  const answer = await dispatch('accepting', 'unopened')
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('idempotency-replayed'), null)
})
