import { createBreakers } from '@dispatch/host'
import { mock } from 'node:test'
import t from 'tap'
import { tablesIn } from '../../../core/packages/features/templates/store/tables.ts'
import { reconcile, uncertainError } from '../../../core/pipeline/recover/reconcile.ts'
import { runDeferredAction } from '../../../core/pipeline/run/deferred.ts'
import { createLeases } from '../../../core/pipeline/run/leases.ts'
import { acquireLease, recoverDispatch, takeQueued } from '../../../core/store/dispatch/runs.ts'
import { beginAttempt } from '../../../core/store/dispatch/steps.ts'
import { testProviders } from '../../plugins/support/providers.ts'
import { chainBody } from '../../support/chains.ts'
import { clockAt } from '../../support/clock.ts'
import { has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { readingOf } from '../../support/reading.ts'
import { runQueued } from '../../support/run-queued.ts'
import { type Answer, invoiceRequest, startService } from '../../support/service.ts'
import { sweepAndWork } from '../../support/sweep.ts'
import { type Act, type Kind, kindsOfProviders, stageVendor, timeLimit, ttl, visibleAfter } from './staged-vendor.ts'

const [minute, hour, day] = [60, 3600, 24 * 3600]
const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const vendor = await stageVendor(providers)
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
})
const { app, send } = service
const { dispatch: read, credits, timeline, events, outbox } = readingOf(service)
const [database, pipeline] = [app.get('database'), app.get('pipeline')]
// Another process: this one would take nothing away that it holds itself. A lease that is not renewed is lost when the clock says so.
const leases = createLeases({ database, newId: app.get('newId'), now: clock.now, log: app.get('log') })
const dependencies = { ...app.get('pipelineParts'), leases }
for (const { close } of [leases, app.get('leases')]) close()
for (const code of kindsOfProviders) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { company_id: companyId } = await database.owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()

const invoice = (providerName: Kind | 'simulator', query = '', more: Record<string, unknown> = {}): Promise<Answer> =>
  send('POST', `/api/invoicing${query}`, { body: invoiceRequest({}, { providerName, ...more }) })
const queued = async (providerName: Kind | 'simulator', more?: Record<string, unknown>): Promise<string> =>
  (await invoice(providerName, '?async=true', more)).body.dispatchId
const stepOf = (dispatchId: string) =>
  database.owner.selectFrom('steps').selectAll().where('dispatch_id', '=', dispatchId).where('position', '=', 0).executeTakeFirstOrThrow()

/** What a dispatch holds, in credits. */
const heldFor = async (dispatchId: string): Promise<number> =>
  Number(
    (await database.owner.selectFrom('steps').select(({ fn }) => fn.sum('held').as('held')).where('dispatch_id', '=', dispatchId)
      .executeTakeFirstOrThrow()).held
  )

/** What a worker does: a sweep, and the jobs of all that is due. */
async function sweep (): Promise<void> {
  await sweepAndWork(pipeline, dependencies)
  const due = await database.owner.selectFrom('dispatches').select('dispatch_id').where('status', '=', 'queued').where('next_try_at', '<=',
    clock.now()).execute()
  for (const { dispatch_id: dispatchId } of due) await runQueued(pipeline, { companyId, dispatchId })
}

async function after (seconds: number): Promise<void> {
  clock.advance(seconds)
  await sweep()
}

/** Runs a queued dispatch whose provider never answers, and has its process die meanwhile. `dead`: what becomes of that process. */
const kill = async (dispatchId: string, act: Act): Promise<{ dead: Promise<unknown> }> => {
  vendor.acts.push(act)
  const dead = runQueued(pipeline, { companyId, dispatchId }).catch((error: unknown) => error)
  await vendor.hanging()
  await after(16)
  return { dead }
}

const callsOf = (reference: string) => vendor.calls.filter((call) => call.reference === reference)
const takenOf = (reference: string): number => vendor.taken.filter((taken) => taken === reference).length

t.beforeEach(() => {
  vendor.look = undefined
  vendor.acts = []
})
t.teardown(() => vendor.release())

await t.test('a dispatch of which nothing was called goes on by itself when its process is gone', async (t) => {
  const dispatchId = await queued('mute')
  await takeQueued(database, [{ companyId, dispatchId, lease: { runId: crypto.randomUUID(), seconds: 15 } }])
  await after(14)
  has(t, await read(dispatchId), { status: 'running' }, 'its lease holds')
  await after(2)
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1 })
  t.strictSame(await timeline(dispatchId), ['planned', 'recovered', 'rendered invoicing', 'calling invoicing', 'answered invoicing'])
})

await t.test('a dispatch that only a newer release can read is left to one, and waits longer each time', async (t) => {
  const dispatchId = await queued('keyed')
  const { template_id: id, template_version: version } = await database.owner.selectFrom('dispatches')
    .select(['template_id', 'template_version']).where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()
  const writtenIn = (language: number) =>
    tablesIn(database.owner).updateTable('template_versions').set({ language }).where('template_id', '=', id ?? 0)
      .where('version', '=', version ?? 0).returning('language').execute()
  const waits = async (): Promise<number> => {
    const { status, run_id: runId, leased_until: leasedUntil, next_try_at: next } = await database.owner.selectFrom('dispatches')
      .select(['status', 'run_id', 'leased_until', 'next_try_at']).where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()
    t.same({ status, runId, leasedUntil }, { status: 'queued', runId: null, leasedUntil: null }, 'no run keeps it')
    return ((next?.getTime() ?? 0) - clock.now().getTime()) / 1000
  }
  await writtenIn(99)
  await runQueued(pipeline, { companyId, dispatchId })
  t.equal(await waits(), 1)
  await after(20)
  t.equal(await waits(), 10)
  await after(10)
  t.equal(await waits(), 15)
  await after(3600)
  t.equal(await waits(), 30, 'and no longer than that')
  t.strictSame(await timeline(dispatchId), ['planned'], 'nothing has happened to it')
  await writtenIn(1)
  await after(30)
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1 })
})

await t.test('what is done here is done again when its process was killed meanwhile', async (t) => {
  const { body: { dispatchId } } = await send('POST', '/api/file?async=true', { body: { template: invoiceRequest()['template'] } })
  const runId = crypto.randomUUID()
  await takeQueued(database, [{ companyId, dispatchId, lease: { runId, seconds: 15 } }])
  await beginAttempt(database, { companyId, dispatchId, stepId: (await stepOf(dispatchId)).step_id, runId })
  await after(16)
  has(t, await read(dispatchId), {
    status: 'succeeded',
    steps: [{ status: 'accepted', generatedDocument: { contentType: 'application/pdf' } }]
  })
})

/** How a step ends whose process was killed, by the kind of its provider: after the first look, and after a day. */
const ends: { kind: Kind, act: Act, first: string, later: string, calls: number, taken: number }[] = [
  { kind: 'keyed', act: 'hang first', first: 'succeeded', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'keyed', act: 'hang accepted', first: 'succeeded', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'keyed-found', act: 'hang first', first: 'succeeded', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'keyed-found', act: 'hang accepted', first: 'succeeded', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'found', act: 'hang first', first: 'uncertain', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'found', act: 'hang accepted', first: 'succeeded', later: 'succeeded', calls: 1, taken: 1 },
  { kind: 'mute', act: 'hang first', first: 'uncertain', later: 'uncertain', calls: 1, taken: 0 },
  { kind: 'mute', act: 'hang accepted', first: 'uncertain', later: 'uncertain', calls: 1, taken: 1 },
  { kind: 'draft', act: 'hang first', first: 'queued', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'draft', act: 'hang after checkpoint', first: 'uncertain', later: 'uncertain', calls: 1, taken: 0 },
  { kind: 'draft', act: 'hang accepted', first: 'uncertain', later: 'uncertain', calls: 1, taken: 1 },
  { kind: 'draft-found', act: 'hang first', first: 'uncertain', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'draft-found', act: 'hang after checkpoint', first: 'uncertain', later: 'succeeded', calls: 2, taken: 1 },
  { kind: 'draft-found', act: 'hang accepted', first: 'succeeded', later: 'succeeded', calls: 1, taken: 1 }
]

for (const { kind, act, first, later, calls, taken } of ends) {
  await t.test(`killed in the call (${act}), a step of a provider of the kind "${kind}" is uncertain, then ${first}, at last ` +
    `${later}; nothing is sent twice`, async (t) => {
    const before = await credits()
    const dispatchId = await queued(kind)
    const { dead } = await kill(dispatchId, act)
    has(t, await read(dispatchId), { status: 'uncertain', steps: [{ status: 'uncertain', error: { error: 'outcome_unknown' } }] })
    t.equal(await heldFor(dispatchId), 1)
    await after(10)
    has(t, await read(dispatchId), { status: first })
    for (const seconds of [5, 50, 5 * minute, 3 * hour, 21 * hour]) await after(seconds)
    has(t, await read(dispatchId), { status: later })

    const { step_id: reference } = await stepOf(dispatchId)
    t.equal(callsOf(reference).length, calls)
    t.equal(takenOf(reference), taken)
    t.equal(new Set(callsOf(reference).map(({ key }) => key)).size, 1, 'under one key')
    t.equal(before.balance - (await credits()).balance, later === 'succeeded' ? 1 : 0)
    t.equal(await heldFor(dispatchId), later === 'uncertain' ? 1 : 0)
    // Nothing of it is settled beside the next one.
    vendor.release()
    await dead
  })
}

await t.test('a run that has lost its lease records no checkpoint, and what another run has done stays as it is', async (t) => {
  const dispatchId = await queued('draft')
  const { dead } = await kill(dispatchId, 'hang first')
  await after(12)
  await after(3)
  const before = await read(dispatchId)
  has(t, before, { status: 'succeeded' })
  vendor.release()
  has(t, await dead, { word: 'conflict' })
  t.strictSame(await read(dispatchId), before)
  t.equal(takenOf((await stepOf(dispatchId)).step_id), 1, 'taken once')
  has(t, (await events(dispatchId, 'corrected')).map(({ actor, facts }) => ({ actor, facts })), [{
    actor: { kind: 'provider', code: 'draft' },
    facts: { attempt: 1, outcome: 'unavailable', changed: false }
  }])
})

/** What an answer makes of a dispatch that was lost meanwhile, by how the vendor ends and how long that takes. */
const lateAnswers: { kind: Kind, act: Act, seconds: number[], before: string, status: string, charged: number }[] = [
  { kind: 'mute', act: 'hang accepted', seconds: [], before: 'uncertain', status: 'succeeded', charged: 1 },
  { kind: 'mute', act: 'hang first, refuse', seconds: [], before: 'uncertain', status: 'failed', charged: 0 },
  { kind: 'mute', act: 'hang first, close', seconds: [], before: 'uncertain', status: 'queued', charged: 0 },
  { kind: 'found', act: 'hang first', seconds: [10, timeLimit + visibleAfter], before: 'queued', status: 'succeeded', charged: 1 }
]

for (const { kind, act, seconds, before, status, charged } of lateAnswers) {
  await t.test(`an answer that comes after the lease was lost counts (${kind}, ${act}): what was ${before} is ${status}`, async (t) => {
    const { balance } = await credits()
    const dispatchId = await queued(kind)
    const { dead } = await kill(dispatchId, act)
    for (const time of seconds) {
      clock.advance(time)
      await reconcile(dependencies, { companyId, dispatchId, stepId: (await stepOf(dispatchId)).step_id })
    }
    has(t, await read(dispatchId), { status: before })
    vendor.release()
    has(t, await dead, { word: 'conflict' })
    has(t, await read(dispatchId), { status, creditsCharged: charged })
    has(t, (await events(dispatchId, 'corrected')).map(({ actor, facts }) => ({ actor, facts })), [{
      actor: { kind: 'provider', code: kind },
      facts: { attempt: 1, outcome: String }
    }])
    t.equal(balance - (await credits()).balance, charged)
    t.equal(await heldFor(dispatchId), status === 'queued' ? 1 : 0)
    await after(3 * hour)
    t.ok(callsOf((await stepOf(dispatchId)).step_id).length <= 2)
    t.ok(takenOf((await stepOf(dispatchId)).step_id) <= 1, 'nothing is sent twice')
  })
}

await t.test('a late answer that a later attempt has overtaken changes nothing, unless the vendor has accepted', async (t) => {
  for (const [act, status] of [['hang first, refuse', 'uncertain'], ['hang accepted', 'succeeded']] as const) {
    const dispatchId = await queued('mute')
    const { dead } = await kill(dispatchId, act)
    const { step_id: stepId } = await stepOf(dispatchId)
    await database.owner.insertInto('attempts').values({
      step_id: stepId,
      number: 2,
      company_id: companyId,
      provider_version: '1.0.0',
      started_at: clock.now(),
      outcome: 'uncertain',
      answered_at: clock.now()
    }).execute()
    vendor.release()
    has(t, await dead, { word: 'conflict' })
    has(t, await read(dispatchId), { status }, act)
  }
})

await t.test('a vendor that accepts late gets a request again under its key, and is not asked whether it has it', async (t) => {
  vendor.looks = []
  vendor.acts = ['drop', 'drop']
  const { status, body: { dispatchId } } = await invoice('keyed-found')
  t.equal(status, 504)
  const { step_id: reference } = await stepOf(dispatchId)
  await after(10)
  has(t, await read(dispatchId), { status: 'uncertain' }, 'the first request is still at work, the vendor says')
  t.equal(callsOf(reference).length, 2)
  await after(50)
  has(t, await read(dispatchId), { status: 'succeeded' })
  t.strictSame([takenOf(reference), new Set(callsOf(reference).map(({ key }) => key)).size, vendor.looks.length], [1, 1, 0])
})

await t.test('a miss never counts where a key could be repeated but the provider is another version', async (t) => {
  vendor.acts = ['drop']
  const { body: { dispatchId } } = await invoice('keyed-found')
  await database.owner.updateTable('steps').set({ provider_version: '0.9.0' }).where('dispatch_id', '=', dispatchId).execute()
  for (const seconds of [10, 50, 240, hour]) await after(seconds)
  has(t, await read(dispatchId), { status: 'uncertain' })
  await after(ttl)
  await after(day)
  has(t, await read(dispatchId), { status: 'failed' }, 'but after all that the key was good for')
})

await t.test('a lease is renewed for as long as the call takes, also when nobody waits for it any more', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  const leases = createLeases({ database, newId: dependencies.newId, now: clock.now, log: dependencies.log })
  t.teardown(() => leases.close())
  const dispatchId = await queued('mute')
  const leasedUntil = async () =>
    (await database.owner.selectFrom('dispatches').select('leased_until').where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow())
      .leased_until?.getTime()
  /** Whether five seconds later the lease has been renewed, looked at so many times. */
  const renewed = async (times: number): Promise<boolean> => {
    clock.advance(5)
    mock.timers.tick(5_000)
    const until = clock.now().getTime() + 15_000
    for (let looks = 1; await leasedUntil() !== until && looks < times; looks++) await new Promise((resolve) => setImmediate(resolve))
    return await leasedUntil() === until
  }
  const call = Promise.withResolvers<undefined>()
  await t.rejects(leases.withLease(async (lease, hold) => {
    await takeQueued(database, [{ companyId, dispatchId, lease }])
    void hold(call.promise)
    t.ok(await renewed(2000))
    throw new Error('The client has gone.')
  }), /gone/)
  for (let times = 0; times < 4; times++) t.ok(await renewed(2000))
  await sweep()
  has(t, await read(dispatchId), { status: 'running' })
  call.resolve(undefined)
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(await renewed(20), 'renewed no more')
  mock.timers.reset()
  await after(16)
  has(t, await read(dispatchId), { status: 'succeeded' })
})

await t.test('a lease that was renewed after it was found lost is not taken away', async (t) => {
  const dispatchId = await queued('mute')
  vendor.acts.push('hang first')
  void runQueued(pipeline, { companyId, dispatchId }).catch(() => undefined)
  await vendor.hanging()
  const recover = (): Promise<unknown> =>
    recoverDispatch(database, {
      companyId,
      dispatchId,
      error: uncertainError,
      lookAfter: 10,
      jobs: dependencies.jobs.dispatch({ companyId, dispatchId }),
      tell: () => Promise.resolve()
    })
  t.equal(await recover(), undefined)
  has(t, await read(dispatchId), { status: 'running', steps: [{ status: 'calling' }] })
  clock.advance(16)
  t.equal(await recover(), 'uncertain')
})

/** When a step in doubt is looked at, in seconds since the doubt began; until it is looked at no more. */
async function looksAt (dispatchId: string): Promise<number[]> {
  const times: number[] = []
  for (let step = await stepOf(dispatchId); step.next_look_at !== null && times.length < 20; step = await stepOf(dispatchId)) {
    times.push((step.next_look_at.getTime() - (step.uncertain_at?.getTime() ?? 0)) / 1000)
    await after((step.next_look_at.getTime() - clock.now().getTime()) / 1000)
  }
  return times
}

await t.test('a step in doubt is looked at after 10 s, 1 min, 5 min, 1 h, then daily for 7 days; then it holds nothing, and a ' +
  'person\'s word is still charged', async (t) => {
  const before = await credits()
  vendor.acts = ['lose']
  vendor.look = () => Promise.reject(new Error('Come back later.'))
  const { status, body: { dispatchId, error } } = await invoice('found')
  has(t, { status, error }, { status: 504, error: 'outcome_unknown' })
  vendor.looks = []
  t.strictSame(await looksAt(dispatchId), [10, minute, 5 * minute, hour, ...[1, 2, 3, 4, 5, 6].map((days) => hour + days * day), 7 * day])
  t.equal(vendor.looks.length, 11)
  has(t, await read(dispatchId), { status: 'uncertain' })
  t.equal(await heldFor(dispatchId), 0)

  has(t, (await send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome: 'accepted', reason: 'It is in their list.' } }))
    .body, { status: 'succeeded', creditsCharged: 1 })
  t.equal((await credits()).balance, before.balance - 1)
})

await t.test('a late acceptance is charged even to a company that has nothing left', async (t) => {
  const poor = await service.company('poor', { credits: 1 })
  await send('PUT', '/api/v1/company/providers/mute', { body: { settings: {} } }, poor.admin)
  vendor.acts = ['lose']
  const body = invoiceRequest({}, { providerName: 'mute' })
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', { body }, poor.admin)
  await looksAt(dispatchId)
  has(t, await send('POST', '/api/invoicing', { body: invoiceRequest({}, { providerName: 'mute' }) }, poor.admin), { status: 200 },
    'what is held no more can be spent')
  t.equal(
    (await send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome: 'accepted', reason: 'Seen.' } }, poor.admin)).status,
    200
  )
  t.strictSame(await readingOf(service, poor.admin).credits(), { balance: -1, held: 0 })
})

await t.test('a miss counts only once everything accepted can be seen', async (t) => {
  vendor.acts = ['drop']
  const { body: { dispatchId } } = await invoice('found')
  t.strictSame(await looksAt(dispatchId), [10, minute, timeLimit + visibleAfter])
  has(t, await read(dispatchId), {
    status: 'failed',
    steps: [{ status: 'unavailable', error: { error: 'provider_unavailable', message: /safe to send it again/ } }]
  })
  vendor.looks = []
  await after(day)
  t.equal(callsOf((await stepOf(dispatchId)).step_id).length, 1, 'its client waited for it: it is not sent again by itself')
  t.equal((await send('POST', `/api/v1/dispatches/${dispatchId}/retry`)).status, 200, 'but by whoever wants it')
})

await t.test('what is refused after all costs nothing', async (t) => {
  const before = await credits()
  vendor.acts = ['drop']
  vendor.look = () => Promise.resolve({ found: 'rejected', code: 'E1', message: 'No such customer.' })
  const { body: { dispatchId } } = await invoice('found')
  await after(10)
  has(t, await read(dispatchId), {
    status: 'failed',
    steps: [{ status: 'rejected', error: { error: 'provider_error', message: 'No such customer.', details: [{ code: 'E1' }] } }]
  })
  t.strictSame(await credits(), before)
})

await t.test('a key is sent again only within its time, counted from the call even when no process was there', async (t) => {
  vendor.acts = ['drop']
  const answered = (await invoice('keyed')).body.dispatchId
  const dispatchId = await queued('keyed')
  vendor.acts = ['hang first']
  void runQueued(pipeline, { companyId, dispatchId }).catch(() => undefined)
  await vendor.hanging()
  await after(ttl - 30)
  await after(10)
  for (const id of [answered, dispatchId]) {
    has(t, await read(id), { status: 'uncertain' })
    t.equal(callsOf((await stepOf(id)).step_id).length, 1)
  }
})

await t.test('what another version of the provider has begun is only looked up', async (t) => {
  for (const [kind, act] of [['keyed', 'hang first'], ['draft-found', 'hang after checkpoint']] as const) {
    const dispatchId = await queued(kind)
    await kill(dispatchId, act)
    const { step_id: reference } = await stepOf(dispatchId)
    await database.owner.updateTable('steps').set({ provider_version: '0.9.0' }).where('step_id', '=', reference).execute()
    await after(10)
    await after(hour)
    has(t, await read(dispatchId), { status: 'uncertain' }, kind)
    t.equal(callsOf(reference).length, 1, kind)
  }
})

await t.test('what is sent again under its key says nothing of before when it is not let in, or fails here', async (t) => {
  vendor.acts = ['drop', 'shut out']
  const { body: { dispatchId } } = await invoice('keyed')
  await after(10)
  has(t, await read(dispatchId), { status: 'uncertain' })
  await database.owner.deleteFrom('configurations').where('provider_code', '=', 'keyed').execute()
  await after(50)
  has(t, await read(dispatchId), { status: 'uncertain' })
  await send('PUT', '/api/v1/company/providers/keyed', { body: { settings: {} } })
  const breakers = createBreakers({ now: clock.now, failures: 1 })
  breakers.fault({ companyId, userId: null, provider: 'keyed' })
  await reconcile({ ...dependencies, breakers }, { companyId, dispatchId, stepId: (await stepOf(dispatchId)).step_id })
  has(t, await read(dispatchId), { status: 'uncertain', steps: [{ status: 'uncertain', error: { error: 'outcome_unknown' } }] })
  await after(hour)
  has(t, await read(dispatchId), { status: 'succeeded' })
})

const chain = async (providerName: Kind, more: Record<string, unknown> = {}): Promise<string> =>
  (await send('POST', '/api/invoicing/sms', {
    body: chainBody(['invoicing', 'sms'], invoiceRequest()['template'], { providerName, ...more })
  })).body.dispatchId

await t.test('a chain goes on by itself when its step in doubt turns out accepted within a day', async (t) => {
  vendor.acts = ['lose']
  const dispatchId = await chain('found')
  has(t, await read(dispatchId), { status: 'uncertain', steps: [{ status: 'uncertain' }, { status: 'planned' }] })
  await after(10)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'accepted' }], creditsCharged: 1 })
  t.strictSame((await events(dispatchId, 'reconciled')).map(({ actor, facts }) => [actor.kind, facts.outcome]), [['system', 'accepted']])
})

await t.test('found accepted later, the chain is partial and waits for a retry', async (t) => {
  vendor.acts = ['lose']
  const dispatchId = await chain('found')
  await after(day + 1)
  has(t, await read(dispatchId), { status: 'partial', steps: [{ status: 'accepted' }, { status: 'planned' }] })
  const sent = (await outbox()).length
  has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/retry`), { status: 200, body: { status: 'succeeded' } })
  t.equal((await outbox()).length, sent + 1)
})

await t.test('what is not found out within 7 days holds nothing of the chain any more', async (t) => {
  const priced = await startService(t, {
    config: { providerDirectories: providers.directories, runsWorker: false, prices: { sms: 2 } },
    replacements: { renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
  })
  priced.app.get('leases').close()
  const { credits: left } = readingOf(priced)
  await priced.send('PUT', '/api/v1/company/providers/mute', { body: { settings: {} } })
  vendor.acts = ['lose']
  const { body: { dispatchId } } = await priced.send('POST', '/api/invoicing/sms', {
    body: chainBody(['invoicing', 'sms'], invoiceRequest()['template'], { providerName: 'mute' })
  })
  t.strictSame(await left(), { balance: 100, held: 3 })
  clock.advance(7 * day)
  const running = priced.app.get('pipelineParts')
  const { step_id: stepId } = await running.database.owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId)
    .where('position', '=', 0).executeTakeFirstOrThrow()
  await reconcile(running, { companyId, dispatchId, stepId })
  t.strictSame(await left(), { balance: 100, held: 0 })
  t.equal(
    (await priced.send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome: 'accepted', reason: 'Seen.' } })).status,
    200
  )
  has(t, (await priced.send('GET', `/api/v1/dispatches/${dispatchId}`)).body, { status: 'partial', creditsCharged: 1 })
})

await t.test('a person\'s word stands in the timeline with its reason; the chain goes on, or has failed and may be tried ' +
  'again under another key', async (t) => {
  const { member } = await service.company('word')
  const say = (id: string, outcome: string, login?: typeof member): Promise<Answer> =>
    send('POST', `/api/v1/dispatches/${id}/resolve`, { body: { outcome, reason: 'They say so.' } }, login)
  vendor.acts = ['lose', 'drop']
  const [taken, lost] = [await chain('mute'), await chain('mute')]
  t.equal((await say(taken, 'accepted', member)).status, 403)
  has(t, await say(taken, 'accepted'), {
    status: 200,
    body: { status: 'queued', steps: [{ status: 'accepted', providerResponse: null }, { status: 'planned' }] }
  })
  await sweep()
  has(t, await read(taken), { status: 'succeeded', creditsCharged: 1 })
  has(t, await events(taken, 'resolved'), [{
    actor: { kind: 'user', userId: Number },
    facts: { outcome: 'accepted', reason: 'They say so.' }
  }])

  has(t, await say(lost, 'rejected'), { status: 200, body: { status: 'failed', creditsCharged: 0 } })
  has(t, await say(lost, 'accepted'), { status: 409, body: { error: 'conflict' } }, 'once')
  t.equal((await send('POST', `/api/v1/dispatches/${lost}/retry`)).status, 200)
  t.equal(new Set(callsOf((await stepOf(lost)).step_id).map(({ key }) => key)).size, 2)
})

await t.test('a deferred step whose process was killed is found like any other, and the dispatch stays what it is', async (t) => {
  const template = invoiceRequest()['template']
  const { body: { dispatchId } } = await send('POST', '/api/esign', {
    body: chainBody(['esign'], template, { deferred: [{ on: 'esign.completed', service: 'upload' }] })
  })
  const { step_id: stepId } = await database.owner.selectFrom('steps').select('step_id').where('dispatch_id', '=', dispatchId).where(
    'service',
    '=',
    'upload'
  ).executeTakeFirstOrThrow()
  await database.owner.updateTable('steps').set({ status: 'planned', next_try_at: clock.now() }).where('step_id', '=', stepId).execute()
  const runId = crypto.randomUUID()
  await acquireLease(database, { companyId, dispatchId }, { lease: { runId, seconds: 15 }, from: ['succeeded'] })
  await beginAttempt(database, { companyId, dispatchId, stepId, runId, provider: { code: 'simulator', version: '1.0.0' } })
  await after(16)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'uncertain' }] })
  await after(10)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'uncertain' }] },
    'a miss does not count yet')
  await after(timeLimit - 10)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'unavailable', nextTryAt: String }] },
    'nobody waits for it: it is tried again')
})

await t.test('a dispatch that waits for its next try keeps its turn while a deferred step of it is done', async (t) => {
  const deferred = [{ on: 'esign.completed', service: 'upload' }]
  const { body: { dispatchId } } = await send('POST', '/api/esign/sms?async=true', {
    body: chainBody(['esign', 'sms'], invoiceRequest()['template'], { deferred, sms: { phoneNumber: '+15005550002', message: 'Hello' } })
  })
  await runQueued(pipeline, { companyId, dispatchId })
  const { nextTryAt } = await read(dispatchId)
  const { step_id: stepId } = await database.owner.updateTable('steps').set({ status: 'planned', next_try_at: clock.now() }).where(
    'dispatch_id',
    '=',
    dispatchId
  ).where('service', '=', 'upload').returning('step_id').executeTakeFirstOrThrow()
  await runDeferredAction(dependencies, { companyId, dispatchId, stepId })
  has(t, await read(dispatchId), {
    status: 'queued',
    nextTryAt,
    steps: [
      { status: 'accepted' },
      { status: 'unavailable' },
      { status: 'unavailable', error: { message: /Not everybody has signed/ }, nextTryAt: String }
    ]
  })
  await runDeferredAction(dependencies, { companyId, dispatchId, stepId })
  has(t, await read(dispatchId), {
    status: 'queued',
    nextTryAt,
    steps: [{ status: 'accepted' }, { status: 'unavailable' }, { status: 'unavailable', nextTryAt: String }]
  }, 'again and again')
})

await t.test('whatever became of them, what the company holds is what its steps hold, and its ledger is ' +
  'what they were charged', async (t) => {
  const { held, charged } = await database.owner.selectFrom('steps').select(
    ({ fn }) => [fn.sum('held').as('held'), fn.sum('charged').as('charged')]
  ).where('company_id', '=', companyId).executeTakeFirstOrThrow()
  const ledger = await database.owner.selectFrom('ledger').select(
    ({ fn }) => [fn.sum('amount').as('amount'), fn.count('step_id').distinct().as('steps')]
  ).where('company_id', '=', companyId).where('kind', '=', 'debit').executeTakeFirstOrThrow()
  t.equal((await credits()).held, Number(held))
  t.strictSame([Number(ledger.amount), Number(ledger.steps)], [-Number(charged), Number(charged)])
})
