import { createBreakers } from '@dispatch/host'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { stageVendor } from '../core/work/staged-vendor.ts'
import { chainBody } from '../support/chains.ts'
import { clockAt } from '../support/clock.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

// The tests are the worker, and the clock is theirs.
const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const stage = await stageVendor(providers)
const archive = await createVendor()
t.teardown(archive.close)
await providers.add('issuer', {}, accepts, {
  document: ({ id }: { id: string }, { http }) => http.download(`https://api.vendor.example/${id}`, { filename: 'theirs.pdf' })
})
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: {
    renderer: quickRenderer,
    now: clock.now,
    network: vendorNetwork(archive),
    breakers: createBreakers({ now: clock.now, failures: 1000 })
  }
})
for (const code of ['mute', 'found', 'issuer']) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { dispatch: read, credits } = readingOf(service)
const put = async (providerName: string, path = '/api/invoicing', query = '?async=true', more: object = {}): Promise<any> =>
  (await service.send('POST', path + query, {
    body: { ...chainBody(path.split('/').slice(2) as never, invoiceRequest()['template']), providerName, ...more }
  })).body
const { company_id: companyId } = await service.app.get('database').owner.selectFrom('users').select('company_id').where('email', '=',
  'demo@example.com').executeTakeFirstOrThrow()
const take = (dispatchId: string): Promise<void> => runQueued(service.app.get('pipeline'), { companyId, dispatchId })

/** Takes a dispatch whenever it is due; tells how many seconds it waited each time. */
async function follow (dispatchId: string): Promise<number[]> {
  const waits: number[] = []
  for (;;) {
    await take(dispatchId)
    const { status, nextTryAt } = await read(dispatchId)
    if (status !== 'queued') return waits
    const wait = (Date.parse(nextTryAt) - clock.now().getTime()) / 1000
    waits.push(wait)
    clock.advance(wait)
  }
}
t.beforeEach(() => {
  stage.acts = []
})

await t.test('what was surely not sent is tried again by itself until it is accepted, once; its price stays held meanwhile', async (t) => {
  const before = await credits()
  stage.acts = ['close', 'close']
  const { dispatchId } = await put('mute')
  await take(dispatchId)
  has(t, await read(dispatchId), {
    status: 'queued',
    finishedAt: null,
    nextTryAt: String,
    steps: [{ status: 'unavailable', error: { error: 'provider_unavailable' }, creditsCharged: 0 }]
  })
  t.strictSame(await credits(), { ...before, held: before.held + 1 })
  t.equal((await follow(dispatchId)).length, 1)
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1 })
  const { reference } = stage.calls.at(-1) ?? {}
  t.equal(stage.calls.filter((call) => call.reference === reference).length, 3)
  t.strictSame(stage.taken, [reference])
  t.strictSame(await credits(), { balance: before.balance - 1, held: before.held })
})

await t.test('it is tried again after 2 s, 10 s, 1 min, 5 min, 30 min and 2 h, give or take a fifth; then it has ' +
  'failed and holds nothing', async (t) => {
  const before = await credits()
  stage.acts = Array(20).fill('close')
  const { dispatchId } = await put('mute')
  const usual = [2, 10, 60, 300, 1800, 7200]
  const waits = await follow(dispatchId)
  t.equal(waits.length, usual.length)
  for (const [index, seconds] of usual.entries()) t.ok(Math.abs((waits[index] ?? 0) / seconds - 1) <= 0.21, `${waits[index]} of ${seconds}`)
  has(t, await read(dispatchId), { status: 'failed', steps: [{ status: 'unavailable' }], finishedAt: String })
  t.strictSame(await credits(), before)
  t.equal(stage.acts.length, 13)

  stage.acts = ['close']
  has(t, (await service.send('POST', `/api/v1/dispatches/${dispatchId}/retry?async=true`)).body, { status: 'queued' })
  t.equal((await follow(dispatchId)).length, 1, 'after a retry it has all its tries again')
})

await t.test('no other outcome is tried again by itself, nor what a client waits for', async (t) => {
  for (const [act, status] of [['refuse', 'failed'], ['lose', 'uncertain'], ['drop', 'uncertain']] as const) {
    stage.acts = [act]
    const { dispatchId } = await put('mute')
    t.strictSame(await follow(dispatchId), [], act)
    has(t, await read(dispatchId), { status }, act)
  }
  stage.acts = ['close']
  const { error, dispatchId } = await put('mute', '/api/invoicing', '')
  t.equal(error, 'provider_unavailable')
  t.strictSame(await follow(dispatchId), [])
  has(t, await read(dispatchId), { status: 'failed' })
})

await t.test('what could not be made ready, be it again and again, is tried again too', async (t) => {
  const pdf = { headers: { 'content-type': 'application/pdf' }, body: Buffer.from('%PDF theirs') }
  archive.answer([{ status: 500 }, { status: 500 }, { status: 500 }, pdf])
  const { dispatchId } = await put('issuer', '/api/invoicing/upload')
  t.equal((await follow(dispatchId)).length, 3)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'accepted' }], creditsCharged: 1 })
  archive.answer({ status: 500 })
  const lost = await put('issuer', '/api/invoicing/upload')
  t.equal((await follow(lost.dispatchId)).length, 6)
  has(t, await read(lost.dispatchId), { status: 'partial', steps: [{ status: 'accepted' }, { status: 'unavailable' }] })
})

await t.test('what waits for its next try can be cancelled as long as no provider has accepted anything', async (t) => {
  const before = await credits()
  const cancel = (id: string): Promise<Answer> => service.send('POST', `/api/v1/dispatches/${id}/cancel`)
  stage.acts = ['close']
  const { dispatchId } = await put('mute')
  await take(dispatchId)
  has(t, await cancel(dispatchId), { status: 200, body: { status: 'cancelled' } })
  const made = await put('simulator', '/api/file/sms', '?async=true', {
    providerName: undefined,
    sms: { phoneNumber: '+15005550002', message: 'Hello' }
  })
  await take(made.dispatchId)
  has(t, await read(made.dispatchId), { status: 'queued', steps: [{ service: 'file', status: 'accepted' }, { status: 'unavailable' }] })
  t.equal((await cancel(made.dispatchId)).status, 200, 'a document alone is nothing that was sent')
  t.strictSame(await credits(), before)
  const begun = await put('mute', '/api/invoicing/sms', '?async=true', { sms: { phoneNumber: '+15005550002', message: 'Hello' } })
  await take(begun.dispatchId)
  has(t, await cancel(begun.dispatchId), { status: 409, body: { error: 'conflict', message: /has begun/ } })
  has(t, await follow(begun.dispatchId), [Number])
  has(t, await read(begun.dispatchId), { status: 'succeeded' })
})
