import t from 'tap'
import { refusalOf } from '../../../core/packages/contract/delivery.ts'
import { queueStranded } from '../../../core/packages/features/vendor-events/service/work.ts'
import { createPollSweep } from '../../../core/work/status/poll.ts'
import { has } from '../../support/matching.ts'
import { hookService, until } from './support.ts'

const hour = 3_600_000
const clock = { time: Date.parse('2026-03-14T09:00:00.000Z') }
const service = await hookService(t, { replacements: { now: () => new Date(clock.time) } })
const { accepted, delivery, vendor, app } = service
await service.configure('seal-one', {})

const questions = (id: string) => vendor.requests.filter(({ path }) => path === `/status/${id}`).length
const idle = { statusQuery: () => Promise.reject(new Error('The sweep asks nobody.')) }
const sweep = createPollSweep({
  database: app.get('database'),
  host: app.get('host'),
  queue: app.get('queue'),
  log: app.get('log'),
  ...idle
})
const polledAt = async (stepId: string) =>
  (await app.get('database').owner.selectFrom('steps').select('polled_at').where('step_id', '=', stepId).executeTakeFirstOrThrow())
    .polled_at?.getTime()

await t.test('a step whose events never come is asked after an hour, then every six, until it is settled', async (t) => {
  const { dispatchId, stepId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'p_1' })
  vendor.on('GET /status/p_1', [
    { json: { status: 'open' } },
    { status: 500 },
    { json: { status: 'odd' } },
    { json: { status: 'finished' } }
  ])
  let before = 0
  const requested = async (after: number, times: number) => {
    clock.time += after
    await sweep()
    await sweep()
    // A job that is not quite done keeps another one about its step out: the next sweep adds it. What was asked is noted before the clock
    // goes on.
    if (times > before) {
      await until(`question ${String(times)}`, async () => {
        await sweep()
        return await polledAt(stepId) === clock.time
      })
    }
    t.equal(questions('p_1'), times)
    before = times
  }
  await requested(0.9 * hour, 0)
  await requested(0.2 * hour, 1)
  t.equal((await delivery(dispatchId)).status, 'started')
  await requested(5.9 * hour, 1)
  await requested(0.2 * hour, 2)
  await requested(6.1 * hour, 3)
  await requested(6.1 * hour, 4)
  await until('the last answer counts', async () => (await delivery(dispatchId)).status === 'completed')
  await requested(24 * hour, 4)
  has(t, (await delivery(dispatchId)).events, [
    { kind: 'polled', actor: { kind: 'provider', code: 'seal-one' }, facts: { type: 'open', status: 'started', changed: true } },
    { kind: 'polled', facts: { type: 'odd', status: 'unknown', before: 'started', changed: false } },
    { kind: 'polled', facts: { type: 'finished', status: 'completed', before: 'started', changed: true } }
  ])
})

await t.test('nobody is asked for ever, nor about a service whose provider cannot tell', async (t) => {
  await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'p_old' })
  await accepted({ provider: 'post-one', service: 'postal', remoteId: 'p_mute' })
  clock.time += 241 * hour
  await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'p_new' })
  clock.time += 2 * hour
  vendor.on('GET /status/p_new', { json: { status: 'finished' } })
  await sweep()
  await until('the new one is asked after', () => questions('p_new') === 1)
  t.equal(questions('p_old'), 0)
  t.equal(questions('p_mute'), 0)
})

await t.test('a step whose configuration has gone is not asked after with another one', async (t) => {
  const { dispatchId, stepId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'p_2', configuredBy: 'user' })
  clock.time += 2 * hour
  await sweep()
  await until('it was tried', async () => await polledAt(stepId) === clock.time)
  t.equal(questions('p_2'), 0)
  t.equal((await delivery(dispatchId)).status, null)
})

await t.test('an event whose job was lost is found again', async () => {
  const { dispatchId } = await accepted({ provider: 'seal-one', service: 'esign', remoteId: 'p_3' })
  await app.get('database').owner.insertInto('inbound').values({
    inbound_id: '0199a000-0000-7000-8000-000000000003',
    service: 'esign',
    provider_code: 'seal-one',
    digest: 'd',
    body: Buffer.from('{"transaction":"p_3","type":"viewed"}'),
    received_at: new Date(clock.time - 3 * hour),
    state: 'waiting'
  }).execute()
  await queueStranded({ database: app.get('database'), queue: app.get('queue') })
  await until('it is applied', async () => (await delivery(dispatchId)).status === 'viewed')
})

await t.test('what a vendor says of an invoice stands in the answer and in the timeline, until nothing more can follow', async (t) => {
  await service.configure('bill-one', {})
  const { dispatchId, stepId } = await accepted({ provider: 'bill-one', service: 'invoicing', remoteId: 'f_1' })
  const details = [{ reasonCode: 'InvalidSchema' }]
  vendor.on('GET /status/f_1', [
    { json: { id: 'f_1', status: 'Pending' } },
    { status: 500 },
    { json: { id: 'f_1', status: 'Pending' } },
    { json: { id: 'other', status: 'Error', details } }
  ])
  for (const [minutes, times] of [[0.5, 0], [1, 1], [9, 1], [2, 2], [11, 3], [11, 4], [60, 4]] as const) {
    clock.time += minutes * 60_000
    const before = questions('f_1')
    await sweep()
    if (times > before) {
      await until(`question ${String(times)}`, async () => {
        await sweep()
        return await polledAt(stepId) === clock.time
      })
    }
    t.equal(questions('f_1'), times)
  }
  const { body } = await service.send('GET', `/api/v1/dispatches/${dispatchId}`)
  has(t, body, {
    status: 'succeeded',
    steps: [{ status: 'accepted', deliveryStatus: 'rejected', providerResponse: { id: 'f_1', status: 'Error', details } }]
  })
  t.strictSame((await delivery(dispatchId)).events, [
    { kind: 'polled', actor: { kind: 'provider', code: 'bill-one' }, facts: { type: 'Pending', status: 'received', changed: true } },
    {
      kind: 'polled',
      actor: { kind: 'provider', code: 'bill-one' },
      facts: { type: 'Error', status: 'rejected', before: 'received', changed: true, details, message: refusalOf('invoicing', 'rejected') }
    }
  ])
})

await t.test('what becomes of an e-mail or of a file is asked too, and told from version 1.1.0 of the API on', async (t) => {
  await service.configure('mail-one', { allowedSenders: ['@example.com'] })
  const mail = await accepted({ provider: 'mail-one', service: 'email', remoteId: 'm_1' })
  const file = await accepted({ provider: 'mail-one', service: 'upload', remoteId: 'u_1' })
  vendor.on('GET /status/m_1', { json: { status: 'back' } })
  vendor.on('GET /status/u_1', [{ json: { status: 'busy' } }, { json: { status: 'kept' } }])
  const statusIn = async (dispatchId: string, version: string) => {
    const { body } = await service.send('GET', `/api/v1/dispatches/${dispatchId}`, { headers: { 'x-api-version': version } })
    return body.steps[0].deliveryStatus
  }
  for (const expected of ['processing', 'available']) {
    clock.time += 2 * hour
    await until(expected, async () => {
      await sweep()
      return (await delivery(file.dispatchId)).status === expected
    })
  }
  await until('the e-mail came back', async () => (await delivery(mail.dispatchId)).status === 'bounced')
  t.equal(questions('m_1'), 1, 'nothing follows: nobody is asked again')
  for (const [{ dispatchId }, status] of [[mail, 'bounced'], [file, 'available']] as const) {
    t.equal(await statusIn(dispatchId, '1.1.0'), status)
    t.equal(await statusIn(dispatchId, '1.0.1'), undefined)
  }
})
