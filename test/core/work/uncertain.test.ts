import { DispatchError } from '@dispatch/contract'
import { outcomeUnknown } from '@dispatch/core/provider'
import { createBreakers } from '@dispatch/host'
import { syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Queue } from '../../../core/packages/queue/queue.ts'
import { createPipeline } from '../../../core/pipeline/pipeline.ts'
import { reconcile } from '../../../core/pipeline/recover/reconcile.ts'
import type { Run } from '../../../core/pipeline/run/run.ts'
import { settle } from '../../../core/pipeline/run/settle.ts'
import { type Step, unbegun } from '../../../core/pipeline/step.ts'
import { findIdempotencyKey } from '../../../core/store/dispatch/dispatch-views.ts'
import { forgetIdempotencyKeys } from '../../../core/store/dispatch/retention.ts'
import { takeQueued } from '../../../core/store/dispatch/runs.ts'
import { sweepDispatches } from '../../../core/work/dispatch-worker.ts'
import { testProviders } from '../../plugins/support/providers.ts'
import { chainBody } from '../../support/chains.ts'
import { clockAt } from '../../support/clock.ts'
import { has } from '../../support/matching.ts'
import { quickRenderer } from '../../support/quick-renderer.ts'
import { readingOf } from '../../support/reading.ts'
import { runQueued } from '../../support/run-queued.ts'
import { type Answer, invoiceRequest, startService } from '../../support/service.ts'
import { sweepAndWork } from '../../support/sweep.ts'
import { type Kind, stageVendor, timeLimit, visibleAfter } from './staged-vendor.ts'

const [minute, day] = [60, 24 * 3600]
/** That of a lease. */
const leaseSeconds = 15
const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)
const vendor = await stageVendor(providers)

/** What an e-mail provider was handed, which takes what it is sent and answers nothing the first time. */
const mailed: { key: string, repeated: boolean, attached: string[] }[] = []
await providers.add('post-office', {
  of: 'email',
  settings: '{ allowedSenders: Type.Array(Type.String()) }',
  service: 'idempotency: { kind: \'key\', ttl: 3600 }'
}, async (request: any, { idempotencyKey: key, repeated = false }) => {
  mailed.push({ key, repeated, attached: request.attachments.map(({ filename }: { filename: string }) => filename) })
  if (mailed.length === 1) throw outcomeUnknown('The line went dead.')
  return Promise.resolve({ id: key, status: 'sent' })
})
const notary = 'signatureTypes: [\'SIMPLE\'], idempotency: { kind: \'none\' }, statuses: { started: \'started\', completed: \'completed\' }'
await providers.add('notary', { of: 'esign', service: notary },
  (_request, { reference }) => Promise.resolve({ id: reference, status: 'started' }), {
  status: () => Promise.resolve({ status: 'started' }),
  document: () =>
    dependencies.spool.keep(Readable.from([Buffer.from('signed')]), { filename: 'signed.pdf', contentType: 'application/pdf' })
})

const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
})
const { app, send } = service
const { dispatch: read, callbacks } = readingOf(service)
const [database, dependencies, pipeline] = [app.get('database'), app.get('pipelineParts'), app.get('pipeline')]
// A lease that is not renewed is lost when the clock says so.
app.get('leases').close()
for (const code of ['mute', 'keyed', 'draft-found', 'notary']) {
  await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
}
await send('PUT', '/api/v1/company/providers/post-office', { body: { settings: { allowedSenders: ['demo@example.com'] } } })
const { company_id: companyId } = await database.owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()

const invoice = (
  providerName: Kind,
  { query = '', headers = {}, ...more }: { query?: string, headers?: Record<string, string>, callbackUrl?: string } = {}
): Promise<Answer> => send('POST', `/api/invoicing${query}`, { headers, body: invoiceRequest({}, { providerName, ...more }) })
const stepOf = (dispatchId: string, position = 0) =>
  database.owner.selectFrom('steps').selectAll().where('dispatch_id', '=', dispatchId).where('position', '=', position)
    .executeTakeFirstOrThrow()
const attemptsOf = (stepId: string) => database.owner.selectFrom('attempts').selectAll().where('step_id', '=', stepId).execute()

async function after (seconds: number, sweeping = dependencies): Promise<void> {
  clock.advance(seconds)
  await sweepAndWork(pipeline, dependencies, sweeping)
}

t.beforeEach(() => {
  vendor.acts = []
  vendor.look = undefined
})
t.teardown(() => vendor.release())

await t.test('as long as a dispatch is in doubt its idempotency key keeps it from being sent again', async (t) => {
  const sending = { headers: { 'x-idempotency-key': 'in doubt' }, body: invoiceRequest({}, { providerName: 'mute' }) }
  vendor.acts = ['lose']
  const { status, body: { dispatchId } } = await send('POST', '/api/invoicing', sending)
  t.equal(status, 504)
  clock.advance(3 * day)
  await forgetIdempotencyKeys(database, { before: clock.now(), limit: 100 })
  has(t, await findIdempotencyKey(database, companyId, 'in doubt'), { dispatchId })
  has(t, await send('POST', '/api/invoicing', sending), { status: 504, body: { error: 'outcome_unknown', dispatchId } })
  t.equal(vendor.taken.length, 1)

  t.equal((await send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome: 'rejected', reason: 'Lost.' } })).status, 200)
  clock.advance(day + 1)
  t.equal(await findIdempotencyKey(database, companyId, 'in doubt'), undefined, 'a day after the end it is free')
})

await t.test('a repeated call that fails before it sends anything proves nothing about the first one', async (t) => {
  vendor.acts = ['drop', 'break', 'break']
  const { status, body: { dispatchId } } = await invoice('keyed')
  t.equal(status, 504)
  const { step_id: stepId } = await stepOf(dispatchId)
  for (const calls of [2, 3]) {
    await after(minute)
    t.equal(vendor.calls.filter(({ reference }) => reference === stepId).length, calls)
    has(t, await read(dispatchId), { status: 'uncertain', creditsCharged: 0, steps: [{ status: 'uncertain' }] })
  }
  await after(3600)
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 1 })
  t.equal(vendor.taken.filter((taken) => taken === stepId).length, 1)
})

await t.test('a doubt that was cleared up counts nothing towards the next one of the step', async (t) => {
  vendor.acts = ['drop']
  vendor.look = () => Promise.resolve({ found: 'absent' })
  const { body: { dispatchId } } = await invoice('draft-found')
  has(t, await read(dispatchId), { status: 'uncertain' })
  await database.owner.updateTable('provider_state').set({ key: 'elsewhere' }).where('provider_code', '=', 'draft-found:host').execute()
  for (const seconds of [10, 50, visibleAfter]) await after(seconds)
  has(t, await read(dispatchId), { status: 'queued' }, 'it had reached no checkpoint: it is sent again')

  vendor.acts = ['drop']
  clock.advance(10)
  await runQueued(pipeline, { companyId, dispatchId })
  has(t, await stepOf(dispatchId), { status: 'uncertain', uncertain_at: clock.now(), looks: 0 })
  await after(10)
  has(t, await read(dispatchId), { status: 'uncertain' }, 'what was accepted may not be visible yet')
})

await t.test('a call that is repeated renews its doubt: that the vendor has nothing counts only so long after it has ended', async (t) => {
  const counts = timeLimit + visibleAfter
  const found = (found: 'draft' | 'absent') => () => Promise.resolve({ found })
  for (const act of ['lose', 'hang first, close'] as const) {
    vendor.acts = ['drop', act]
    const { body: { dispatchId } } = await invoice('draft-found')
    const { step_id: stepId } = await stepOf(dispatchId)
    const lookAfter = (seconds: number): Promise<void> => {
      clock.advance(seconds)
      return reconcile(dependencies, { companyId, dispatchId, stepId })
    }
    vendor.look = found('draft')
    const repeated = lookAfter(counts)
    if (act === 'hang first, close') {
      await vendor.hanging()
      clock.advance(leaseSeconds + 5)
      await sweepDispatches({ ...dependencies, leases: { ...dependencies.leases, heldRuns: () => [] } }, {
        send: () => Promise.resolve()
      } as Pick<Queue, 'send'> as Queue)
      // The lease had ended before the sweep.
      clock.advance(-5)
      vendor.release()
    }
    await repeated
    t.equal((await attemptsOf(stepId)).length, 2)
    vendor.look = found('absent')
    await lookAfter(10)
    has(t, await stepOf(dispatchId), { status: 'uncertain' }, act)
    await lookAfter(counts - 10 - 1)
    has(t, await stepOf(dispatchId), { status: 'uncertain', next_look_at: new Date(clock.now().getTime() + 1000) }, act)
    await lookAfter(1)
    has(t, await stepOf(dispatchId), { status: 'unavailable' }, act)
  }
})

await t.test('an e-mail whose event has come is sent again with what was signed', async (t) => {
  const deferred = [{
    on: 'esign.completed',
    service: 'email',
    providerName: 'post-office',
    from: 'demo@example.com',
    to: 'ada@example.com',
    subject: 'Signed',
    body: 'Here it is.'
  }]
  const { body: { dispatchId } } = await send('POST', '/api/esign', {
    body: chainBody(['esign'], invoiceRequest()['template'], { providerName: 'notary', deferred })
  })
  const { step_id: stepId } = await stepOf(dispatchId, 1)
  await database.owner.updateTable('steps').set({ status: 'planned', next_try_at: clock.now() }).where('step_id', '=', stepId).execute()
  await after(0)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'uncertain' }] })
  await after(10)
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, { status: 'accepted' }] })
  const sent = { key: stepId, attached: ['signed.pdf'] }
  t.strictSame(mailed, [{ ...sent, repeated: false }, { ...sent, repeated: true }])
})

await t.test('a person\'s word counts also when the data of the request are kept no more', async (t) => {
  vendor.acts = ['lose']
  const { body: { dispatchId } } = await invoice('mute')
  await database.owner.updateTable('dispatches').set({ data: null }).where('dispatch_id', '=', dispatchId).execute()
  has(t, await send('POST', `/api/v1/dispatches/${dispatchId}/resolve`, { body: { outcome: 'accepted', reason: 'It is in their list.' } }),
    { status: 200, body: { status: 'succeeded', creditsCharged: 1 } })
})

await t.test('a client whose process has lost the dispatch is told that it goes on', async (t) => {
  vendor.acts = ['hang accepted']
  const answer = invoice('mute')
  await vendor.hanging()
  await t.rejects(sweepDispatches({
    ...dependencies,
    leases: {
      ...dependencies.leases,
      heldRuns: () => {
        throw new Error('Not asked.')
      }
    }
  }, {} as Queue), /Not asked/)
  clock.advance(16)
  await sweepDispatches({ ...dependencies, leases: { ...dependencies.leases, heldRuns: () => [] } },
    { send: () => Promise.resolve() } as Pick<Queue, 'send'> as Queue)
  vendor.release()
  has(t, await answer, { status: 504, body: { error: 'timeout', dispatchId: String } })
})

await t.test('a dispatch that cannot be recovered keeps no other from it', async (t) => {
  const lose = async (): Promise<string> => {
    const { body: { dispatchId } } = await invoice('mute', { query: '?async=true', callbackUrl: 'https://client.example/callbacks' })
    const runId = crypto.randomUUID()
    await takeQueued(database, [{ companyId, dispatchId, lease: { runId, seconds: 15 } }])
    await database.owner.updateTable('steps').set({ status: 'calling' }).where('dispatch_id', '=', dispatchId).execute()
    return dispatchId
  }
  const [first, second] = [await lose(), await lose()]
  const outbox: typeof dependencies.outbox = {
    ...dependencies.outbox,
    enqueue: (queries, dispatch, type) =>
      dispatch.dispatchId === first ? Promise.reject(new Error('No note.')) : dependencies.outbox.enqueue(queries, dispatch, type)
  }
  await after(16, { ...dependencies, outbox })
  has(t, await read(first), { status: 'running' })
  has(t, await read(second), { status: 'uncertain' })
  await after(5)
  has(t, await read(first), { status: 'uncertain' })
  t.strictSame(await callbacks(first), ['dispatch.uncertain'])
})

await t.test('a process that ends waits for the dispatches that it took from the queue', async (t) => {
  const { body: { dispatchId } } = await invoice('mute', { query: '?async=true' })
  vendor.acts = ['hang first']
  const taken = runQueued(pipeline, { companyId, dispatchId })
  await vendor.hanging()
  let over = false
  const drained = pipeline.drain().then(() => {
    over = true
  })
  has(t, await read(dispatchId), { status: 'running' })
  t.equal(over, false)
  vendor.release()
  await Promise.all([drained, taken])
  has(t, await read(dispatchId), { status: 'succeeded' })
})

await t.test('a file is removed where its dispatch was refused, and stays where it may have been recorded', async (t) => {
  const actor = { userId: 2, companyId, email: 'demo@example.com', role: 'admin', services: ['*'] } as const
  let discarded = 0
  const file = {
    document: {
      documentId: crypto.randomUUID(),
      filename: 'a.txt',
      contentType: 'text/plain',
      size: 1,
      sha256: 'a',
      storageKey: 'a',
      expiresAt: clock.now()
    },
    discard: () => {
      discarded++
      return Promise.resolve()
    }
  }
  const uploading = (error: Error): Promise<unknown> => {
    const call: typeof database.callFunction = async (...called) => {
      await database.callFunction(...called)
      throw error
    }
    return createPipeline({ ...dependencies, database: { ...database, callFunction: call } }, {
      prices: {},
      publicUrl: 'https://dispatch.example.com',
      synchronousLimit: 120
    })
      .dispatch({
        actor,
        services: ['upload'],
        body: {},
        requestId: '1',
        file: { ...file, document: { ...file.document, documentId: crypto.randomUUID() } }
      })
  }
  await t.rejects(uploading(new Error('Connection terminated unexpectedly')), /terminated/)
  t.equal(discarded, 0)
  await t.rejects(uploading(new DispatchError('insufficient_credits', 'None left.')), /None left/)
  t.equal(discarded, 1)
})

await t.test('what cannot be recorded is told as in doubt, even a refusal: another run goes on with it', async (t) => {
  const step: Step = {
    stepId: crypto.randomUUID(),
    service: 'upload',
    fields: {},
    requestSettings: {},
    price: 0,
    by: { code: 'mute', version: '1.0.0', chosenBy: 'request', configuredBy: 'company', sandbox: false },
    content: {},
    state: unbegun
  }
  const run: Run = {
    runId: crypto.randomUUID(),
    dispatchId: crypto.randomUUID(),
    companyId,
    actor: { kind: 'user', userId: 2 },
    metadata: {},
    test: false,
    detached: false,
    createdAt: clock.now(),
    steps: [step],
    deferred: []
  }
  const away = { ...dependencies, database: { ...database, callFunction: () => Promise.reject(new Error('The database is away.')) } }
  // What was imported by name follows only when told.
  mock.timers.enable({ apis: ['setTimeout'] })
  syncBuiltinESMExports()
  t.teardown(() => {
    mock.timers.reset()
    syncBuiltinESMExports()
  })
  for (const outcome of ['rejected', 'unavailable', 'uncertain'] as const) {
    const settled = settle(away, run, step, {
      settlement: { outcome, error: { word: 'provider_unavailable', message: 'Not now.' } },
      actor: { kind: 'system' }
    }).catch((error: unknown) => error)
    for (let tries = 0; tries < 8; tries++) {
      await setImmediate()
      mock.timers.tick(8_000)
    }
    has(t, await settled, { word: 'outcome_unknown', dispatchId: run.dispatchId }, outcome)
  }
})
