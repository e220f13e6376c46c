import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { has } from '../../../support/matching.ts'
import { attempt, document, job, later, moment, openFunctions, opening } from './support.ts'

const { database, call, company, opened, jobsAdded, dispatch, steps, attempts, events, credits } = await openFunctions(t)

await t.test('a dispatch is recorded with its steps, its document and its price, each column where it belongs', async (t) => {
  const owner = await company()
  const given = opening(owner, { documents: [document(randomUUIDv7())] })
  const [first] = given.steps
  const second = {
    ...first!,
    step_id: randomUUIDv7(),
    position: 1,
    service: 'email',
    template_id: 2,
    template_version: 1,
    brand_version: 4,
    data: { a: 1 },
    price: 2,
    held: 0,
    status: 'waiting' as const,
    deferred_on: 'esign.completed',
    providers: [{ code: 'simulator', version: '1.0.0', configuredBy: 'user' as const, weight: 3 }]
  }
  const all = [{ ...first!, document_id: given.documents[0]!.document_id }, second]
  const requested = { ...given.dispatch, brand_version: 3 }
  t.equal(await call('open_dispatch', { ...given, dispatch: requested, steps: all }), 'opened')
  const { due_at: _due, in_batch: _batch, ...written } = requested
  has(t, await dispatch(given), {
    ...written,
    schedule: null,
    impersonator_id: null,
    callback_url: null,
    company_id: owner.companyId,
    created_at: moment
  })
  const undone = { template_id: null, template_version: null, brand_version: null, data: null, deferred_on: null, providers: null }
  has(t, await steps(given), [{ ...all[0], ...undone, charged: 0 }, { ...second, document_id: null }])
  const { size, ...stored } = given.documents[0]!
  has(t, await database.owner.selectFrom('documents').selectAll().where('dispatch_id', '=', given.dispatch_id).execute(), [
    { ...stored, size: String(size), company_id: owner.companyId, created_at: moment }
  ])
  t.same(await events(given), given.events.map((event) => ({ ...event, step_id: null, at: moment })))
  t.same(await credits(owner.companyId), [10, 3])
})

await t.test('the first attempt at a step begins with its dispatch', async (t) => {
  const owner = await company()
  const [begun, later] = [randomUUIDv7(), randomUUIDv7()]
  const given = opening(owner, {
    steps: [{ step_id: begun, status: 'calling' }, { step_id: later }],
    events: [
      { kind: 'planned', actor: { kind: 'user', userId: owner.userId }, facts: { price: 6 } },
      { kind: 'calling', step_id: begun, actor: { kind: 'system' }, facts: { providerVersion: '2.0.0' } }
    ],
    attempt: { step_id: begun, provider_version: '2.0.0' }
  })
  t.equal(await call('open_dispatch', given), 'opened')
  t.same((await steps(given)).map(({ status }) => status), ['calling', 'planned'])
  t.same(await events(given), given.events.map((event) => ({ step_id: null, ...event, at: moment })))
  has(t, await attempts({ step_id: begun }), [{
    number: 1,
    company_id: owner.companyId,
    provider_version: '2.0.0',
    started_at: moment,
    answered_at: null,
    outcome: null
  }])
  t.same(await attempts({ step_id: later }), [])
  t.equal(await call('begin_attempt', { ...given, run_id: given.run_id!, step_id: begun, ...attempt }), null, 'it has begun')
})

await t.test('under the lease of a run it is running, else it is queued and its job is there', async (t) => {
  const owner = await company()
  const running = opening(owner)
  await call('open_dispatch', running)
  has(t, await dispatch(running), {
    status: 'running',
    detached: false,
    run_id: running.run_id,
    leased_until: later(15),
    next_try_at: null,
    finished_at: null
  })
  t.same(await jobsAdded(), [])
  const queued = opening(owner, { run_id: undefined, lease_seconds: undefined, jobs: [job('a'), job('b')] })
  await call('open_dispatch', queued)
  has(t, await dispatch(queued), { status: 'queued', detached: true, run_id: null, leased_until: null, next_try_at: moment })
  t.same(await jobsAdded(), ['a', 'b'])
})

await t.test('what the free credits do not cover is not recorded', async (t) => {
  const owner = await company(5)
  const first = opening(owner)
  t.equal(await call('open_dispatch', first), 'opened')
  const second = opening(owner, { jobs: [job('short')] })
  t.equal(await call('open_dispatch', second), 'short')
  t.equal(await dispatch(second), undefined)
  t.equal(await call('open_dispatch', opening(owner, { steps: [{ price: 2, held: 2 }] })), 'opened', 'just as many as are free')
  t.same(await credits(owner.companyId), [5, 5])
  t.equal(await call('open_dispatch', opening(owner, { steps: [{ price: 0, held: 0 }] })), 'opened', 'what costs nothing')
  const raced = opening(owner, { price: 0, jobs: [job('raced')] })
  await t.rejects(call('open_dispatch', raced), { code: 'DC402' }, 'others took what was free when it was looked at')
  t.equal(await dispatch(raced), undefined)
  t.same(await jobsAdded(), [])
})

await t.test('an idempotency key is bound to one dispatch of its company', async (t) => {
  const owner = await company()
  const keyed = { idempotency_key: 'k', fingerprint: 'f' }
  const first = await opened(keyed, owner)
  const again = opening(owner, { ...keyed, jobs: [job('again')] })
  await t.rejects(call('open_dispatch', again), { code: 'DC409' })
  t.equal(await dispatch(again), undefined)
  t.same(await credits(owner.companyId), [10, 3])
  t.equal(await call('open_dispatch', opening(await company(), keyed)), 'opened', 'of another company')
  t.equal(await call('open_dispatch', opening(owner)), 'opened', 'without a key')
  t.same(await database.owner.selectFrom('idempotency_keys').selectAll().where('company_id', '=', owner.companyId).execute(), [
    { company_id: owner.companyId, key: 'k', fingerprint: 'f', dispatch_id: first.dispatch_id, created_at: moment }
  ])
  t.same(await jobsAdded(), [])
})

await t.test('where a job cannot be added, nothing is recorded', async (t) => {
  const owner = await company()
  const given = opening(owner, { jobs: [job('half'), { statement: 'insert into missing values ($1)', rows: '' }] })
  await t.rejects(call('open_dispatch', given), { code: '42P01' })
  t.equal(await dispatch(given), undefined)
  t.same([await jobsAdded(), await credits(owner.companyId)], [[], [10, 0]])
})
